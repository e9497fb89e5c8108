import Glibc

/// The queue that is measured: one thread, a lock and a condition. It knows nothing of opbench.
final class ThreadQueue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var thread = pthread_t()
    /// Guarded by `mutex`, as all that follows.
    private var waiting: [() -> Void] = []
    private var holds = 0
    private var isOver = false

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
        let code = pthread_create(
            &thread, nil,
            { queue in
                Unmanaged<ThreadQueue>.fromOpaque(queue!).takeUnretainedValue().run()
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
        precondition(code == 0, "no thread can be made")
    }

    /// Ends the thread when nothing is left to run. To be called once: the thread keeps the queue until then.
    func shutDown() {
        locked { isOver = true }
        pthread_join(thread, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    func enqueue(_ block: @escaping () -> Void) { locked { waiting.append(block) } }

    func suspend() { locked { holds += 1 } }

    func resume() { locked { holds -= 1 } }

    private func locked(_ change: () -> Void) {
        pthread_mutex_lock(mutex)
        change()
        pthread_cond_signal(changed)
        pthread_mutex_unlock(mutex)
    }

    private func run() {
        while let block = next() { block() }
    }

    /// In the order of submission, reversed once for all that has come meanwhile.
    private var taken: [() -> Void] = []

    private func next() -> (() -> Void)? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while holds > 0 || (taken.isEmpty && waiting.isEmpty && !isOver) { pthread_cond_wait(changed, mutex) }
        if taken.isEmpty {
            taken = waiting.reversed()
            waiting = []
        }
        return taken.popLast()
    }
}
