import Foundation
import Glibc
import TestSupport
import Testing

/// One run of `EngineProcess`, the program that executes a scenario in a process of its own.
struct ScenarioRun: CustomStringConvertible {
    enum End: Equatable {
        case exit(Int32)
        case signal(Int32)
        /// It did not end within the limit and was killed.
        case hang
    }

    let scenario: String
    let end: End
    /// Its standard output and standard error.
    let output: String
    let errors: String
    /// Processor time of all its threads, user and system.
    let processorTime: Duration

    var hasPassed: Bool { end == .exit(0) && output == "\(scenario): passed\n" }
    /// It needs a right that this process does not have.
    var isRefused: Bool { end == .exit(77) }

    var description: String { "\(scenario): \(end), output “\(output)”, errors “\(errors)”" }

    /// The program beside the test bundle, which is the running executable.
    private static let binary: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("EngineProcess").path
    }()

    /// Runs a scenario to its end, which must come within `limit` on the patient clock.
    ///
    /// - Parameters:
    ///   - launcher: a program and its arguments that runs the scenario, as `nice -n 19`.
    ///   - environment: added to the variables of this process.
    init(
        _ scenario: String, _ arguments: [String] = [], launcher: [String] = [], environment: [String: String] = [:],
        limit: Duration = HangLimit.patience
    ) throws {
        // Files and not pipes: a grandchild that outlived the scenario would hold a pipe open.
        let (output, errors) = (try ScratchFile(), try ScratchFile())
        let words = launcher + [Self.binary, scenario] + arguments
        let process = try Self.spawn(words, environment, output.descriptor, errors.descriptor)
        let reaped = Guarded<(status: Int32, time: Duration)?>(nil)
        onNewThread {
            var (status, usage) = (Int32(0), rusage())
            while wait4(process, &status, 0, &usage) == -1 && errno == EINTR {}
            let times = [usage.ru_utime, usage.ru_stime]
            let time = times.reduce(Duration.zero) { $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec) }
            reaped.withLock { [status] in $0 = (status, time) }
        }
        let isInTime = reaped.wait(patience: limit) { $0 != nil }
        if !isInTime {
            kill(process, SIGKILL)
            _ = reaped.wait { $0 != nil }
        }
        let (status, time) = reaped.read() ?? (0, .zero)
        self.scenario = scenario
        // wait(2): the low seven bits are the signal's number, the next byte is the exit status.
        end = !isInTime ? .hang : status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
        self.output = output.text
        self.errors = errors.text
        processorTime = time
    }

    private static func spawn(
        _ command: [String], _ environment: [String: String], _ output: Int32, _ errors: Int32
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        // The threads of tests may block signals, which a child would inherit.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let words = command.map { strdup($0) } + [nil]
        let settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + settings { free(text) } }
        var process = pid_t()
        let failure = posix_spawnp(&process, command[0], &actions, &attributes, words, settings)
        try #require(failure == 0, "cannot run \(command[0]): \(String(cString: strerror(failure)))")
        return process
    }
}

/// An unnamed temporary file.
private final class ScratchFile {
    private let file: UnsafeMutablePointer<FILE>

    init() throws { file = try #require(tmpfile(), "no temporary file: \(String(cString: strerror(errno)))") }

    deinit { fclose(file) }

    var descriptor: Int32 { fileno(file) }

    /// Everything that is in it.
    var text: String {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_size > 0 else { return "" }
        let bytes = [UInt8](unsafeUninitializedCapacity: facts.st_size) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Runs a scenario, and records a failure unless it passes.
func passes(
    _ scenario: String, _ arguments: String..., launcher: [String] = [], environment: [String: String] = [:],
    limit: Duration = HangLimit.patience, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let run = try ScenarioRun(scenario, arguments, launcher: launcher, environment: environment, limit: limit)
    #expect(run.hasPassed, "\(run)", sourceLocation: sourceLocation)
}
