import OpBenchModel

/// The engine under test.
///
/// The other forms are for programs that need less than dependencies among objects:
/// - `engine:within`: as `dispatch`: each body submits its successors, as closures; a chain has a serial queue of its
///   own.
/// - `engine:counted`: as `dispatch`: the last body of a refilled batch submits the next, by a counter.
/// - `engine:barrier`: a barrier behind each refilled batch submits the next.
package enum EngineBackend {
    package static let factories = [
        factory,
        form("engine:within", [.chains: within, .graphs: within], only: "chains and graphs"),
        form("engine:counted", [.independent: batches { EngineClosures($0, $1) }.on(.byHand)], only: "refilled queues"),
        form(
            "engine:barrier",
            [
                .independent: batches("a barrier waits for the batches of all producers") {
                    EngineBarrierBatches($0, $1)
                }.on(.declared)
            ], only: "refilled queues"),
    ]

    package static let factory = BackendFactory(
        id: .engine, guarantees: guarantees, ways: BackendFactory.libraryWays { EngineRound($0, $1) },
        threadEvents: EngineThreadEvents.shared)

    private static let guarantees: Guarantees = [.limit, .priorityOrder, .suspension, .threadPriorities]

    private static let within = Way(
        support: { _ in .full(note: "each body submits the successors that it made ready") },
        canHoldPending: { _ in false }, make: { EngineClosures($0, $1) }
    ).on(.byHand)

    /// - Parameter note: what differs in meaning with several producers.
    private static func batches(
        _ note: String = "", _ make: @escaping @Sendable (WorkloadPlan, OperationBody) -> any Backend
    ) -> Way {
        Way(
            support: {
                $0.isRefill
                    ? .full(note: $0.parts.count > 1 ? note : "")
                    : .unsupported(reason: "without batches the engine itself is this form")
            }, make: make)
    }

    private static func form(_ name: String, _ ways: [Capability: Way], only: String) -> BackendFactory {
        BackendFactory(
            id: BackendID(rawValue: name), guarantees: guarantees, ways: ways, otherwise: "a form of \(only) only",
            threadEvents: EngineThreadEvents.shared)
    }
}
