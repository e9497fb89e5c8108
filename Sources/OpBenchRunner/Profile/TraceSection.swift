import OpBenchModel
import OpBenchProfile

extension ProfileTaker {
    /// A trace of one round, as two files of it, one of its slowest operations, and a summary.
    func trace() async throws -> ProfileSection {
        let before = Covariates.now()
        let (answer, report) = try await tracedReport()
        let interference = Interference(before: before, after: .now(), referenceLoopNanoseconds: [])
        let isPerturbed = (answer.perturbation ?? 1) > ProfileSection.mostPerturbation
        let (lines, files) = try views.write(report, isPerturbed: isPerturbed)
        let rounds = answer.tracedRounds ?? 1
        let busy = Self.busyMachine(interference, processorWaitShare: report.trace.processorWaitShare)
        return ProfileSection(
            .trace,
            means: "time stamps at every operation" + (rounds > 1 ? ", the least disturbed of \(rounds) rounds" : ""),
            lines: [busy].compactMap(\.self) + lines, files: files, perturbation: answer.perturbation)
    }

    /// The share of time that bodies waited for a processor, above which the machine was busy.
    private static let mostProcessorWait = 0.05

    /// A warning that the machine was busy, by the criteria for noisy throughput samples or by the trace itself; nil if
    /// it was not.
    ///
    /// - Parameter interference: nil if it is unknown.
    static func busyMachine(_ interference: Interference?, processorWaitShare: Double) -> String? {
        let isDisturbed = interference?.disturbs(.throughput) ?? false
        guard isDisturbed || processorWaitShare > mostProcessorWait else { return nil }
        let foreign = interference?.foreign.map {
            "other processes used \(Quantities.count($0 / (interference?.elapsed ?? 1))) processors, "
        }
        return "busy machine: \(foreign ?? "")bodies waited for a processor for "
            + "\(Quantities.percent(processorWaitShare)) of their time"
    }

    /// Takes a trace, and computes everything from it.
    func tracedReport() async throws -> (ProfileAnswer, TraceReport) {
        let answer = try await take(.trace)
        defer { stage.folder.discard(TraceBuilder.fileName) }
        do {
            var trace = try TraceFile.read(FileBytes.read(stage.folder.file(TraceBuilder.fileName)))
            trace.title = "\(target.cell.id) on \(target.backend.rawValue)"
            return (answer, try TraceReport(trace))
        } catch {
            throw ProfileFailure(description: "the trace cannot be read: \(error)")
        }
    }
}
