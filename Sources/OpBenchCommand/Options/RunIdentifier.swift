import Glibc
import OpBenchHistory
import OpBenchModel

/// The name of a run and of its folder.
enum RunIdentifier {
    /// The time in UTC and four random digits, so that two runs of one second differ: `20261121T130501Z-3fa9`.
    static func make() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let length = strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
        let random = String(UInt16.random(in: 0...UInt16.max), radix: 16)
        return String(decoding: text[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
            + "-" + String(repeating: "0", count: 4 - random.count) + random
    }

    /// What lies beside the runs' folders in the folder of runs, and beside those of calibrations.
    private static let reserved = ["baseline", "calibration", NoiseFloorRow.fileName, History.fileName]

    /// The id of a run to be made.
    static func check(runID id: String, option: String = "--run-id") throws(InputError) {
        try check(id, option: option)
        if reserved.contains(id) {
            throw InputError(
                file: option, message: "\"\(id)\" is where opbench keeps other things", remedy: "give another one")
        }
    }

    /// A run id is a folder's name and a field of CSV files, so it holds letters, digits, `.`, `_` and `-` only.
    static func check(_ id: String, option: String) throws(InputError) {
        let isPlain = id.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
        guard let first = id.utf8.first, isLetterOrDigit(first), isPlain, id.utf8.count <= 100 else {
            throw InputError(
                file: option, message: "\"\(id)\" cannot name a run",
                remedy: "1 to 100 of the characters a–z, A–Z, 0–9, `.`, `_` and `-`, the first a letter or a digit")
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
