import Glibc
import OpBenchHistory
import OpBenchModel

/// The name of a run and of its folder.
enum RunIdentifier {
    /// The time in UTC and four random digits, so that runs from the same second differ: `20261121T130501Z-3fa9`.
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

    /// Other names in the folders of runs and calibrations.
    private static let reserved = ["baseline", "calibration", NoiseFloorRow.fileName, History.fileName]

    /// Checks the id of a new run.
    static func check(runID id: String, option: String = "--run-id") throws(InputError) {
        try check(id, option: option)
        if reserved.contains(id) {
            throw InputError(
                file: option, message: "\"\(id)\" is reserved by opbench", remedy: "give another name")
        }
    }

    /// Checks a run id. It is a folder's name and a field of CSV files, so it contains only letters, digits, `.`, `_`
    /// and `-`.
    static func check(_ id: String, option: String) throws(InputError) {
        let isPlain = id.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
        guard let first = id.utf8.first, isLetterOrDigit(first), isPlain, id.utf8.count <= 100 else {
            throw InputError(
                file: option, message: "\"\(id)\" cannot name a run",
                remedy: "use 1 to 100 of a–z, A–Z, 0–9, `.`, `_` and `-`, beginning with a letter or digit")
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
