import Foundation
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

extension SampleReport {
    /// The report of a process; where it did not come to answer, how it ended.
    init(_ result: ChildResult, timeoutSeconds: Double, limits: SampleLimits = .none) {
        self.init()
        switch result.ending {
        case .timedOut:
            status = .timeout
            notes = "ended after \(timeoutSeconds) s"
            note(limits.note(onFailure: result.diagnostics))
        case .signaled(let signal):
            status = .crashed
            notes = SignalName.of(signal)
            note(Self.lastWords(result.diagnostics))
            note(limits.note(onFailure: result.diagnostics))
        case .exited(let code):
            let answer = AnswerRecord.json(in: result.output)
            if code == 0, let report = try? JSONDecoder().decode(SampleReport.self, from: answer) {
                self = report
                return
            }
            status = .crashed
            notes = "exit status \(code)"
            note(Self.lastWords(result.diagnostics))
            note(limits.note(onFailure: result.diagnostics))
        }
    }

    /// The first line that a crash left on standard error, shortened, and such that the row can be read again.
    private static func lastWords(_ diagnostics: String) -> String {
        let line = diagnostics.split(whereSeparator: \.isNewline).first { !$0.allSatisfy(\.isWhitespace) }
        return StreamSafeText.made(of: String(decoding: (line ?? "").utf8.prefix(400), as: UTF8.self))
    }
}

/// Signals by the names that people know.
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

/// The variables of the environment that change what a process costs, whatever program it is. Through them the loader
/// takes other libraries, and allocators, Dispatch and Swift's runtime work differently.
///
/// Samples get them as opbench has them, and `run.json` records them. The exception is jemalloc's variable, which
/// samples never get.
public enum SampleEnvironment {
    /// jemalloc's options. One of them makes jemalloc profile every allocation. Samples have options of their own, or
    /// none.
    static let allocatorOptions = "MALLOC_CONF"

    private static let prefixes = [
        "LD_", "GLIBC_TUNABLES", "MALLOC_", "MIMALLOC_", "TCMALLOC_", "DISPATCH_", "LIBDISPATCH_", "SWIFT_DEBUG_",
        "SWIFT_DETERMINISTIC_HASHING",
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

    /// Warnings about the variables that samples do not get.
    public static var warnings: [String] { warnings(on: found()) }

    static func warnings(on variables: [String: String]) -> [String] {
        guard let options = variables[allocatorOptions] else { return [] }
        return ["\(allocatorOptions)=\(options) is kept from the samples: it would change their figures"]
    }
}
