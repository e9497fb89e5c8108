import Glibc
import OpBenchModel
import Subprocess

/// How a sample's process ended, and what it left.
struct ChildResult: Sendable {
    enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signaled(Int32)
        case timedOut
    }

    var ending: Ending
    var output: [UInt8]
    /// The end of what it wrote to standard error.
    var diagnostics: String
}

/// A sample's process could not be started: too many processes, too little memory, a program that is gone. Nobody's bad input.
struct StartFailure: Error, CustomStringConvertible {
    let program: String
    let reason: String

    var description: String {
        "\(program) cannot be started as the process of a sample: \(reason); if the program is there, raise the limits of "
            + "processes and memory (ulimit -u, ulimit -v)"
    }
}

/// Starts this program again as the process of one sample.
///
/// Standard streams are files in memory, so that the parent has nothing to read while the child measures; they take only
/// so much. The child is in a process group of its own, out of reach of the terminal's Ctrl-C, and dies with the parent:
/// the thread that forks is the package's one worker thread, which lives as long as the process. What the child has started
/// itself ends with it, as long as it stays in its group and the parent is there to see to that.
struct ChildProcess: Sendable {
    /// The program; another one in tests.
    var executable = Self.ownExecutable

    /// A tool that runs the program, with its arguments; empty if nothing does.
    var tool: [String] = []

    /// Who ends it when its time is over.
    var timeLimit = TimeLimit.standard

    static let ownExecutable = OwnProgram.link

    /// The most that is taken of an answer, and of what else a child prints, in bytes: a child that prints without end
    /// must not fill the memory.
    private static let (outputLimit, diagnosticsLimit) = (256 << 20, 16 << 20)

    /// The environment of every sample's process. A crash is reported by its signal; Swift's backtraces would take
    /// seconds. An empty list of options has the same effect on jemalloc as no variable.
    static let environment = ["SWIFT_BACKTRACE": "enable=no", SampleEnvironment.allocatorOptions: ""]

    /// - Throws: `CancellationError` if the task is cancelled, after the child was ended; `StartFailure` if it cannot be
    ///   started; `DiskError` if there are no descriptors.
    func run(request: [UInt8], environment: [String: String], timeoutSeconds: Double) async throws -> ChildResult {
        let streams = [
            try MemoryFile(), try MemoryFile(limit: Self.outputLimit), try MemoryFile(limit: Self.diagnosticsLimit),
        ]
        try streams[0].write(request)
        let ending: ChildResult.Ending
        do {
            switch try await timeLimit.run(seconds: timeoutSeconds, { try await execute(streams, environment) }) {
            case .inTime(let own): ending = own
            // It had ended by itself, but this process was stopped meanwhile.
            case .over(let late?) where late != .signaled(SIGKILL): ending = late
            case .over: ending = .timedOut
            }
        } catch {
            // Whatever a cancelled task trips over, it is cancelled.
            try Task.checkCancellation()
            throw StartFailure(program: tool.first ?? executable, reason: "\(error)")
        }
        try Task.checkCancellation()
        return ChildResult(
            ending: ending, output: streams[1].contents(),
            diagnostics: String(decoding: streams[2].tail(2000), as: UTF8.self))
    }

    private var program: Executable {
        guard let tool = tool.first else { return .path(.init(executable)) }
        return tool.contains("/") ? .path(.init(tool)) : .name(tool)
    }

    private var arguments: Arguments {
        guard tool.isEmpty else { return .init(tool.dropFirst() + [executable, HiddenArgument.sample]) }
        // One name for all builds: what stands on the stack before `main` moves what follows it.
        return .init(executablePathOverride: "opbench", remainingValues: [HiddenArgument.sample])
    }

    private func execute(_ streams: [MemoryFile], _ environment: [String: String]) async throws -> ChildResult.Ending {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [
            .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .zero)
        ]
        var changes: [Environment.Key: String?] = [:]
        for (name, value) in environment { changes[Environment.Key(rawValue: name)!] = value }
        let result = try await Subprocess.run(
            program, arguments: arguments,
            environment: .inherit.updating(changes), platformOptions: options,
            input: .fileDescriptor(.init(rawValue: streams[0].descriptor), closeAfterSpawningProcess: false),
            output: .fileDescriptor(.init(rawValue: streams[1].descriptor), closeAfterSpawningProcess: false),
            error: .fileDescriptor(.init(rawValue: streams[2].descriptor), closeAfterSpawningProcess: false))
        // What it started and left.
        kill(-result.processIdentifier.value, SIGKILL)
        switch result.terminationStatus {
        case .exited(let code): return .exited(code)
        case .signaled(let signal): return .signaled(signal)
        }
    }
}
