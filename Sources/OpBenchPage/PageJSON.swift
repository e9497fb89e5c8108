import Glibc
import OpBenchModel

/// Writes JSON that is safe within a `<script>` element of a page: only an end tag or the start of a comment has a
/// meaning there, and both need `<`, which is escaped.
struct PageJSON {
    private(set) var text = ""
    /// Whether an element precedes the next one.
    private var follows = false

    mutating func object(_ members: (inout PageJSON) -> Void) { nested("{", "}", members) }

    mutating func array(_ elements: (inout PageJSON) -> Void) { nested("[", "]", elements) }

    mutating func array<Element>(_ elements: [Element], _ write: (inout PageJSON, Element) -> Void) {
        array { json in for element in elements { write(&json, element) } }
    }

    mutating func array(strings: [String]) { array(strings) { $0.string($1) } }

    /// Writes the name of a member; its value must follow.
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

    /// Writes a figure to nine significant digits. NaN and infinity become `null`, which JSON lacks otherwise.
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

    /// - Parameter write: writes the content of an element: one value, several or none.
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

    /// Like `JSONText.quoted`, which escapes all invisible characters; also escapes HTML's special characters.
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
        // Larger powers of ten are not exact Doubles; such figures are written in full.
        guard (-22...22).contains(exponent) else { return FigureText.write(figure) }
        let power = pow(10, Double(exponent.magnitude))
        let rounded = exponent >= 0 ? (figure * power).rounded() / power : (figure / power).rounded() * power
        return FigureText.write(rounded)
    }
}
