import Dispatch
import OpBenchBackends
import OpBenchModel

/// The thread that suspends and resumes a backend's queue during one round.
final class StormThread: @unchecked Sendable {
    private let storm: Storm
    private let isOver = Flag()
    /// Written by the thread, read after it has ended.
    private var holds: [Hold] = []
    private var pausedUsage = ResourceUsage()
    private var thread: OwnThread?

    /// Starts at once with the first running time.
    init(_ storm: Storm, on backend: any Backend) {
        self.storm = storm
        holds.reserveCapacity(storm.toggles)
        thread = OwnThread { [unowned self] in toggle(backend) }
    }

    /// Ends the storm, after the hold in progress at the latest, and leaves the queue running.
    ///
    /// - Returns: the holds, and the resources that the thread used between its calls.
    func end() -> (holds: [Hold], pausedUsage: ResourceUsage) {
        isOver.set()
        thread?.join()
        return (holds, pausedUsage)
    }

    private func toggle(_ backend: any Backend) {
        for _ in 0..<storm.toggles {
            pause(storm.runNanoseconds)
            if isOver.isSet { return }
            backend.suspend()
            let suspended = MonotonicClock.now()
            pause(storm.holdNanoseconds)
            holds.append(Hold(suspendReturned: suspended, resumeCalled: MonotonicClock.now()))
            backend.resume()
        }
    }

    /// Sleeps that long, or until the storm is over.
    private func pause(_ nanoseconds: Int) {
        let before = ResourceUsage.ofThisThread()
        defer { pausedUsage.add(from: before, to: .ofThisThread()) }
        let slice: Int64 = 2_000_000
        let end = MonotonicClock.now() + Int64(nanoseconds)
        while !isOver.isSet {
            let next = min(end, MonotonicClock.now() + slice)
            MonotonicClock.sleep(until: next)
            if next == end { return }
        }
    }
}
