import OpBenchModel

/// The engine under test.
///
/// The other forms are for programs that know their graph before, or need less than dependencies among objects:
/// - `engine:graph`: `addDependencies(_:among:)` adds all dependencies in one step.
/// - `engine:within`: as `dispatch`: each body submits its successors, as closures; a chain has a serial queue of its
///   own.
/// - `engine:counted`: as `dispatch`: the last body of a refilled batch submits the next, by a counter.
package enum EngineBackend {
    package static let factories = [
        factory,
        form("engine:graph", [.chain: graph, .graph: graph], only: "chains and graphs"),
        form("engine:within", [.chain: within, .graph: within], only: "chains and graphs"),
        form("engine:counted", [.independent: counted], only: "refilled queues"),
    ]

    package static let factory = BackendFactory(
        id: .engine, guarantees: guarantees, ways: BackendFactory.libraryWays { EngineRound($0, $1) },
        threadEvents: EngineThreadEvents.shared)

    private static let guarantees: BackendGuarantees = [.limit, .priorityOrder, .suspension, .threadPriorities]

    private static let within = Way(
        support: { _ in .full(note: "each body submits the successors that it made ready") },
        canHoldPending: { _ in false }, make: { EngineClosures($0, $1) }
    ).on(.byHand)

    private static let graph = Way { EngineGraphRound($0, $1) }.on(.declared)

    private static let counted = Way(
        support: {
            $0.isRefill ? .full() : .unsupported(reason: "without batches the engine itself is this form")
        }, make: { EngineClosures($0, $1) }
    ).on(.byHand)

    private static func form(_ name: String, _ ways: [Shape: Way], only: String) -> BackendFactory {
        BackendFactory(
            id: BackendID(rawValue: name), guarantees: guarantees, ways: ways, otherwise: "a form of \(only) only",
            threadEvents: EngineThreadEvents.shared)
    }
}
