import CLinux
import Glibc
import OperationEngine

/// Counts the events that it receives, and checks that they have the calling thread's number.
private final class CountingReceiver: OperationTrace.Receiver {
    let events = Count()

    func receive(_ event: OperationTrace.OperationEvent) {
        expect(event.thread == clinux_gettid(), "an event of thread \(event.thread) on \(clinux_gettid())")
        events.add(1)
    }
}

/// A child begins without a receiver, whether or not its parent has used a queue.
@Sendable func forkTraced(_ arguments: [String]) {
    let (told, childs) = (CountingReceiver(), CountingReceiver())
    OperationTrace.install(told, for: .operations)
    BlockOperation {}.start()
    expect(told.events.value == 3, "\(told.events.value) events of one started by hand")
    if arguments.first == "used" { firstOperations([]) }
    let before = told.events.value
    let end = inForkedChild {
        BlockOperation {}.start()
        expect(told.events.value == before, "the child is traced")
        expect(!OperationTrace.remove(told), "the child has its parent's receiver")
        OperationTrace.install(childs, for: .operations)
        BlockOperation {}.start()
        return childs.events.value == 3 && told.events.value == before ? 0 : 1
    }
    expect(end == .exit(0), "the child's end: \(end)")
    BlockOperation {}.start()
    expect(told.events.value == before + 3, "the parent is traced no more")
    expect(OperationTrace.remove(told), "it was removed")
}
