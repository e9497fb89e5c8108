import OpBenchBackends
import OpBenchModel
import Synchronization

extension BackendFactory {
    /// Every backend and form.
    static var all: [BackendFactory] {
        builtIn + DeclaredBackend.factories.withLock { $0 }
    }

    private static let builtIn =
        EngineBackend.factories + [FoundationBackend.factory] + SerialBackends.factories + DispatchBackend.factories
        + ConcurrencyBackend.factories

    static func named(_ id: BackendID) -> BackendFactory? { all.first { $0.id == id } }
}

/// A backend that a program declares beside the built-in ones.
package struct DeclaredBackend: Sendable {
    /// One line for people.
    package let summary: String
    /// The Swift module of the queue.
    package let module: String
    package let factory: BackendFactory

    package init(summary: String, module: String, factory: BackendFactory) {
        (self.summary, self.module, self.factory) = (summary, module, factory)
    }

    /// Written once, with the names; see `DeclaredBackends`.
    fileprivate static let factories = Mutex<[BackendFactory]>([])

    /// Makes backends known, as if they were built in. To be called by `main` before anything else, in a sample's process
    /// too.
    ///
    /// - Throws: `InputError` if a name is malformed, or another backend's; then nothing is declared.
    package static func declare(_ backends: [DeclaredBackend]) throws(InputError) {
        try DeclaredBackends.declare(
            backends.map { BackendDefinition(declared: $0.factory.id, summary: $0.summary, module: $0.module) })
        factories.withLock { $0 = backends.map(\.factory) }
    }
}
