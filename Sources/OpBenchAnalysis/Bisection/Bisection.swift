/// A binary search for the first bad commit of a history, by verdicts on single commits.
///
/// Commits have positions: 0 is good and the last is bad, which the caller knows beforehand. A verdict may be uncertain,
/// and a commit may have to be skipped. The search asks for the commit in the middle of those between the last good one
/// and the first bad one, and ends when none is left. The caller then compares these two directly, and if they do not
/// differ, calls `refute`.
public struct Bisection: Sendable {
    public enum Verdict: Sendable { case good, bad }

    private struct Known {
        var verdict: Verdict
        var isCertain: Bool
    }

    /// All good positions are less than all bad ones.
    private var known: [Int: Known]
    private var skipped: Set<Int> = []

    /// - Parameter last: the position of the bad end, at least 1.
    public init(last: Int) {
        precondition(last >= 1, "a history has two ends")
        known = [0: Known(verdict: .good, isCertain: true), last: Known(verdict: .bad, isCertain: true)]
    }

    /// The last good position.
    public var good: Int { lastGood { _ in true } }
    /// The first bad position.
    public var bad: Int { firstBad { _ in true } }
    /// The positions of which one is the first bad one: several if commits between were skipped.
    public var suspects: ClosedRange<Int> { good + 1...bad }
    /// The same if uncertain verdicts do not count.
    public var certainSuspects: ClosedRange<Int> { lastGood(where: \.isCertain) + 1...firstBad(where: \.isCertain) }

    private func lastGood(where isCounted: (Known) -> Bool) -> Int {
        known.filter { $0.value.verdict == .good && isCounted($0.value) }.keys.max()!
    }

    private func firstBad(where isCounted: (Known) -> Bool) -> Int {
        known.filter { $0.value.verdict == .bad && isCounted($0.value) }.keys.min()!
    }

    private func isCertain(_ position: Int) -> Bool { known[position]?.isCertain ?? false }

    /// The position to measure next: the nearest to the middle that is not skipped. Nil if the search has ended.
    public var next: Int? {
        let (good, bad) = (good, bad)
        let middle = good + (bad - good) / 2
        for distance in 0..<bad - good {
            for position in [middle - distance, middle + distance]
            where good < position && position < bad && !skipped.contains(position) { return position }
        }
        return nil
    }

    /// Takes the verdict on the position that `next` returned.
    public mutating func take(_ verdict: Verdict, at position: Int, isCertain: Bool) {
        precondition(good < position && position < bad, "the position is decided already")
        known[position] = Known(verdict: verdict, isCertain: isCertain)
    }

    /// Leaves out a position that cannot be measured.
    public mutating func skip(_ position: Int) { skipped.insert(position) }

    /// Takes the result that the last good position and the first bad one do not differ: the verdict on one of them is
    /// wrong. If only one verdict is uncertain, it becomes that of the other, for certain.
    ///
    /// - Returns: whether the search continues. Otherwise `certainSuspects` has what is left.
    public mutating func refute() -> Bool {
        let (good, bad) = (good, bad)
        guard isCertain(good) != isCertain(bad) else { return false }
        let (wrong, right) = isCertain(good) ? (bad, good) : (good, bad)
        known[wrong] = known[right]
        return true
    }
}
