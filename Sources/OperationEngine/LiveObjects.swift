import Synchronization

/// How many of the engine's objects are alive (contract Q7). They are counted in debug builds only, where the tests
/// read the counts after each test. Release builds have neither the code nor the memory for it.
package enum LiveObjects {
    package enum Kind: Int, CaseIterable, Sendable {
        case operation, operationQueue, queueCore, dependencyEdge, dependencyGraph, operationDetails, observerList,
            observation, blockGroup, heldSegment, waitingClosure
    }

    /// The kinds of which objects are alive. Exact while no one uses the engine and its workers are idle.
    package static var counts: [Kind: Int] {
        #if DEBUG
            let all = Kind.allCases.map { ($0, counters[$0.rawValue].value.load(ordering: .relaxed)) }
            return Dictionary(uniqueKeysWithValues: all.filter { $0.1 != 0 })
        #else
            return [:]
        #endif
    }

    /// Counts objects that are not Swift objects, and so cannot hold a `LiveMark`.
    @inline(__always)
    static func count(_ kind: Kind, _ change: Int) {
        #if DEBUG
            counters[kind.rawValue].value.wrappingAdd(change, ordering: .relaxed)
        #endif
    }

    /// Called before the engine's first thread is started: see `WorkerPool.prepareForThreads`.
    static func prepare() { count(.operation, 0) }

    #if DEBUG
        private final class Counter: Sendable {
            // The standard library's type: the explorer tries the schedules of the engine's atomics, and these counters
            // are not part of the engine's protocols.
            let value = Synchronization.Atomic<Int>(0)
        }

        private static let counters = Kind.allCases.map { _ in Counter() }
    #endif
}

/// A stored property that counts the object it belongs to. Empty in release builds.
struct LiveMark: ~Copyable {
    #if DEBUG
        private let kind: LiveObjects.Kind

        init(_ kind: LiveObjects.Kind) {
            self.kind = kind
            LiveObjects.count(kind, 1)
        }

        deinit { LiveObjects.count(kind, -1) }
    #else
        init(_ kind: LiveObjects.Kind) {}
    #endif
}
