import Glibc
import Synchronization

@testable import OpBenchRunner

/// Counters that a test determines: each reading of an event adds the same step.
final class ScriptedCounters: CounterSource {
    private let failures: Set<HardwareEvent>
    private let code: Int32
    private let paranoia: Int?
    private let steps: [HardwareEvent: CounterReading]
    private let sums = Mutex<[Int32: CounterReading]>([:])
    private let opened = Mutex(0)

    /// - Parameters:
    ///   - failures: the events that cannot be opened, with this errno value.
    ///   - steps: what is counted from one reading to the next, by event; an event without a step cannot be read.
    init(
        failures: Set<HardwareEvent> = [], code: Int32 = ENOENT, paranoia: Int? = nil,
        steps: [HardwareEvent: CounterReading] = [:]
    ) {
        (self.failures, self.code, self.paranoia, self.steps) = (failures, code, paranoia, steps)
    }

    /// The number of counters that are open.
    var openCount: Int { opened.withLock { $0 } }

    private static func event(_ counter: Int32) -> HardwareEvent { HardwareEvent.allCases[Int(counter)] }

    func open(_ event: HardwareEvent) throws(CounterFailure) -> Int32 {
        if failures.contains(event) { throw CounterFailure(code: code, paranoia: paranoia) }
        opened.withLock { $0 += 1 }
        return Int32(HardwareEvent.allCases.firstIndex(of: event)!)
    }

    func read(_ counter: Int32) -> CounterReading? {
        guard let step = steps[Self.event(counter)] else { return nil }
        return sums.withLock { sums in
            let sum = sums[counter] ?? CounterReading()
            sums[counter] = CounterReading(
                count: sum.count + step.count, enabled: sum.enabled + step.enabled,
                running: sum.running + step.running)
            return sum
        }
    }

    func close(_ counter: Int32) { opened.withLock { $0 -= 1 } }
}
