import Glibc
import Synchronization

/// Runs `body` on `count` threads of their own at once, and returns when all have ended, however long that takes.
func together(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) {
    let begin = Meeting(count)
    let threads = (0..<count).map { index in
        OwnThread {
            begin.meet()
            body(index)
        }
    }
    for thread in threads { thread.join() }
}

/// The point at which threads wait for each other.
final class Meeting: Sendable {
    private let expected: Int
    private let arrived = Atomic<Int>(0)

    init(_ expected: Int) { self.expected = expected }

    func meet() {
        arrived.add(1, ordering: .relaxed)
        var looks = 0
        while arrived.load(ordering: .relaxed) < expected { pause(&looks) }
    }
}

/// Gives the processor away between two looks at something; after many looks, for a little longer.
func pause(_ looks: inout Int) {
    looks += 1
    if looks < 1_000 { sched_yield() } else { usleep(200) }
}

/// A plain thread, to be joined once.
final class OwnThread: Sendable {
    private let thread: pthread_t

    init(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Body(call: body))
        let failure = pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().call()
                return nil
            }, argument.toOpaque())
        precondition(failure == 0, "no thread to be had: \(String(cString: strerror(failure)))")
        self.thread = thread
    }

    func join() { pthread_join(thread, nil) }

    private final class Body: Sendable {
        let call: @Sendable () -> Void
        init(call: @escaping @Sendable () -> Void) { self.call = call }
    }
}
