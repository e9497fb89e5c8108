import Foundation
import OpBenchModel
import OpBenchProfile

/// A kind of heap profile.
struct HeapPart {
    /// The stem of its files' names.
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
                name: "heap-all-bytes", title: "Bytes allocated", profile: all.profile(.allBytes, symbols),
                operations: allOperations),
            HeapPart(
                name: "heap-all-count", title: "Allocations", profile: all.profile(.allAllocations, symbols),
                operations: allOperations),
            HeapPart(
                name: "heap-live-bytes", title: "Bytes live at \(instant)", profile: live.profile(.liveBytes, symbols),
                operations: liveOperations),
            HeapPart(
                name: "heap-live-count", title: "Allocations live at \(instant)",
                profile: live.profile(.liveAllocations, symbols), operations: liveOperations),
        ]
    }
}

/// Writes the views of a profile into its folder, and returns the lines of its summary with the names of the files.
struct ProfileViews {
    private let stage: StagedFolder
    /// The profiled cell with its backend, or the program.
    private let subject: String
    private let backend: BackendID

    init(_ stage: StagedFolder, of subject: String, on backend: BackendID) {
        (self.stage, self.subject, self.backend) = (stage, subject, backend)
    }

    typealias Written = (lines: [String], files: [String])

    /// Writes two views of stacks.
    ///
    /// - Parameters:
    ///   - name: the stem of the files' names.
    ///   - operations: the number of operations in the profile; 0 if unknown.
    func write(_ profile: StackProfile, as name: String, _ title: String, operations: Int) throws -> [String] {
        let full = "\(title): \(subject)"
        let files = [
            ("\(name).svg", FlameGraph(profile, on: backend, title: full, operations: operations).svg()),
            ("\(name).folded", profile.folded()),
        ]
        for (name, text) in files { try stage.folder.replace(name, by: text) }
        return files.map(\.0)
    }

    /// Waits, by who waits and by who ends the wait.
    ///
    /// - Parameter bodies: those that the program recorded.
    func write(_ profile: OffCPU, operations: Int, bodies: RecordedBodies? = nil) throws -> Written {
        var files: [String] = []
        for (name, title, part) in [
            ("offcpu", "Waits", profile.blocked), ("offcpu-wakers", "Who ends waits", profile.wakers),
        ] where part.total > 0 {
            files += try write(part, as: name, title, operations: operations)
        }
        return (OffCPUReport(profile, on: backend, operations: operations, bodies: bodies).lines(), files)
    }

    func write(_ parts: [HeapPart]) throws -> Written {
        var (lines, files): ([String], [String]) = ([], [])
        for part in parts {
            lines.append("\(part.title):")
            let report = StackReport(part.profile, on: backend, operations: part.operations)
            lines += report.lines(functions: 5).map { "  \($0)" }
            guard part.profile.total > 0 else { continue }
            files += try write(part.profile, as: part.name, part.title, operations: part.operations)
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
