import OpBenchBackends
import OpBenchCommand
import OpBenchModel
import OpBenchRunner

/// A backend: a queue by the name that it has in workload files, on command lines and in rows, what it promises, and how to
/// make one.
public struct Backend: Sendable {
    let declared: DeclaredBackend

    /// Declares a backend.
    ///
    /// What `Queue` can do is what it conforms to, which is asked once, here.
    ///
    /// - Parameters:
    ///   - name: 1 to 40 of a–z, 0–9, `.`, `_` and `-`, beginning with a letter; two such names with a colon between them for
    ///     a form of the first, as in `mine:fast`. Built-in backends' names are taken; `OpBenchMain.run` tells.
    ///   - summary: one line for people.
    ///   - limits: which limits of concurrency `make` can be asked for; nil for none. Cells with others are `unsupported`.
    ///     With an upper bound of 1 the queue is taken to run one at a time at the default too.
    ///   - guarantees: what the queue promises beyond running work once. Only a broken promise makes a sample `invalid`.
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

/// What a queue is made for.
public struct QueueSettings: Sendable {
    /// How many operations may run at once; nil for the queue's own choice. Within the limits that its backend declares.
    public let limit: Int?
}

/// What a queue promises beyond running work once and, where it takes dependencies, in their order. Promises are held
/// against samples of the kind `check`.
public struct Guarantees: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Never more work at once than the limit that was set.
    public static let limit = Guarantees(rawValue: 1)
    /// At limit 1, never past more urgent work that is ready.
    public static let priorityOrder = Guarantees(rawValue: 2)
    /// After `suspend()` has returned, at most one start for each thread.
    public static let suspension = Guarantees(rawValue: 4)
    /// Work never runs at a lower nice value than work of a higher thread priority. Work of priority 0.25 or less runs
    /// at a nice value above the process's.
    public static let threadPriorities = Guarantees(rawValue: 8)

    fileprivate var checked: OpBenchModel.Guarantees {
        var promises: OpBenchModel.Guarantees = []
        if contains(.limit) { promises.insert(.limit) }
        if contains(.priorityOrder) { promises.insert(.priorityOrder) }
        if contains(.suspension) { promises.insert(.suspension) }
        if contains(.threadPriorities) { promises.insert(.threadPriorities) }
        return promises
    }
}

/// The program `opbench`, with backends of one's own.
public enum OpBenchMain {
    /// Runs the whole command line, in which `backends` stand beside the built-in ones: in workload files, after `--backend`,
    /// in `schema` and in rows. Ends the process with opbench's exit code; 64 if a name is malformed, or another backend's.
    ///
    /// To be called first in `main`, on the main thread: a sample's process is this program run again, and must become one
    /// before anything has made a thread or a queue.
    public static func run(backends: [Backend] = []) -> Never {
        OpBench.runAndExit(declaring: backends.map(\.declared))
    }
}
