import Foundation
import OpBenchModel
import OpBenchProfile

/// A kind of heap profile.
struct HeapPart {
    /// The stem of its file's name.
    let name: String
    let title: String
    let profile: StackProfile
    /// The number of operations that it covers; 0 if unknown.
    let operations: Int

    /// - Parameters:
    ///   - all: the dump of all allocations.
    ///   - live: the dump at the instant whose memory in use counts.
    ///   - instant: that instant, in words.
    static func all(
        _ all: HeapProfile, _ live: HeapProfile, at instant: String = "the fence", _ symbols: SymbolTable,
        allOperations: Int = 0, liveOperations: Int = 0
    ) -> [HeapPart] {
        [
            HeapPart(
                name: "heap-all-bytes", title: "Bytes allocated", profile: all.profile(.bytes, of: \.all, symbols),
                operations: allOperations),
            HeapPart(
                name: "heap-all-count", title: "Allocations",
                profile: all.profile(.allocations, of: \.all, symbols), operations: allOperations),
            HeapPart(
                name: "heap-live-bytes", title: "Bytes live at \(instant)",
                profile: live.profile(.bytes, of: \.live, symbols), operations: liveOperations),
            HeapPart(
                name: "heap-live-count", title: "Allocations live at \(instant)",
                profile: live.profile(.allocations, of: \.live, symbols), operations: liveOperations),
        ]
    }
}

/// Writes the views of a profile into its folder, and returns the lines of its summary with the names of the files.
struct ProfileViews {
    private let stage: StagedFolder
    private let backend: BackendID

    init(_ stage: StagedFolder, on backend: BackendID) {
        (self.stage, self.backend) = (stage, backend)
    }

    typealias Written = (lines: [String], files: [String])

    /// Writes folded stacks.
    ///
    /// - Parameter name: the stem of the file's name.
    /// - Returns: the file's name.
    func write(_ profile: StackProfile, as name: String) throws -> String {
        let file = "\(name).folded"
        try stage.folder.replace(file, by: profile.folded())
        return file
    }

    /// Waits, by who waits and by who ends the wait.
    ///
    /// - Parameter bodies: those that the program recorded.
    func write(_ profile: OffCPU, operations: Int, bodies: RecordedBodies? = nil) throws -> Written {
        let files = try [("offcpu", profile.blocked), ("offcpu-wakers", profile.wakers)]
            .filter { $0.1.total > 0 }.map { try write($0.1, as: $0.0) }
        return (OffCPUReport(profile, on: backend, operations: operations, bodies: bodies).lines(), files)
    }

    func write(_ parts: [HeapPart]) throws -> Written {
        var (lines, files): ([String], [String]) = ([], [])
        for part in parts {
            lines.append("\(part.title):")
            let report = StackReport(part.profile, on: backend, operations: part.operations)
            lines += report.lines(functions: 5).map { "  \($0)" }
            if part.profile.total > 0 { files.append(try write(part.profile, as: part.name)) }
        }
        return (lines, files)
    }

    /// The trace for viewers, and its slowest operations.
    ///
    /// - Parameter isPerturbed: see `TraceReport.lines`.
    func write(_ report: TraceReport, isPerturbed: Bool = false) throws -> Written {
        let timeline = try NewFile("trace.json", in: stage.folder)
        let cut = try ChromeWriter.write(report.trace, to: timeline)
        try timeline.publish()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let tails = String(decoding: try encoder.encode(report.tails), as: UTF8.self) + "\n"
        try stage.folder.replace(Tails.fileName, by: tails)
        let lines = report.lines(isPerturbed: isPerturbed) + [cut.message].compactMap(\.self)
        return (lines, ["trace.json", Tails.fileName])
    }
}
