import CoreMetrics
import MetricsTestKit
import OperationEngine
import OperationEngineMetrics

let shown = TestMetrics()
MetricsSystem.bootstrap(shown)

func show(_ queue: String) throws {
    let dimensions = [("queue", queue)]
    let counters = try ["added", "started", "finished", "cancelled"].map {
        "\($0) \(try shown.expectCounter("operation_queue.\($0)", dimensions).totalValue)"
    }
    let gauges = try ["waiting", "ready", "running"].map {
        "\($0) \(Int(try shown.expectGauge("operation_queue.\($0)", dimensions).lastValue ?? -1))"
    }
    print("\(queue):", (counters + gauges).joined(separator: ", "))
}

let uploads = OperationQueue()
let parts = [OperationQueue(), OperationQueue()]
uploads.name = "uploads"
for part in parts { part.name = "parts" }
var publisher: MetricsPublisher? = MetricsPublisher(queues: [uploads] + parts)

uploads.isSuspended = true
let first = BlockOperation {}
let second = BlockOperation {}
second.addDependency(first)
for operation in [first, second] { uploads.addOperation(operation) }
uploads.addOperation {}
for part in parts {
    for _ in 0..<2 { part.addOperation {} }
    await part.drained()
}
publisher?.publish()
try show("uploads")
try show("parts")

uploads.isSuspended = false
await uploads.drained()
publisher?.publish()
publisher?.publish()
try show("uploads")

let workers = try shown.expectGauge("operation_engine.workers")
print("workers:", Int(workers.lastValue ?? -1) == OperationQueue.engineMetrics.workers)
let before = workers.values.count
let task = Task { [publisher] in await publisher?.run(every: .seconds(1e19)) }
task.cancel()
await task.value
print("published at the beginning and at the end:", workers.values.count - before)
print("metrics:", shown.counters.count, shown.recorders.count)
publisher = nil
