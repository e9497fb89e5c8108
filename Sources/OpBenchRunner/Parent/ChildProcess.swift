import Glibc
import OpBenchLaunch
import OpBenchModel

/// How a sample's process ended, and what it left.
struct ChildResult: Sendable {
    var ending: Program.Ending
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
/// the thread that starts it lives as long as the child, see `Launch`. What the child has started itself ends with it, as long
/// as it stays in its group and the parent is there to see to that.
struct ChildProcess: Sendable {
    /// The program; another one in tests.
    var executable = Self.ownExecutable

    /// A tool that runs the program, with its arguments; empty if nothing does.
    var tool: [String] = []

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
        let ending: Program.Ending
        do {
            ending = try await program(environment).run(
                input: .memory(streams[0]), output: .memory(streams[1]), errors: .memory(streams[2]),
                seconds: timeoutSeconds)
        } catch let error as LaunchError {
            throw StartFailure(program: error.program, reason: error.reason)
        }
        try Task.checkCancellation()
        return ChildResult(
            ending: ending, output: streams[1].contents(),
            diagnostics: String(decoding: streams[2].tail(2000), as: UTF8.self))
    }

    private func program(_ environment: [String: String]) -> Program {
        let words = tool + [executable, HiddenArgument.sample]
        var program = Program(
            words[0], Array(words.dropFirst()), environment: environment, hasOwnGroup: true)
        // One name for all builds: what stands on the stack before `main` moves what follows it.
        if tool.isEmpty { program.ownName = "opbench" }
        return program
    }
}
