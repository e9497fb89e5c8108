/// One suspension as the storm's thread saw it, in nanoseconds of the monotonic clock.
struct Hold: Sendable, Equatable {
    /// `suspend` had returned.
    var suspendReturned: Int64
    /// `resume` was about to be called.
    var resumeCalled: Int64
}

/// How a queue took its suspensions. Holds after the last start of a round say nothing and are left out.
struct SuspensionFigures: Sendable, Equatable {
    /// Operations that started after suspend had returned, within each hold.
    private(set) var startsPerHold: [Int] = []
    /// From there to the last such start, in nanoseconds; 0 where nothing started.
    private(set) var quiesceTimes: [Int64] = []
    /// From the call of resume to the first start before the next hold, in nanoseconds.
    private(set) var resumeToStart: [Int64] = []

    init(holds: [Hold], starts: [Int64]) {
        let starts = starts.sorted()
        for (index, hold) in holds.enumerated() {
            let first = Self.firstIndex(in: starts, atOrAfter: hold.suspendReturned + 1)
            let afterHold = Self.firstIndex(in: starts, atOrAfter: hold.resumeCalled)
            guard first < starts.count else { return }
            startsPerHold.append(afterHold - first)
            quiesceTimes.append(afterHold > first ? starts[afterHold - 1] - hold.suspendReturned : 0)
            let next = index + 1 < holds.count ? holds[index + 1].suspendReturned : Int64.max
            if afterHold < starts.count, starts[afterHold] < next {
                resumeToStart.append(starts[afterHold] - hold.resumeCalled)
            }
        }
    }

    private static func firstIndex(in starts: [Int64], atOrAfter instant: Int64) -> Int {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] < instant { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
