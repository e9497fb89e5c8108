import CLinux
import OpBenchModel
import Synchronization

/// One thread that sleeps on a futex until something has been submitted, and nothing else: the floor under every way to
/// wake a queue. Neither the thread nor the submitter spins.
final class FutexBackend: RoundBackend, @unchecked Sendable {
    static let factory = BackendFactory(
        id: BackendID(rawValue: "serial:futex"), guarantees: [],
        ways: [
            .wakeup: Way(
                support: { .full(note: $0.limit ?? 1 == 1 ? "" : "one thread, whatever the limit is") },
                canHoldPending: { _ in false }, make: { FutexBackend($0, $1) })
        ],
        otherwise: "a form of wake-ups only")

    private let plan: WorkloadPlan
    private let body: OperationBody
    /// The numbers of operations that the submitter has handed over, and that have ended. Each is written by one
    /// thread, with releasing stores, and read by the other, with acquiring loads: a body sees what its submitter
    /// wrote, and `drain` what the body wrote. Neither wraps, since a cell has fewer than 2^32 operations.
    private let submitted = FutexWord()
    private let ended = FutexWord()
    /// Written before `submitted`, whose change the thread then looks for.
    private let isOver = Flag()
    private var thread: OwnThread?

    private init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
    }

    func build() { thread = OwnThread { [unowned self] in runSubmitted() } }

    func submit(_ part: Range<Int>) {
        for operation in part {
            body.willSubmit(operation)
            submitted.set(UInt32(operation + 1))
            body.didSubmit(operation)
        }
    }

    func drain() {
        let all = submitted.value
        while true {
            let count = ended.value
            if count == all { return }
            ended.wait(whileEqualTo: count)
        }
    }

    /// The last word belongs to no operation: all have ended.
    func teardown() {
        isOver.set()
        submitted.set(submitted.value &+ 1)
        thread?.join()
        thread = nil
    }

    private func runSubmitted() {
        var next: UInt32 = 0
        while true {
            while submitted.value == next { submitted.wait(whileEqualTo: next) }
            if isOver.isSet { return }
            body.run(Int(next))
            next += 1
            ended.set(next)
        }
    }
}

/// A number that one thread changes and another sleeps on.
private final class FutexWord: @unchecked Sendable {
    private let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)

    init() { word.initialize(to: Atomic(0)) }

    deinit {
        word.deinitialize(count: 1)
        word.deallocate()
    }

    var value: UInt32 { word.pointee.load(ordering: .acquiring) }

    /// Stores the value and wakes the other thread, by one system call whether or not it sleeps.
    func set(_ value: UInt32) {
        word.pointee.store(value, ordering: .releasing)
        clinux_futex_wake(address, 1)
    }

    /// Sleeps until woken, which may be for no reason; not at all if the word differs.
    func wait(whileEqualTo value: UInt32) { _ = clinux_futex_wait(address, value, -1) }

    private var address: UnsafePointer<UInt32> { UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self) }
}
