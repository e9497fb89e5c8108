import Foundation

/// An answer on standard output, where libraries loaded into the process may have printed before. It is a record of RFC
/// 7464: a byte that JSON never contains, JSON on one line, and the end of the line.
enum AnswerRecord {
    private static let (begin, end): (UInt8, UInt8) = (0x1E, 0x0A)

    static func bytes(of answer: some Encodable) throws -> [UInt8] {
        [begin] + (try JSONEncoder().encode(answer)) + [end]
    }

    /// The JSON of the last record; empty if the record is not whole. Builds from before records answer without one.
    static func json(in output: [UInt8]) -> Data {
        guard let begin = output.lastIndex(of: begin) else { return Data(output) }
        let rest = output[(begin + 1)...]
        return rest.firstIndex(of: end).map { Data(rest[..<$0]) } ?? Data()
    }
}
