import CLinuxMeasure
import Glibc

/// How many columns of a terminal a text takes: none for marks that combine, two for wide characters of East Asia and
/// emoji. A sequence that a terminal may show as one emoji counts as its parts, so that no line gets too wide.
enum TextWidth {
    static func of(_ text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x300 ? 1 : Int(clinux_columns($1.value))) }
    }
}

/// How wide printed text may be: as `COLUMNS` says if it is a number above 0, else as wide as the terminal, else 80.
enum TableWidth {
    /// Into files and pipes, whose reader is not known: what every terminal has.
    static let ofPipes = 80

    static func ofOutput() -> Int {
        ofTerminal() ?? ofPipes
    }

    /// Nil into files and pipes: of lines that are no table, and that programs may read.
    static func ofTerminal() -> Int? {
        if let columns = getenv("COLUMNS").flatMap({ Int(String(cString: $0)) }), columns > 0 { return columns }
        return StandardOutput.width
    }
}
