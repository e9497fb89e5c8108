import OpBenchBackends
import OpBenchModel

/// The engine under test.
package enum EngineBackend {
    package static let factory = BackendFactory(
        id: .engine, guarantees: [.limit, .priorityOrder, .suspension, .threadPriorities],
        ways: QueueBackend.ways, threadEvents: EngineThreadEvents.shared)
}
