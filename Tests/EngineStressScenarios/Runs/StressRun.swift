import Synchronization
import TestSupport

/// One round of a scenario: its seed and size, how far it is, and what went wrong.
public final class StressRun: Sendable {
    public let scenario: String
    public let seed: UInt64
    public let size: Int
    /// Anything that shows that the round gets on; the watchdog looks whether it changes.
    private let progress = Atomic<Int>(0)
    private let finished = Atomic<Int>(0)
    private let faults = Guarded<[String]>([])
    private let remarks = Guarded<[String]>([])
    /// Set by the scenario: what is unfinished, and why that is wrong, for the watchdog's report.
    private let report = Guarded<@Sendable () -> String>({ "" })

    private static let faultsKept = 20

    init(scenario: String, seed: UInt64, size: Int) {
        self.scenario = scenario
        self.seed = seed
        self.size = size
    }

    /// The generator of one of the round's threads; thread 0 is the one that makes the plan.
    func generator(_ thread: Int = 0) -> SeededGenerator {
        SeededGenerator(seed: seed &+ UInt64(thread) &* 0xA24B_AED4_963E_E407)
    }

    /// The round gets on. Relaxed: the count orders nothing.
    @inline(__always)
    func advance() { progress.add(1, ordering: .relaxed) }

    /// Counts operations that have come to their end.
    func count(_ operations: Int) {
        finished.add(operations, ordering: .relaxed)
        advance()
    }

    func violated(_ rule: String) {
        faults.withLock { if $0.count < Self.faultsKept { $0.append(rule) } }
    }

    /// Records a violation unless `isKept`.
    @discardableResult
    func require(_ isKept: Bool, _ rule: @autoclosure () -> String) -> Bool {
        if !isKept { violated(rule()) }
        return isKept
    }

    /// A figure to be printed, of which nothing depends.
    func note(_ remark: String) { remarks.withLock { $0.append(remark) } }

    func describe(by description: @escaping @Sendable () -> String) { report.withLock { $0 = description } }

    /// Waits for something that nothing announces. It has no time limit of its own: the watchdog has.
    func await(_ condition: () -> Bool) {
        var looks = 0
        while !condition() { pause(&looks) }
    }

    var violations: [String] { faults.read() }
    var notes: [String] { remarks.read() }
    var operations: Int { finished.load(ordering: .relaxed) }
    var progressSoFar: Int { progress.load(ordering: .relaxed) }
    var stateOfAffairs: String { report.read()() }
}
