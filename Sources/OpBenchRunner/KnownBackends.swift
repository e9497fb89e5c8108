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
        + ConcurrencyBackend.factories + OneTBBBackend.factories

    static func named(_ id: BackendID) -> BackendFactory? { all.first { $0.id == id } }
}

extension BackendID {
    /// The backends that this program has: all known ones, except those of a library that it was built without.
    public static var available: [BackendID] { known.filter { BackendFactory.named($0) != nil } }

    /// - Parameter origin: the file or option that names the backend.
    /// - Throws: `InputError` with the remedy if this program was built without it.
    public func checkAvailable(namedBy origin: String) throws(InputError) {
        guard BackendFactory.named(self) == nil else { return }
        throw InputError(
            file: origin, message: "this program was built without \(rawValue)", remedy: OneTBBBackend.remedy)
    }
}

/// A backend that a program declares in addition to the built-in ones.
package struct DeclaredBackend: Sendable {
    /// A one-line description.
    package let summary: String
    /// The Swift module of the queue.
    package let module: String
    package let factory: BackendFactory

    package init(summary: String, module: String, factory: BackendFactory) {
        (self.summary, self.module, self.factory) = (summary, module, factory)
    }

    /// Set once, with the names; see `DeclaredBackends`.
    fileprivate static let factories = Mutex<[BackendFactory]>([])

    /// Makes backends known, as if they were built in. `main` must call it before anything else, in sample processes
    /// too.
    ///
    /// - Throws: `InputError` if a name is malformed or belongs to another backend; then nothing is declared.
    package static func declare(_ backends: [DeclaredBackend]) throws(InputError) {
        try DeclaredBackends.declare(
            backends.map { BackendDefinition(declared: $0.factory.id, summary: $0.summary, module: $0.module) })
        factories.withLock { $0 = backends.map(\.factory) }
    }
}
