/// A gate at which tasks wait without holding a thread: for one of some permits, and while the gate is held.
///
/// Swift tasks have no queue that could be limited or suspended; this is the usual replacement. First come, first
/// served.
final class TaskGate: @unchecked Sendable {
    private let lock = PlainLock()
    /// Permits that nobody has.
    private var permits: Int
    private var isHeld: Bool
    private var waiting: [UnsafeContinuation<Void, Never>] = []
    /// The first in `waiting` that has not been resumed.
    private var head = 0

    /// - Parameter permits: nil for as many as one likes.
    init(permits: Int?, isHeld: Bool) {
        self.permits = permits ?? .max
        self.isHeld = isHeld
    }

    /// Takes a permit; waits for one, and until the gate is not held.
    func enter() async {
        guard !takePermit() else { return }
        await withUnsafeContinuation { continuation in
            lock.lock()
            let mayPass = permits > 0 && !isHeld
            if mayPass { permits -= 1 } else { waiting.append(continuation) }
            lock.unlock()
            if mayPass { continuation.resume() }
        }
    }

    /// Gives the permit to the task that has waited longest, or back.
    func leave() {
        lock.lock()
        let next = isHeld ? nil : takeWaiting()
        if next == nil { permits += 1 }
        lock.unlock()
        next?.resume()
    }

    /// Lets nobody in any more.
    func hold() { lock.whileLocked { isHeld = true } }

    func open() {
        lock.lock()
        isHeld = false
        var passing: [UnsafeContinuation<Void, Never>] = []
        while permits > 0, let next = takeWaiting() {
            permits -= 1
            passing.append(next)
        }
        lock.unlock()
        for continuation in passing { continuation.resume() }
    }

    private func takePermit() -> Bool {
        lock.whileLocked {
            guard permits > 0, !isHeld else { return false }
            permits -= 1
            return true
        }
    }

    private func takeWaiting() -> UnsafeContinuation<Void, Never>? {
        guard head < waiting.count else { return nil }
        defer {
            head += 1
            if head == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                head = 0
            }
        }
        return waiting[head]
    }
}
