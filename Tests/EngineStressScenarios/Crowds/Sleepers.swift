import Glibc
import OperationEngine
import Synchronization
import TestSupport

/// Operations that sleep, in queues of large limits. No queue runs more at once than its limit, and there are never
/// more workers than the documented bound, whatever the limits add up to.
@Sendable func sleepers(_ run: StressRun) {
    let workerBound = 512
    var random = run.generator()
    let limits = [[512], [64, 200], [1000], [-1], [300, 300, 300], [1, 16, 100]].randomElement(using: &random)!
    let levels = limits.map { _ in Level() }
    let queues = limits.map { limit in
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = limit
        return queue
    }
    run.describe {
        "limits \(limits): at most \(levels.map(\.peak)) at once; \(queues), \(EngineThreads.workers) workers"
    }
    let began = ContinuousClock.now
    var sleep = Duration.zero
    for index in 0..<run.size {
        let microseconds = UInt32.random(in: 200...4_000, using: &random)
        sleep += .microseconds(Int(microseconds))
        let level = levels[index % levels.count]
        queues[index % queues.count].addOperation {
            level.enter()
            usleep(microseconds)
            level.leave()
            run.advance()
        }
    }
    var mostWorkers = 0
    while !queues.allSatisfy({ $0.waitUntilFinished(timeout: .milliseconds(5)) }) {
        mostWorkers = max(mostWorkers, EngineThreads.workers)
    }
    let took = began.duration(to: .now)
    run.require(mostWorkers <= workerBound, "\(mostWorkers) workers, more than \(workerBound) (contract N13)")
    for (limit, level) in zip(limits, levels) where limit > 0 {
        run.require(level.peak <= limit, "\(level.peak) at once with a limit of \(limit) (contract N2)")
    }
    let peaks = levels.map(\.peak)
    run.note("limits \(limits), peaks \(peaks), \(mostWorkers) workers, \(sleep) of sleep in \(took)")
    run.count(run.size)
}

/// How many are inside at once, and the most there were.
final class Level: Sendable {
    private let inside = Atomic<Int>(0)
    private let most = Atomic<Int>(0)
    var now: Int { inside.load(ordering: .relaxed) }
    var peak: Int { most.load(ordering: .relaxed) }
    func enter() { most.max(inside.add(1, ordering: .relaxed).newValue, ordering: .relaxed) }
    func leave() { inside.subtract(1, ordering: .relaxed) }
}

/// The engine's threads, by their names in /proc.
enum EngineThreads {
    static var workers: Int {
        guard let folder = opendir("/proc/self/task") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let thread = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let name = name(of: thread)
            if name.hasPrefix("engine "), name != "engine starter", name != "engine monitor" { count += 1 }
        }
        return count
    }

    private static func name(of thread: String) -> String {
        let file = open("/proc/self/task/\(thread)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 32)
        let length = read(file, &text, text.count)
        return String(decoding: text.prefix(max(0, length)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
