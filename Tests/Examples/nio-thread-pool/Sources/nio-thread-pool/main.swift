import NIOCore
import NIOPosix
import OpBenchKit

/// SwiftNIO's pool of threads for work that blocks.
final class Pool: MeasuredQueue {
    private let pool: NIOThreadPool

    init(threads: Int) {
        pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
    }

    func submit(_ work: @escaping Work) { pool.submit { _ in work() } }
    func shutDown() { try? pool.syncShutdownGracefully() }
}

/// SwiftNIO's event loops, to which work is dealt in turn.
final class Loops: MeasuredQueue {
    private let group: MultiThreadedEventLoopGroup

    init(threads: Int) { group = MultiThreadedEventLoopGroup(numberOfThreads: threads) }

    func submit(_ work: @escaping Work) { group.next().execute(work) }
    func shutDown() { try? group.syncShutdownGracefully() }
}

OpBenchMain.run(backends: [
    Backend("nio:pool", "SwiftNIO's NIOThreadPool.", limits: 1...64, guarantees: .limit) {
        Pool(threads: $0.limit ?? System.coreCount)
    },
    Backend("nio:loops", "SwiftNIO's event loops, in turn.", limits: 1...64, guarantees: .limit) {
        Loops(threads: $0.limit ?? System.coreCount)
    },
])
