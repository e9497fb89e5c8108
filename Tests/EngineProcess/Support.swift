import Glibc

/// Ends the process as failed, saying why on standard error.
func fail(_ message: String, line: UInt = #line, file: String = #fileID) -> Never {
    say("\(file):\(line): \(message)")
    exit(1)
}

/// Ends the process as one that could not do what it was to do here, saying why on standard error.
func skip(_ reason: String) -> Never {
    say(reason)
    exit(77)
}

/// Ends the process as failed if the condition does not hold.
func expect(_ condition: Bool, _ message: String, line: UInt = #line, file: String = #fileID) {
    if !condition { fail(message, line: line, file: file) }
}

/// Writes a line to standard error, in one call and without a buffer.
func say(_ line: String) {
    let text = line + "\n"
    _ = text.utf8CString.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count - 1) }
}

/// A count that any thread may raise and wait for. Without a limit: the test that runs the scenario has one.
///
/// A pthread mutex and condition, which ThreadSanitizer understands.
final class Count: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Guarded by `mutex`.
    private var count = 0

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    var value: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return count
    }

    func add(_ difference: Int = 1) {
        pthread_mutex_lock(mutex)
        count += difference
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(mutex)
    }

    /// Blocks until the count is at least `target`.
    func wait(for target: Int) {
        pthread_mutex_lock(mutex)
        while count < target { pthread_cond_wait(changed, mutex) }
        pthread_mutex_unlock(mutex)
    }
}

/// A latch: closed until somebody opens it, then open for good.
struct Gate: Sendable {
    private let openings = Count()

    func open() { openings.add() }
    func wait() { openings.wait(for: 1) }
}

/// Runs `body` on a thread of its own and does not wait for it.
func onNewThread(_ body: @escaping @Sendable () -> Void) {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(Box(body))
    let failure = pthread_create(
        &thread, nil,
        {
            Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body()
            return nil
        }, argument.toOpaque())
    expect(failure == 0, "no thread: \(String(cString: strerror(failure)))")
    pthread_detach(thread)
}

/// A function of the C library that Swift's module of it leaves out.
func cFunction<Function>(_ name: String, as type: Function.Type = Function.self) -> Function {
    guard let address = dlsym(nil, name) else { fail("no function \(name)") }
    return unsafeBitCast(address, to: type)
}
