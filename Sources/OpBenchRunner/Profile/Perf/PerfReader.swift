import Glibc
import OpBenchLaunch
import OpBenchModel
import OpBenchProfile

/// Reads perf's recordings, in the parent.
struct PerfReader: Sendable {
    /// The sample's process.
    var process: pid_t
    /// The marks of the sample.
    var marks: MarkedTime
    /// The names of its threads, by thread id.
    var threads: [Int32: String]
    var program = "perf"
    var timeoutSeconds: Double = 600

    /// Limit of perf's output.
    private static let mostBytes = 2 << 30

    struct CPU: Sendable {
        /// CPU time in nanoseconds, from samples between the marks.
        var profile: StackProfile
        /// Whether samples of the kernel's code are missing, because they were not permitted.
        var lacksKernel: Bool
        /// Samples that perf dropped.
        var lost: Int64
        var skippedLines: Int

        /// Notes on what is missing.
        var notes: [String] {
            var notes: [String] = []
            if lacksKernel { notes.append("kernel code is not included") }
            if lost > 0 {
                notes.append("\(counted(lost, "sample was", plural: "samples were")) lost, so the figures are too low")
            }
            if skippedLines > 0 { notes.append("\(counted(skippedLines, "line")) of perf's output not understood") }
            return notes
        }
    }

    /// - Parameter file: a file recorded with `PerfEvents.cpu`.
    /// - Throws: `PerfFailure`; `CancellationError`, after perf has ended.
    func cpu(_ file: String) async throws -> CPU {
        let span = marks.ranges.first.flatMap { first in marks.end.map { first.lowerBound..<$0 } }
        let output = try await script(.cpu, file, span)
        let script = PerfScript(output, threads: threads)
        let profile = script.profile.filtered { marks.contains($0.time) }.startingAtRoots()
        return CPU(
            profile: profile, lacksKernel: script.events.contains { $0.hasSuffix(":u") }, lost: script.lost,
            skippedLines: script.skippedLines)
    }

    /// - Parameter file: a file recorded with `PerfEvents.wakeUps` or `PerfEvents.switches`.
    /// - Throws: like `cpu`.
    func offCPU(_ file: String) async throws -> OffCPU {
        OffCPU(SchedScript(try await script(.wakeUps, file, nil)), marks: marks, names: threads)
    }

    /// The output of `perf script`.
    private func script(_ events: PerfEvents, _ file: String, _ span: Range<Int64>?) async throws -> [UInt8] {
        guard access(file, R_OK) == 0 else {
            throw PerfFailure(reason: "it wrote no file: \(String(cString: strerror(errno)))")
        }
        let (output, messages) = (try MemoryFile(), try MemoryFile())
        let ending = try await run(events.script(file, of: process, span: span), output, messages)
        try Task.checkCancellation()
        let words: String? =
            switch ending {
            case .exited(0): nil
            case .exited(let code): "ended with \(code)"
            case .signaled(let signal): "was ended by \(SignalName.of(signal))"
            case .timedOut:
                throw PerfFailure(
                    reason: "it did not read its file within \(Int(timeoutSeconds)) s",
                    remedy: "profile a shorter time")
            }
        if let words {
            throw PerfFailure(
                text: String(decoding: messages.contents().suffix(8000), as: UTF8.self), ending: words, paranoia: nil)
        }
        guard output.size <= Self.mostBytes else {
            throw PerfFailure(
                reason: "it prints more than \(Self.mostBytes >> 30) GiB",
                remedy: "profile a shorter time with --seconds"
            )
        }
        return output.contents()
    }

    /// Runs perf out of reach of the terminal's Ctrl-C.
    private func run(_ arguments: [String], _ output: MemoryFile, _ messages: MemoryFile) async throws
        -> Program.Ending
    {
        let environment = PerfEvents.environment.mapValues(Optional.some)
            .merging(ToolEnvironment.quiet) { own, _ in own }
        do {
            return try await Program(program, arguments, environment: environment, hasOwnGroup: true)
                .run(output: .memory(output), errors: .memory(messages), seconds: timeoutSeconds)
        } catch let error as LaunchError where error.isMissing {
            throw PerfFailure.missing
        }
    }
}
