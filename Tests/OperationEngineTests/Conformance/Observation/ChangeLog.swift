import OperationEngine
import TestSupport

/// The four properties of an operation's state, as an observer names them.
nonisolated(unsafe) private let stateKeys: [(name: String, keyPath: KeyPath<Operation, Bool>)] = [
    ("cancelled", \.isCancelled), ("executing", \.isExecuting), ("finished", \.isFinished), ("ready", \.isReady),
]

/// Writes down what observers of operations hear, in order, as "executing=1"; "will executing" before the change.
final class ChangeLog: Sendable {
    private let log = Recorder<String>()
    private let tokens = Guarded<[Observation]>([])

    var entries: [String] { log.entries }

    /// Observes the operation's state. With a name, the entries begin with it: "A.executing=1".
    func watch(_ operation: Operation, as name: String = "", options: ObservingOptions = .new) {
        let prefix = name.isEmpty ? "" : "\(name)."
        for key in stateKeys {
            let keyName = key.name
            let token = operation.observe(key.keyPath, options: options) { [log] _, change in
                let value = change.newValue.map { $0 ? "=1" : "=0" } ?? ""
                log.append("\(change.isPrior ? "will " : "")\(prefix)\(keyName)\(value)")
            }
            tokens.withLock { $0.append(token) }
        }
    }

    func append(_ entry: String) { log.append(entry) }

    /// Ends all observations.
    func end() {
        let all = tokens.withLock { tokens in
            defer { tokens = [] }
            return tokens
        }
        for token in all { token.invalidate() }
    }
}

/// Whether a key path allows its property to be set.
func isWritable<Value>(_ keyPath: KeyPath<Operation, Value>) -> Bool {
    keyPath is ReferenceWritableKeyPath<Operation, Value>
}
