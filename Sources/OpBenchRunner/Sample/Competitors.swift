import OpBenchBackends

/// Busy threads at nice 0 beside the backend, from the first to the last round that counts.
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

    /// The CPU time and other resources that the competitors have used so far.
    var usage: ResourceUsage {
        threads.compactMap(\.id).reduce(into: ResourceUsage()) { $0.add(.of(thread: $1)) }
    }

    func dismiss() {
        isOver.set()
        for thread in threads { thread.join() }
    }
}
