import OpBenchBackends

/// The engine under test.
package enum EngineBackend {
    package static let factory = QueueBackend.factory(
        id: .engine, guarantees: [.limit, .priorityOrder, .suspension], support: { _ in .full() })
}
