/// A small program whose schedules are explored, and what must hold in each.
public struct Scenario: Sendable {
    public let name: String
    /// The checked property, with its contract lines or argument.
    public let property: String
    /// The number of processors that the engine sees.
    public let processors: Int
    /// How many departures from the default schedule the exhaustive search makes, in the short run and in the long one.
    public let bounds: (short: Int, long: Int)
    /// A scenario that must fail, to show that the explorer finds what it should.
    public let isBroken: Bool
    let body: @Sendable (Exploration) -> Void

    public init(
        _ name: String, _ property: String, processors: Int = 1, bounds: (short: Int, long: Int) = (1, 2),
        isBroken: Bool = false, body: @escaping @Sendable (Exploration) -> Void
    ) {
        self.name = name
        self.property = property
        self.processors = processors
        self.bounds = bounds
        self.isBroken = isBroken
        self.body = body
    }

    /// The same after `preparation`, which is not explored: for globals, whose initialization no other thread may find
    /// half done, since it would wait outside the explorer's sight.
    public func prepared(by preparation: @escaping @Sendable () -> Void) -> Scenario {
        Scenario(name, property, processors: processors, bounds: bounds, isBroken: isBroken) { exploration in
            preparation()
            body(exploration)
        }
    }
}

/// The calls of a scenario's body to the schedule that runs it.
public struct Exploration: Sendable {
    /// Runs these threads in every way that the schedule allows, and returns when all have ended. What comes before is
    /// the same in each schedule.
    public func run(_ threads: (@Sendable () -> Void)...) {
        Scheduler.shared.beginExploring()
        let numbers = threads.map { Scheduler.shared.start($0).id }
        for number in numbers { Scheduler.shared.awaitEnd(of: number) }
    }

    /// Returns when no other thread can run, without the time going on. Explored like the rest.
    public func settle() {
        Scheduler.shared.block(.waitingForQuiet, "settle", at: Place(file: "scenario", line: 0))
    }

    /// Lets virtual time go on, with all that it brings about.
    public func pause(nanoseconds: Int64) {
        Scheduler.shared.block(
            .pausing(deadline: Scheduler.shared.now + nanoseconds), "pause", at: Place(file: "scenario", line: 0))
    }

    /// A point of the scenario's own, between two things that another thread may come between.
    public func point(file: StaticString = #fileID, line: UInt = #line) {
        Scheduler.shared.point("point", at: Place(file: file, line: line))
    }

    /// Ends the schedule as a failure unless the condition holds.
    public func check(
        _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
    ) {
        if !condition { Scheduler.shared.fail("\(message()) (\(Place(file: file, line: line)))") }
    }
}
