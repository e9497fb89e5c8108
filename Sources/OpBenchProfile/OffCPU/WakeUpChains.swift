/// Wake-ups between threads, their delays, and chains of them.
public struct WakeUpChains: Equatable, Sendable {
    /// All wake-ups of one thread by another.
    public struct Pair: Equatable, Sendable {
        public var waker: String
        public var woken: String
        public var count: Int
        /// Time from the wake-up until the woken thread ran, in nanoseconds.
        public var delay: Int64
        public var longestDelay: Int64
    }

    /// A chain of wake-ups: each thread was woken by the previous one, which was itself running because of the previous
    /// wake-up.
    public struct Chain: Equatable, Sendable {
        /// The threads, the first waker first; in a long chain only the last ones.
        public var threads: [String]
        /// The number of wake-ups.
        public var length: Int
        /// From the first wake-up to the time when the last thread ran, in nanoseconds.
        public var duration: Int64
    }

    public struct Pattern: Equatable, Sendable {
        /// Three threads: the first woke the second, which then woke the third.
        public var threads: [String]
        public var count: Int
    }

    /// Pairs by frequency in descending order, then by names.
    public let pairs: [Pair]
    /// The longest chain; nil if there was no wake-up.
    public let longest: Chain?
    /// Patterns by frequency in descending order.
    public let patterns: [Pattern]
    public let count: Int
    /// The sum of all delays, in nanoseconds.
    public let delay: Int64

    /// The maximum number of listed threads in a chain.
    static let mostListed = 12

    /// - Parameter wakes: wake-ups, each after its cause. Those outside the marks count only as causes.
    init(_ wakes: [OffCPU.Wake], name: (Int32) -> String) {
        var pairs: [[String]: Pair] = [:]
        var patterns: [[String]: Int] = [:]
        var chains: [(length: Int, begin: Int64)] = []
        var longest: Int?
        for (index, wake) in wakes.enumerated() {
            let cause = wake.cause.flatMap { $0 < index && wakes[$0].isMarked && wake.isMarked ? $0 : nil }
            chains.append(cause.map { (chains[$0].length + 1, chains[$0].begin) } ?? (1, wake.time))
            guard wake.isMarked else { continue }
            if longest.map({ chains[index].length > chains[$0].length }) ?? true { longest = index }
            let names = [name(wake.waker), name(wake.woken)]
            let delay = wake.ran.length(since: wake.time)
            var pair = pairs[names] ?? Pair(waker: names[0], woken: names[1], count: 0, delay: 0, longestDelay: 0)
            pair.count += 1
            pair.delay.addCapped(delay)
            pair.longestDelay = max(pair.longestDelay, delay)
            pairs[names] = pair
            if let cause { patterns[[name(wakes[cause].waker)] + names, default: 0] += 1 }
        }
        self.pairs = pairs.values.sorted { ($1.count, $0.waker, $0.woken) < ($0.count, $1.waker, $1.woken) }
        self.patterns = patterns.map { Pattern(threads: $0.key, count: $0.value) }
            .sorted { $0.count != $1.count ? $0.count > $1.count : $0.threads.lexicographicallyPrecedes($1.threads) }
        count = self.pairs.reduce(0) { $0 + $1.count }
        delay = self.pairs.reduce(into: 0) { $0.addCapped($1.delay) }
        self.longest = longest.map { last in
            var (threads, link): ([String], Int?) = ([name(wakes[last].woken)], last)
            var left = chains[last].length
            while let index = link, left > 0, threads.count < Self.mostListed {
                threads.append(name(wakes[index].waker))
                link = wakes[index].cause
                left -= 1
            }
            return Chain(
                threads: threads.reversed(), length: chains[last].length,
                duration: wakes[last].ran.length(since: chains[last].begin))
        }
    }
}
