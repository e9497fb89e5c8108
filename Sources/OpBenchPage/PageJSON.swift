import Glibc
import OpBenchModel

/// Writes JSON that may stand in a page: in a `<script>` element nothing but its end tag or a comment's beginning has a
/// meaning, and neither can be written without `<`.
struct PageJSON {
    private(set) var text = ""
    /// Whether the next element follows another.
    private var follows = false

    mutating func object(_ members: (inout PageJSON) -> Void) { nested("{", "}", members) }

    mutating func array(_ elements: (inout PageJSON) -> Void) { nested("[", "]", elements) }

    mutating func array<Element>(_ elements: [Element], _ write: (inout PageJSON, Element) -> Void) {
        array { json in for element in elements { write(&json, element) } }
    }

    mutating func array(strings: [String]) { array(strings) { $0.string($1) } }

    /// The name of a member; its value is to follow.
    mutating func name(_ name: String) {
        separate()
        text += Self.quoted(name) + ":"
        follows = false
    }

    mutating func string(_ string: String) {
        separate()
        text += Self.quoted(string)
    }

    mutating func integer(_ number: Int) {
        separate()
        text += String(number)
    }

    mutating func boolean(_ flag: Bool) {
        separate()
        text += flag ? "true" : "false"
    }

    /// To nine significant digits. What is no finite number is `null`: JSON has neither NaN nor infinity.
    mutating func figure(_ figure: Double?) {
        separate()
        text += figure.flatMap(Self.digits) ?? "null"
    }

    mutating func member(_ name: String, _ string: String) {
        self.name(name)
        self.string(string)
    }

    mutating func member(_ name: String, _ flag: Bool) {
        self.name(name)
        boolean(flag)
    }

    mutating func member(_ name: String, strings: [String]) {
        self.name(name)
        array(strings: strings)
    }

    /// - Parameter write: writes what there is of an element: one value, several or none.
    mutating func member<Element>(
        _ name: String, _ elements: [Element], _ write: (inout PageJSON, Element) -> Void
    ) {
        self.name(name)
        array(elements, write)
    }

    private mutating func nested(_ open: String, _ close: String, _ write: (inout PageJSON) -> Void) {
        separate()
        text += open
        follows = false
        write(&self)
        text += close
        follows = true
    }

    private mutating func separate() {
        if follows { text += "," }
        follows = true
    }

    /// As `JSONText.quoted`, which escapes all that has no shape of its own; and what HTML knows by itself.
    static func quoted(_ string: String) -> String {
        let isPlain = string.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"),
                UInt8(ascii: "["):
                false
            default: (0x20..<0x7F).contains(byte)
            }
        }
        if isPlain { return "\"" + string + "\"" }
        var quoted = String.UnicodeScalarView()
        for scalar in JSONText.quoted(string).unicodeScalars {
            switch scalar {
            case "<": quoted.append(contentsOf: "\\u003c".unicodeScalars)
            case ">": quoted.append(contentsOf: "\\u003e".unicodeScalars)
            case "&": quoted.append(contentsOf: "\\u0026".unicodeScalars)
            default: quoted.append(scalar)
            }
        }
        return String(quoted)
    }

    private static func digits(_ figure: Double) -> String? {
        guard figure.isFinite else { return nil }
        if figure == 0 { return "0" }
        let exponent = 8 - Int(floor(log10(figure.magnitude)))
        // Powers of ten beyond are no whole Doubles; such figures are written in full.
        guard (-22...22).contains(exponent) else { return FigureText.write(figure) }
        let power = pow(10, Double(exponent.magnitude))
        let rounded = exponent >= 0 ? (figure * power).rounded() / power : (figure / power).rounded() * power
        return FigureText.write(rounded)
    }
}
