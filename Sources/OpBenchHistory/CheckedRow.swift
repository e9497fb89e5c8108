import GRDB
import OpBenchModel

/// The values of a row as the tables promise them. A damaged or forged file may hold none, or others; `row["column"]` would
/// trap there.
///
/// - Throws: `RowDecodingError` or `DatabaseError`, which `HistoryFailure` tells as what they mean.
extension Row {
    func integer<Number: DatabaseValueConvertible & FixedWidthInteger>(_ column: String) throws -> Number {
        try decode(forColumn: column)
    }

    func flag(_ column: String) throws -> Bool { try decode(forColumn: column) }

    /// A figure; infinity is none.
    func figure(_ column: String) throws -> Double {
        guard let figure = try optionalFigure(column) else { throw Self.damage }
        return figure
    }

    func optionalFigure(_ column: String) throws -> Double? {
        let figure: Double? = try decode(forColumn: column)
        guard figure?.isFinite ?? true else { throw Self.damage }
        return figure
    }

    /// Text of a length that rows may have, over which comparing and hashing do not take long.
    func text(_ column: String) throws -> String {
        guard let text = try optionalText(column) else { throw Self.damage }
        return text
    }

    func optionalText(_ column: String) throws -> String? {
        try (decode(forColumn: column) as String?).map(Self.checked)
    }

    static func checked(_ text: String) throws -> String {
        guard text.utf8.count <= CSVFile.fieldLimit, StreamSafeText.holds(text) else { throw damage }
        return text
    }

    private static var damage: DatabaseError { DatabaseError(resultCode: .SQLITE_CORRUPT) }
}
