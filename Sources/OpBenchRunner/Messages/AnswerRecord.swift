import Foundation

/// An answer on standard output, on which libraries that were loaded into the process may have printed before: a record of
/// RFC 7464, which is a byte that JSON never has, JSON on one line, and the line's end.
enum AnswerRecord {
    private static let (begin, end): (UInt8, UInt8) = (0x1E, 0x0A)

    static func bytes(of answer: some Encodable) throws -> [UInt8] {
        [begin] + (try JSONEncoder().encode(answer)) + [end]
    }

    /// The JSON of the last record; empty if it is not whole. Builds of another time answer without a record.
    static func json(in output: [UInt8]) -> Data {
        guard let begin = output.lastIndex(of: begin) else { return Data(output) }
        let rest = output[(begin + 1)...]
        return rest.firstIndex(of: end).map { Data(rest[..<$0]) } ?? Data()
    }
}
