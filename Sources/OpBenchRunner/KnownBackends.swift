import OpBenchBackends
import OpBenchEngineBackend
import OpBenchFoundationBackend
import OpBenchModel

extension BackendFactory {
    /// Every backend and form.
    static let all = [EngineBackend.factory, FoundationBackend.factory] + builtIn

    static func named(_ id: BackendID) -> BackendFactory? { all.first { $0.id == id } }
}
