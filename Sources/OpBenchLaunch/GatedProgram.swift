import CLinuxMeasure
import Glibc
import OpBenchModel

/// A program with the standard streams, process group and signals of this process, which begins when a gate opens: until
/// then, profilers attach to its process.
///
/// The process starts as a launcher, which waits for a byte on a pipe and then becomes the program by execve(2). If this
/// process ends first, the launcher reads the pipe's end and exits. A second pipe, which closes at the exec, reports the
/// exec's failure.
///
/// The program is killed when the thread that started it ends. Not thread-safe.
public final class GatedProgram {
    public let process: pid_t
    private let name: String
    private let gate: Int32
    private let failure: Int32
    private let ended: Int32
    /// nil while it runs.
    private var ending: Program.Ending?

    /// Starts the launcher. From here on, signals that other processes send to this one are passed on.
    ///
    /// - Parameters:
    ///   - launcher: the words that call `become` in a new process; the rest follows them.
    ///   - path: the program's file.
    ///   - words: the program's arguments, its own name first.
    ///   - environment: changes to this process's environment.
    public init(
        launcher: [String], path: String, words: [String], environment: [String: String?]
    ) throws(LaunchError) {
        name = words.first ?? path
        let (toProgram, fromProgram) = (try Self.pipe(for: path), try Self.pipe(for: path))
        (gate, failure) = (toProgram.write, fromProgram.read)
        let ignored = Self.ignoredSignals.map(String.init).joined(separator: ",")
        process = Tool.start(
            launcher[0], launcher + [ignored, path] + words, environment,
            files: [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, toProgram.read, fromProgram.write])
        close(toProgram.read)
        close(fromProgram.write)
        ended = process > 0 ? clinux_open_process(process) : -1
        if process <= 0 { throw LaunchError(program: launcher[0], code: -process) }
        clinux_pass_signals(process)
    }

    deinit {
        if process > 0, ending == nil {
            kill(process, SIGKILL)
            _ = end()
        }
        for descriptor in [gate, failure, ended] where descriptor >= 0 { close(descriptor) }
    }

    private static func pipe(for program: String) throws(LaunchError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        let code = clinux_pipe(&ends)
        if code != 0 { throw LaunchError(program: program, code: code) }
        return (ends[0], ends[1])
    }

    /// Signals that shells and nohup(1) make their commands ignore.
    private static var ignoredSignals: [Int32] {
        [SIGHUP, SIGINT, SIGQUIT, SIGTERM].filter { number in
            var action = sigaction()
            sigaction(number, nil, &action)
            return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
        }
    }

    // MARK: Running

    /// Lets the program begin. A signal may have ended the launcher before.
    ///
    /// - Throws: `LaunchError` if its file cannot be executed.
    public func open() throws(LaunchError) {
        try? FileBytes.write([0], to: gate)
        var code: Int32 = 0
        var count: Int
        repeat {
            count = read(failure, &code, MemoryLayout.size(ofValue: code))
        } while count < 0 && errno == EINTR
        if count == MemoryLayout.size(ofValue: code) { throw LaunchError(program: name, code: code) }
    }

    /// Waits for its end, at most for some seconds; nil for any time. Time in which this process was stopped does not
    /// count.
    ///
    /// - Returns: whether it has ended.
    public func wait(atMost seconds: Double? = nil) -> Bool {
        ProcessWait(process: process, ended: ended, cancelled: -1)(atMost: seconds) == .ended
    }

    public func send(_ signal: Int32) {
        guard ending == nil else { return }
        kill(process, signal)
        // A stopped process handles no signal.
        kill(process, SIGCONT)
    }

    /// Waits for its end and reaps it. From here on, this process discards the signals that it passed on.
    public func end() -> Program.Ending {
        if let ending { return ending }
        _ = wait()
        // Before the number is free for another process.
        clinux_pass_signals(0)
        let status = clinux_wait_for(process)
        let signal = status & 0x7F
        let ending: Program.Ending = signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal)
        self.ending = ending
        return ending
    }

    // MARK: The launcher

    /// The descriptors of the launcher's pipes.
    private static let (gateFile, failureFile): (Int32, Int32) = (3, 4)

    /// Becomes the program once the gate opens.
    ///
    /// - Parameter arguments: those of this program after the launcher's words.
    public static func become(_ arguments: [String]) -> Never {
        for file in [gateFile, failureFile] { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
        guard arguments.count >= 3 else { _exit(EX_USAGE) }
        var byte: UInt8 = 0
        var count: Int
        repeat { count = read(gateFile, &byte, 1) } while count < 0 && errno == EINTR
        guard count == 1 else { _exit(EX_UNAVAILABLE) }
        for number in arguments[0].split(separator: ",").compactMap({ Int32($0) }) { signal(number, SIG_IGN) }
        let words = arguments.dropFirst(2).map { strdup($0) } + [nil]
        execv(arguments[1], words)
        var code = errno
        _ = write(failureFile, &code, MemoryLayout.size(ofValue: code))
        _exit(EX_UNAVAILABLE)
    }
}
