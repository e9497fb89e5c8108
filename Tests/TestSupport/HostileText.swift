import Glibc

/// Makes strings that break programs which take text for harmless. The same seed makes the same strings.
public struct HostileText {
    private var generator: SeededGenerator

    public init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// The number of strings against which a property is checked: `OPBENCH_TEST=size=…` if it is set.
    public static let count = TestRun.number("size") ?? Scale.of(1_000)

    /// Pieces that have a meaning in some format.
    private static let pieces: [String] = [
        "\"", "\"\"", "'", ",", ";", "|", "\\", "\\|", "<", ">", "&", "&amp;", "&#10;", "<b>", "<!--", "]]>", "`",
        "```",
        "*", "_", "__", "[x](y)", "![", "#", "##[error]", "##[", "::", "::error::", "::error title=a,b::c", ":", "%",
        "%0A", "%25", "=", "+", "-", "@", "=1+1", "=cmd|' /C calc'!A0", "\u{FF1D}", "\u{FF20}", "$", "$(x)", "{", "}",
        "\n", "\r", "\r\n", "\t", " ", "  ", "\u{0}", "\u{7}", "\u{8}", "\u{B}", "\u{C}", "\u{1B}[31m",
        "\u{1B}]0;t\u{7}",
        "\u{7F}", "\u{80}", "\u{85}", "\u{9B}31m", "\u{9D}", "\u{A0}", "\u{AD}", "\u{200B}", "\u{200C}", "\u{200D}",
        "\u{200E}", "\u{202E}", "\u{2028}", "\u{2029}", "\u{2066}", "\u{2069}", "\u{FEFF}", "\u{FFF9}", "\u{FFFD}",
        "\u{E0041}", "\u{301}", "\u{316}", "\u{20DD}",
        "\u{FE0F}", "\u{34F}", "\u{1F468}\u{200D}\u{1F469}", "\u{1F1E9}", "\u{1100}", "\u{1161}", "\u{11A8}", "é",
        "e\u{301}", "\u{37E}", "\u{212A}", "\u{1FEF}", "\u{2126}", "a", "B", "7", "-5", "1e308", "0", "NaN", "",
    ]

    /// Scalars that are no characters, which no literal may hold.
    private static let noCharacters: [UInt32] = [0xFFFE, 0xFFFF, 0xFDD0, 0x1FFFE, 0x10FFFF]

    /// Makes a text of up to a dozen such pieces and scalars from anywhere in Unicode.
    public mutating func next() -> String {
        (0..<Int.random(in: 0...12, using: &generator)).reduce(into: "") { text, _ in
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: text.unicodeScalars.append(scalar(in: 0...0x10FFFF))
            case 1: text.unicodeScalars.append(scalar(in: 0...0xFF))
            case 2 where Bool.random(using: &generator):
                text.unicodeScalars.append(Unicode.Scalar(Self.noCharacters.randomElement(using: &generator)!)!)
            default: text += Self.pieces.randomElement(using: &generator)!
            }
        }
    }

    private mutating func scalar(in range: ClosedRange<UInt32>) -> Unicode.Scalar {
        Unicode.Scalar(UInt32.random(in: range, using: &generator)) ?? "\u{FFFD}"
    }

    /// A figure that is allowed: often one at the edge of what a Double holds.
    public mutating func figure(_ isAllowed: (Double) -> Bool) -> Double {
        while true {
            let figure = figure()
            if isAllowed(figure) { return figure }
        }
    }

    /// A figure: often one at the edge of what a Double holds.
    public mutating func figure() -> Double {
        let edges: [Double] = [
            0, -0.0, 1, -1, .leastNonzeroMagnitude, 2000 * .leastNonzeroMagnitude, .leastNormalMagnitude, 1e-300, 1e300,
            1e308, .greatestFiniteMagnitude,
            -.greatestFiniteMagnitude, 0.1, 1e16,
        ]
        guard Bool.random(using: &generator) else { return edges.randomElement(using: &generator)! }
        return Double(bitPattern: UInt64.random(in: .min ... .max, using: &generator)).asFinite
    }

    /// The bytes with some of them changed, removed, doubled or swapped for a piece.
    public mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &generator)
            let end = min(bytes.count, place + Int.random(in: 1...40, using: &generator))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 3: bytes.insert(contentsOf: Array(Self.pieces.randomElement(using: &generator)!.utf8), at: place)
            case 4: bytes.removeSubrange(place...)
            default: bytes.replaceSubrange(place..<end, with: Array("\(figure())".utf8))
            }
        }
        return bytes
    }
}

extension Double {
    fileprivate var asFinite: Double { isFinite ? self : 1 }
}
