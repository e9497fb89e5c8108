import Synchronization

/// How many of the engine's objects are alive (contract Q7). Counted in debug builds only, where the tests look at it
/// after each test; in release builds there is nothing to count with, neither code nor memory.
package enum LiveObjects {
    package enum Kind: Int, CaseIterable, Sendable {
        case operation, operationQueue, queueCore, dependencyEdge, operationDetails, observerList, observation,
            blockGroup, heldSegment, closureBatch
    }

    /// The kinds of which there are any. Exact while nobody uses the engine, and its workers have come to rest.
    package static var counts: [Kind: Int] {
        #if DEBUG
            let all = Kind.allCases.map { ($0, counters[$0.rawValue].value.load(ordering: .relaxed)) }
            return Dictionary(uniqueKeysWithValues: all.filter { $0.1 != 0 })
        #else
            return [:]
        #endif
    }

    /// Counts objects that are not Swift's, and so cannot hold a `LiveMark`.
    @inline(__always)
    static func count(_ kind: Kind, _ change: Int) {
        #if DEBUG
            counters[kind.rawValue].value.wrappingAdd(change, ordering: .relaxed)
        #endif
    }

    /// To be called before the engine's first thread; see `WorkerPool.prepareForThreads`.
    static func prepare() { count(.operation, 0) }

    #if DEBUG
        private final class Counter: Sendable {
            // The library's own: what is explored schedule by schedule are the engine's atomics, and these are none.
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
