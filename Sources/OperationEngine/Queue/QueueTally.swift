/// Counts of rare ends, kept by a queue for its metrics. Guarded by the queue's lock.
struct QueueTally {
    /// Items that ended outside of `QueueCore.endedCount`.
    var endedAlone = 0
    /// Items that ended without having been chosen.
    var unstarted = 0
    /// Items that were cancelled when their turn came, ended or about to.
    var cancelled = 0
    /// Guests that were chosen, take no slot and are not finished.
    var slotlessRunning = 0
}

/// How many items had been added when a queue's metrics were read, and when that was. Guarded by the queue's lock.
struct WaitMarks {
    /// In order. Items below `end` were there.
    private var marks: [(end: UInt64, time: Int64)] = []
    private static let most = 64

    /// Notes a reading.
    ///
    /// - Parameters:
    ///   - oldest: the number of the first item that has not begun; nil if there is none.
    ///   - added: how many items were added.
    /// - Returns: for how many nanoseconds that item is known to be there.
    mutating func age(of oldest: UInt64?, added: UInt64, at now: Int64) -> Int64 {
        guard let oldest else {
            marks = []
            return 0
        }
        marks.removeAll { $0.end <= oldest }
        if marks.last.map({ $0.end < added }) ?? true {
            if marks.count == Self.most {
                marks = marks.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            }
            marks.append((added, now))
        }
        return max(0, now - marks[0].time)
    }
}
