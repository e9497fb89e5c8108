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

/// Starts this program again as the process of one sample.
///
/// Standard streams are files in memory, so that the parent has nothing to read while the child measures. The child is
/// in a process group of its own, out of reach of the terminal's Ctrl-C, and dies with the parent: the thread that forks
/// is the package's one worker thread, which lives as long as the process.
struct ChildProcess: Sendable {
    /// The program; another one in tests.
    var executable = Self.ownExecutable

    /// A tool that runs the program, with its arguments; empty if nothing does.
    var tool: [String] = []

    static let ownExecutable = OwnProgram.link

    /// What every sample's process has. A crash is reported by its signal; Swift's backtraces would take seconds.
    static let environment = ["SWIFT_BACKTRACE": "enable=no"]

    /// - Throws: `CancellationError` if the task is cancelled, after the child was ended; an error of Subprocess if it
    ///   cannot be started.
    func run(request: [UInt8], environment: [String: String], timeoutSeconds: Double) async throws -> ChildResult {
        let streams = [try MemoryFile(), try MemoryFile(), try MemoryFile()]
        try streams[0].write(request)
        let ending: ChildResult.Ending
        do {
            ending =
                try await TimeLimit.run(seconds: timeoutSeconds) { try await execute(streams, environment) }
                ?? .timedOut
        } catch {
            // Whatever a cancelled task trips over, it is cancelled.
            try Task.checkCancellation()
            throw error
        }
        try Task.checkCancellation()
        return ChildResult(
            ending: ending, output: streams[1].contents(),
            diagnostics: String(decoding: streams[2].contents().suffix(2000), as: UTF8.self))
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
        var changes: [Environment.Key: String?] = [:]
        for (name, value) in environment { changes[Environment.Key(rawValue: name)!] = value }
        let result = try await Subprocess.run(
            program, arguments: arguments,
            environment: .inherit.updating(changes), platformOptions: options,
            input: .fileDescriptor(.init(rawValue: streams[0].descriptor), closeAfterSpawningProcess: false),
            output: .fileDescriptor(.init(rawValue: streams[1].descriptor), closeAfterSpawningProcess: false),
            error: .fileDescriptor(.init(rawValue: streams[2].descriptor), closeAfterSpawningProcess: false))
        switch result.terminationStatus {
        case .exited(let code): return .exited(code)
        case .signaled(let signal): return .signaled(signal)
        }
    }
}
