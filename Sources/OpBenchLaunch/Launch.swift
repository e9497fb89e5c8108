import CLinuxMeasure
import Glibc

/// One start of a program, and its end.
///
/// A separate thread starts the program, waits for it and reaps it. This thread does nothing else, which keeps the rest
/// simple:
///
/// - The kernel kills the program when the thread that started it ends (`PR_SET_PDEATHSIG`). This thread lives as long
///   as the program, so that happens only if this process ends.
/// - A process keeps its number, and that of its group, until it is reaped. Only this thread reaps it, and only this
///   thread sends it signals, before it reaps it. So no signal reaches another process that got the number afterwards,
///   and no lock is needed.
/// - A cancelled task only writes to a descriptor, on which the thread waits as well as on the process's descriptor. If
///   the task writes before the program is started, the thread sees that before the start.
/// - The thread keeps a deadline as the timeout of its wait. No task sleeps, and no pool thread is held. The thread
///   polls only on systems whose processes have no descriptors.
///
/// Descriptors belong to objects that both the thread and the task hold. The task continues when the thread passes it
/// the ending.
struct Launch: Sendable {
    let program: Program
    let streams: [Program.Stream]
    let seconds: Double?
    let onStart: @Sendable (pid_t) -> Void

    /// The thread's stack; it calls little.
    private static let stackBytes = 512 << 10

    /// - Throws: the errors of `Program.run`.
    func ending() async throws -> Program.Ending {
        let cancellation = try EndRequest(of: program.name)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
                let code = Self.onNewThread {
                    continuation.resume(returning: execute(unless: cancellation))
                }
                if code != 0 { continuation.resume(returning: failure(code)) }
            }
        } onCancel: {
            cancellation.signal()
        }
        guard let ending = try result.get() else { throw CancellationError() }
        return ending
    }

    /// nil if the task was cancelled.
    private typealias Outcome = Result<Program.Ending?, LaunchError>

    private func failure(_ code: Int32) -> Outcome { .failure(LaunchError(program: program.name, code: code)) }

    // MARK: On the thread

    private func execute(unless cancellation: EndRequest) -> Outcome {
        if cancellation.isSignaled { return .success(nil) }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { return failure(errno) }
        let process = Tool.start(
            program.name, [program.ownName ?? program.name] + program.arguments, program.environment,
            in: program.folder, hasOwnGroup: program.hasOwnGroup, signalAtEnd: program.signalAtEnd,
            files: streams.map { stream in
                switch stream {
                case .null: null
                case .memory(let file): file.descriptor
                case .descriptor(let descriptor): descriptor
                }
            })
        close(null)
        guard process > 0 else { return failure(process == -EACCES && isMissing ? ENOENT : -process) }
        onStart(process)
        let descriptor = clinux_open_process(process)
        defer { if descriptor >= 0 { close(descriptor) } }
        var wait = ProcessWait(process: process, ended: descriptor, cancelled: cancellation.descriptor)

        let first = wait(atMost: seconds)
        let hasEnded = first == .ended || first == .cancelled && asksToEnd(process, &wait)
        // Another waiter has reaped it: the number may belong to another process.
        guard clinux_has_ended(process) >= 0 else { return failure(ECHILD) }
        if !hasEnded { kill(process, SIGKILL) }
        // Kills the processes that the program left in its group; the program itself was killed or is a zombie.
        if program.hasOwnGroup { kill(-process, SIGKILL) }
        let status = clinux_wait_for(process)
        // Only this thread reaps it.
        guard status >= 0 else { return failure(ECHILD) }
        if first == .cancelled { return .success(nil) }
        let signal = status & 0x7F
        guard signal != 0 else { return .success(.exited(status >> 8 & 0xFF)) }
        // With another signal, or with a status, it ended by itself at the same moment.
        return .success(first == .over && signal == SIGKILL ? .timedOut : .signaled(signal))
    }

    /// Whether PATH has no such program; an unsearchable folder in PATH makes this uncertain.
    private var isMissing: Bool {
        guard !program.name.contains("/"), let path = getenv("PATH") else { return false }
        return !String(cString: path).split(separator: ":").contains { access("\($0)/\(program.name)", F_OK) == 0 }
    }

    /// Sends the requests to end, one after the other. Returns whether the program has ended.
    private func asksToEnd(_ process: pid_t, _ wait: inout ProcessWait) -> Bool {
        wait.cancelled = -1
        for request in program.requestsToEnd {
            let receiver = request.goesToGroup && program.hasOwnGroup ? -process : process
            kill(receiver, request.signal)
            // A stopped process handles no signal.
            kill(receiver, SIGCONT)
            if wait(atMost: request.seconds) == .ended { return true }
        }
        return false
    }

    /// Runs `body` on a new, detached thread. Returns 0 or an errno value.
    private static func onNewThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackBytes)
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { context in
                Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        if code != 0 { box.release() }
        return code
    }
}

/// A task's request that a program end, made to the thread that waits for the program.
private final class EndRequest: Sendable {
    /// Becomes readable when the task is cancelled, and stays so: the byte is never read.
    let descriptor: Int32

    init(of program: String) throws(LaunchError) {
        descriptor = clinux_event()
        if descriptor < 0 { throw LaunchError(program: program, code: errno) }
    }

    deinit { close(descriptor) }

    func signal() { clinux_signal_event(descriptor) }

    var isSignaled: Bool {
        var file = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&file, 1, 0) > 0
    }
}
