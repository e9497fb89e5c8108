import OpBenchBackends
import OpBenchModel

/// Busy threads at nice 0 that compete with the backend during all rounds that count.
final class Competitors: Sendable {
    private let isOver: Flag
    private let threads: [OwnThread]

    init(count: Int) {
        let flag = Flag()
        isOver = flag
        threads = (0..<count).map { _ in
            OwnThread { while !flag.isSet { WorkKernel.run(10_000) } }
        }
    }

    /// The resources that the competitors have used so far.
    var usage: ResourceUsage {
        threads.compactMap(\.id).reduce(into: ResourceUsage()) { $0.add(.of(thread: $1)) }
    }

    func dismiss() {
        isOver.set()
        for thread in threads { thread.join() }
    }
}

extension ResourceUsage {
    /// The usage of the process without the workload's competing threads.
    static func now(without competitors: Competitors) -> ResourceUsage {
        // Reading a thread's clock updates the process's figures, which otherwise wait for a tick.
        let others = competitors.usage
        var usage = now()
        usage.subtract(others)
        return usage
    }
}
