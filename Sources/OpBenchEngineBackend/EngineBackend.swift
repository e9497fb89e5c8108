import OpBenchBackends

/// The engine under test.
package enum EngineBackend {
    package static let factory = BackendFactory(
        id: .engine, guarantees: [.limit, .priorityOrder, .suspension], ways: QueueBackend.ways,
        threadEvents: EngineThreadEvents.shared)
}
