import Foundation
import OpBenchModel
import OpBenchProfile

extension ProfileTaker {
    /// A trace of one round, as two files and a summary.
    func trace() async throws -> ProfileSection {
        let answer = try await take(.trace)
        let raw = stage.folder.file(TraceBuilder.fileName)
        let trace: SampleTrace
        do {
            trace = try TraceFile.read([UInt8](try Data(contentsOf: URL(filePath: raw))))
        } catch {
            throw ProfileFailure(description: "the trace cannot be read: \(error)")
        }
        stage.folder.discard(TraceBuilder.fileName)
        let report = try TraceReport(trace)
        let perfetto = try NewFile("trace.perfetto-trace", in: stage.folder)
        try PerfettoWriter.write(trace, to: perfetto)
        try perfetto.publish()
        let chrome = try NewFile("trace.json", in: stage.folder)
        let cut = try ChromeWriter.write(trace, to: chrome)
        try chrome.publish()
        return ProfileSection(
            .trace, means: "time stamps at every operation", lines: report.lines() + [cut.message].compactMap(\.self),
            files: ["trace.perfetto-trace", "trace.json"], perturbation: answer.perturbation)
    }
}
