import OpBenchModel
import OpBenchRunner

/// The name of a run and of its folder.
enum RunIdentifier {
    /// The time in UTC and four random digits, so that runs from the same second differ: `20261121T130501Z-3fa9`.
    static func make() -> String {
        let random = String(UInt16.random(in: 0...UInt16.max), radix: 16)
        return Timestamp.text("%Y%m%dT%H%M%SZ") + "-" + String(repeating: "0", count: 4 - random.count) + random
    }

    /// Other names in the folder of runs.
    private static let reserved = ["baseline", HistoryRow.fileName]

    /// Checks the id of a new run.
    static func check(runID id: String, option: String = "--run-id") throws(InputError) {
        try check(id, option: option)
        if reserved.contains(id) {
            throw InputError(
                file: option, message: "\"\(id)\" is reserved by opbench", remedy: "give another name")
        }
    }

    static func check(_ id: String, option: String) throws(InputError) {
        if RunName.isValid(id) { return }
        throw InputError(file: option, message: "\"\(id)\" cannot name a run", remedy: RunName.rule)
    }
}
