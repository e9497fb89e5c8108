import OpBenchBackends
import OpBenchCommand
import OpBenchModel
import OpBenchRunner

/// A backend: a queue's name in workload files, on command lines and in rows, its guarantees, and how to make it.
public struct Backend: Sendable {
    let declared: DeclaredBackend

    /// Declares a backend.
    ///
    /// The capabilities of `Queue` are the protocols that it conforms to, which are checked once, here.
    ///
    /// - Parameters:
    ///   - name: 1 to 40 of a–z, 0–9, `.`, `_` and `-`, beginning with a letter; two such names with a colon between
    ///     them for a form of the first, as in `mine:fast`. `OpBenchMain.run` rejects built-in backends' names.
    ///   - summary: one line for people.
    ///   - limits: the limits of concurrency that `make` accepts; nil for none. Cells with others are `unsupported`.
    ///     With an upper bound of 1 the queue is assumed to run one at a time by default, too.
    ///   - guarantees: the queue's promises beyond running work once. Only a broken promise makes a sample `invalid`.
    ///   - make: makes a queue, ready to run. Called with the clock running, by one thread at a time.
    public init<Queue: MeasuredQueue>(
        _ name: String, _ summary: String, limits: ClosedRange<Int>? = nil, guarantees: Guarantees = [],
        make: @escaping @Sendable (QueueSettings) -> Queue
    ) {
        let ways = QueueWays(Queue.self, limits: limits, make: make)
        declared = DeclaredBackend(
            summary: summary, module: String(String(reflecting: Queue.self).prefix { $0 != "." }),
            factory: BackendFactory(
                id: BackendID(rawValue: name), guarantees: guarantees.checked, ways: ways.table, refusals: ways.refusals
            ))
    }
}

/// The settings of a cell for a new queue.
public struct QueueSettings: Sendable {
    /// The most operations that may run at once, within the limits that the backend declares; nil for the queue's
    /// choice.
    public let limit: Int?
}

/// A queue's promises beyond running work once and, if it takes dependencies, in their order. Samples of the kind
/// `check` test them.
public struct Guarantees: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Never more work at once than the limit that was set.
    public static let limit = Guarantees(rawValue: BackendGuarantees.limit.rawValue)
    /// At limit 1, never past more urgent work that is ready.
    public static let priorityOrder = Guarantees(rawValue: BackendGuarantees.priorityOrder.rawValue)
    /// After `suspend()` has returned, at most one start for each thread.
    public static let suspension = Guarantees(rawValue: BackendGuarantees.suspension.rawValue)
    /// Work never runs at a lower nice value than work of a higher thread priority. Work of priority 0.25 or less runs
    /// at a nice value above the process's.
    public static let threadPriorities = Guarantees(rawValue: BackendGuarantees.threadPriorities.rawValue)

    fileprivate var checked: BackendGuarantees { BackendGuarantees(rawValue: rawValue) }
}

/// A body of operations: the work of one item, by a name that workload files give as `body`.
public struct Body: Sendable {
    let declared: DeclaredBodies.Declared

    /// Declares a body.
    ///
    /// - Parameters:
    ///   - name: 1 to 40 of a–z, 0–9, `.`, `_` and `-`, beginning with a letter. `OpBenchMain.run` rejects built-in
    ///     bodies' names.
    ///   - run: does an item's work. Called once for each item with its number, from 0, while the clock runs; several
    ///     threads call it at once, with different items, and each round begins with 0 again.
    public init(_ name: String, _ run: @escaping @Sendable (_ item: Int) -> Void) {
        declared = DeclaredBodies.Declared(name, run: run)
    }
}

/// The program `opbench`, with your own backends and bodies.
public enum OpBenchMain {
    /// Runs the whole command line, with `backends` and `bodies` beside the built-in ones: in workload files, after
    /// `--backend` and `--set`, in `describe workload-schema` and in rows. Ends the process with opbench's exit code; 64 if a name is
    /// malformed or taken.
    ///
    /// Call it first in `main`, on the main thread: a sample's process is this program run again, and must become one
    /// before anything makes a thread or a queue.
    public static func run(backends: [Backend] = [], bodies: [Body] = []) -> Never {
        OpBench.runAndExit(declaring: backends.map(\.declared), bodies: bodies.map(\.declared))
    }
}
