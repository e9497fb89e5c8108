import OperationEngine
import TestSupport
import Testing

/// A property that can be observed: how observers write down what they hear of it, and a change of it.
struct ObservedProperty<Object>: Sendable, CustomTestStringConvertible {
    let name: String
    /// The name in calls of `willChangeValue(forKey:)`, in both spellings; of operations only.
    var keys: [String] = []
    /// Each call is written down as "old→new", with "-" for a value that it does not carry; the one before the change as
    /// "will old→new".
    let observe: @Sendable (Object, ObservingOptions, Recorder<String>) -> Observation
    /// The values at the beginning, and after each change that `change` makes.
    let values: [String]
    let change: @Sendable (Object) -> Void

    var testDescription: String { name }

    /// The calls to an observer with these options, from its registration on.
    func story(_ options: ObservingOptions) -> [String] {
        func entry(_ old: String?, _ new: String?) -> String {
            "\(options.contains(.old) ? old ?? "-" : "-")→\(options.contains(.new) ? new ?? "-" : "-")"
        }
        let changes = zip(values, values.dropFirst()).flatMap { old, new in
            (options.contains(.prior) ? ["will \(entry(old, nil))"] : []) + [entry(old, new)]
        }
        return (options.contains(.initial) ? [entry(nil, values[0])] : []) + changes
    }
}

/// All sixteen.
let observingOptions: [ObservingOptions] = (0..<16).map { bits in
    let all: [ObservingOptions] = [.new, .old, .initial, .prior]
    return all.indices.filter { bits & 1 << $0 != 0 }.reduce(into: []) { $0.insert(all[$1]) }
}

private func entry<Value>(_ change: ObservedChange<Value>, _ text: (Value) -> String) -> String {
    #expect(change.kind == .setting)
    let values = [change.oldValue, change.newValue].map { $0.map(text) ?? "-" }
    return (change.isPrior ? "will " : "") + values.joined(separator: "→")
}

private func count(_ operations: [Operation]) -> String { "\(operations.count)" }
private func rawValue(_ priority: Operation.QueuePriority) -> String { "\(priority.rawValue)" }
private func presence(_ block: (@Sendable () -> Void)?) -> String { block == nil ? "nil" : "block" }
private func text(_ name: String?) -> String { name ?? "nil" }

extension ObservedProperty where Object == MainOperation {
    private static func of<Value>(
        _ name: String, _ key: KeyPath<Operation, Value> & Sendable, _ values: [String],
        keys: [String]? = nil,
        text: @escaping @Sendable (Value) -> String = { "\($0)" }, change: @escaping @Sendable (MainOperation) -> Void
    ) -> Self {
        Self(
            name: name, keys: keys ?? [name],
            observe: { operation, options, log in
                (operation as Operation).observe(key, options: options) { log.append(entry($1, text)) }
            }, values: values, change: change)
    }

    static let all: [Self] = [
        of("isCancelled", \.isCancelled, ["false", "true"], keys: ["isCancelled", "cancelled"]) {
            $0.cancel()
            $0.cancel()
        },
        of("isExecuting", \.isExecuting, ["false", "true", "false"], keys: ["isExecuting", "executing"]) {
            $0.start()
        },
        of("isFinished", \.isFinished, ["false", "true"], keys: ["isFinished", "finished"]) { $0.start() },
        of("isReady", \.isReady, ["true", "false", "true"], keys: ["isReady", "ready"]) {
            let dependency = MainOperation()
            $0.addDependency(dependency)
            $0.removeDependency(dependency)
        },
        of("dependencies", \.dependencies, ["0", "1", "0"], text: count) {
            let dependency = MainOperation()
            $0.addDependency(dependency)
            $0.removeDependency(dependency)
        },
        of("queuePriority", \.queuePriority, ["0", "4", "-8"], text: rawValue) { operation in
            for priority in [Operation.QueuePriority.normal, .high, .high, .veryLow] {
                operation.queuePriority = priority
            }
        },
        of("completionBlock", \.completionBlock, ["nil", "block", "nil"], text: presence) {
            $0.completionBlock = {}
            $0.completionBlock = nil
        },
        // Only a subclass changes these two, which are one.
        of("isAsynchronous", \.isAsynchronous, ["false"], keys: ["isAsynchronous", "asynchronous"]) { _ in },
        of("isConcurrent", \.isConcurrent, ["false"], keys: ["isConcurrent", "concurrent"]) { _ in },
    ]
}

extension ObservedProperty where Object == OperationQueue {
    private static func of<Value>(
        _ name: String, _ key: KeyPath<OperationQueue, Value> & Sendable, _ values: [String],
        text: @escaping @Sendable (Value) -> String = { "\($0)" }, change: @escaping @Sendable (OperationQueue) -> Void
    ) -> Self {
        Self(
            name: name,
            observe: { queue, options, log in queue.observe(key, options: options) { log.append(entry($1, text)) } },
            values: values, change: change)
    }

    /// For a suspended queue with the name "before".
    static let all: [Self] = [
        of("maxConcurrentOperationCount", \.maxConcurrentOperationCount, ["-1", "3"]) {
            $0.maxConcurrentOperationCount = 3
        },
        of("isSuspended", \.isSuspended, ["true", "false"]) { $0.isSuspended = false },
        of("name", \.name, ["before", "after"], text: text) { $0.name = "after" },
        of("operations", \.operations, ["0", "1"], text: count) { $0.addOperation {} },
        of("operationCount", \.operationCount, ["0", "1"]) { $0.addOperation {} },
    ]
}
