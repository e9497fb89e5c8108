import Foundation
import Glibc
import OpBenchLaunch
import OpBenchModel

/// How a sample's process ended, and its output.
struct ChildResult: Sendable {
    var ending: Program.Ending
    var output: [UInt8]
    /// The tail of its standard error.
    var diagnostics: String
}

/// The process of a sample could not be started: too many processes, too little memory, a missing program. Not bad
/// input.
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
/// Standard streams are files in memory of limited size, so that the parent has nothing to read while the child
/// measures. The child is in a separate process group, out of reach of the terminal's Ctrl-C. It dies with the
/// parent, because the thread that starts it lives as long as the child (see `Launch`). Processes that the child
/// started end with it while they stay in its group and the parent lives.
struct ChildProcess: Sendable {
    /// The program; another one in tests.
    var executable = Self.ownExecutable

    /// A tool that runs the program, with the tool's arguments; empty for none.
    var tool: [String] = []

    static let ownExecutable = OwnProgram.link

    /// Limits of the answer and of a child's other output, in bytes: a child that prints endlessly must not fill the
    /// memory.
    private static let (outputLimit, diagnosticsLimit) = (256 << 20, 16 << 20)

    /// The environment of every sample's process. A crash is reported by its signal; Swift's backtraces would take
    /// seconds. An empty list of options has the same effect on jemalloc as no variable.
    static let environment = ["SWIFT_BACKTRACE": "enable=no", SampleEnvironment.allocatorOptions: ""]

    /// - Throws: `CancellationError` if the task is cancelled, after ending the child; `StartFailure` if it cannot be
    ///   started; `DiskError` if no file descriptor is free.
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
        // One name for all builds: the name is on the stack before `main` and shifts everything after it.
        if tool.isEmpty { program.ownName = "opbench" }
        return program
    }
}

extension SampleReport {
    /// The report of a process or, if it sent none, how the process ended.
    init(_ result: ChildResult, timeoutSeconds: Double) {
        self.init()
        switch result.ending {
        case .timedOut:
            status = .timeout
            notes = "killed at its time limit of \(FigureText.write(timeoutSeconds)) s; --timeout sets another"
        case .signaled(let signal):
            status = .crashed
            notes = SignalName.of(signal)
            note(Self.lastWords(result.diagnostics))
        case .exited(let code):
            let answer = AnswerRecord.json(in: result.output)
            if code == 0, let report = try? JSONDecoder().decode(SampleReport.self, from: answer) {
                self = report
                return
            }
            status = .crashed
            notes = "exit status \(code)"
            note(Self.lastWords(result.diagnostics))
        }
    }

    /// The first line of a crash on standard error, shortened and safe to print in a CSV row.
    private static func lastWords(_ diagnostics: String) -> String {
        let line = diagnostics.split(whereSeparator: \.isNewline).first { !$0.allSatisfy(\.isWhitespace) }
        return StreamSafeText.made(of: String(decoding: (line ?? "").utf8.prefix(400), as: UTF8.self))
    }
}

/// The usual names of signals.
enum SignalName {
    static func of(_ signal: Int32) -> String {
        let names: [Int32: String] = [
            SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE",
            SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGPIPE: "SIGPIPE", SIGTERM: "SIGTERM", SIGINT: "SIGINT",
            SIGSYS: "SIGSYS", SIGXCPU: "SIGXCPU", SIGQUIT: "SIGQUIT", SIGHUP: "SIGHUP",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}

/// Environment variables that change the costs of a program. Through them the loader picks other libraries, and
/// allocators, Dispatch, Swift's runtime and the engine behave differently.
///
/// Samples inherit them, and `run.json` records them. The exception is jemalloc's variable, which samples never
/// inherit.
public enum SampleEnvironment {
    /// jemalloc's options. One of them makes jemalloc profile every allocation. opbench sets its own options for
    /// samples.
    static let allocatorOptions = "MALLOC_CONF"

    private static let prefixes = [
        "LD_", "GLIBC_TUNABLES", "MALLOC_", "MIMALLOC_", "TCMALLOC_", "DISPATCH_", "LIBDISPATCH_", "SWIFT_DEBUG_",
        "SWIFT_DETERMINISTIC_HASHING", "OPERATION_ENGINE_",
    ]

    /// The variables that are set and not empty.
    static func found(
        in environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> [String: String] {
        environment.filter { name, value in !value.isEmpty && prefixes.contains { name.hasPrefix($0) } }
    }

    /// The variables on one line, sorted by name.
    static func words(_ variables: [String: String]) -> String {
        variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    /// Warnings about the variables that samples do not inherit.
    public static var warnings: [String] { warnings(on: found()) }

    static func warnings(on variables: [String: String]) -> [String] {
        guard let options = variables[allocatorOptions] else { return [] }
        return ["\(allocatorOptions)=\(options) is not passed to the samples, because it would change their figures"]
    }
}
