/// One departure from the default schedule, which lets a thread run until it blocks and then takes the next one that
/// can run, by number.
///
/// A schedule is the list of its departures: everything else follows from the program.
public struct Departure: Equatable, Sendable {
    public enum Kind: UInt8, Sendable {
        /// Another thread goes on.
        case run
        /// The time of a sleeping thread's timed wait runs out now, and it goes on.
        case expire
        /// The futex wait of the thread returns although nobody woke it.
        case wakeSpuriously
    }

    public let step: Int
    public let kind: Kind
    public let thread: Int

    public init(step: Int, kind: Kind, thread: Int) {
        self.step = step
        self.kind = kind
        self.thread = thread
    }
}

extension Departure: CustomStringConvertible {
    /// `12:3`, `12:t3` or `12:s`.
    public var description: String {
        switch kind {
        case .run: "\(step):\(thread)"
        case .expire: "\(step):t\(thread)"
        case .wakeSpuriously: "\(step):s"
        }
    }

    public init?(_ text: Substring) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let step = Int(parts[0]), let first = parts[1].first else { return nil }
        switch first {
        case "s" where parts[1].count == 1: self.init(step: step, kind: .wakeSpuriously, thread: 0)
        case "t":
            guard let thread = Int(parts[1].dropFirst()) else { return nil }
            self.init(step: step, kind: .expire, thread: thread)
        default:
            guard let thread = Int(parts[1]) else { return nil }
            self.init(step: step, kind: .run, thread: thread)
        }
    }
}

/// A scenario's name and a schedule of it, as text: `lease-hand-over@12:3,40:t2`.
public struct Replay: Equatable, Sendable, CustomStringConvertible {
    public let scenario: String
    public let departures: [Departure]

    public init(scenario: String, departures: [Departure]) {
        self.scenario = scenario
        self.departures = departures
    }

    public var description: String {
        "\(scenario)@\(departures.map(\.description).joined(separator: ","))"
    }

    public init?(_ text: String) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let departures = parts[1].split(separator: ",").map { Departure($0) }
        guard !departures.contains(nil) else { return nil }
        self.init(scenario: String(parts[0]), departures: departures.compactMap(\.self))
    }
}
