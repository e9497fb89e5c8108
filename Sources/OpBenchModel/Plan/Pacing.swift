/// When operations are submitted, where not as fast as they can be.
package enum Pacing: Sendable, Equatable {
    /// So many at once, by one thread, each burst when the one before has ended and a pause has passed, in which the
    /// thread sleeps or stays awake.
    case bursts(size: Int, pauseNanoseconds: Int, staysAwake: Bool = false)
    /// Each at an instant of its own, by one thread, whatever became of those before: in nanoseconds from the first
    /// one's, ascending.
    case arrivals([Int64])
}

/// Something that stands still once, in the middle of a round.
package struct Stall: Sendable, Equatable {
    package var nanoseconds: Int
    /// The operation that sleeps so long in its body, or before whose submission the submitting thread does.
    package var operation: Int
    package var stallsSubmitter = false
}

extension Pacing {
    /// The same sequence as fast as it goes, for the warm-up; nil where nothing else is left of the pace.
    package var hurried: Pacing? {
        switch self {
        case .bursts(let size, _, _): .bursts(size: size, pauseNanoseconds: 0)
        case .arrivals: nil
        }
    }

    /// That of the first operations alone.
    package func prefix(_ count: Int) -> Pacing {
        switch self {
        case .bursts: self
        case .arrivals(let instants): .arrivals(Array(instants.prefix(count)))
        }
    }
}

extension Stall {
    /// nil if nothing stands still.
    init?(_ cell: Cell, of operations: Int) {
        let nanoseconds = cell.integer("stall_ns")
        guard nanoseconds > 0 else { return nil }
        self.init(nanoseconds: nanoseconds, operation: operations / 2)
    }
}
