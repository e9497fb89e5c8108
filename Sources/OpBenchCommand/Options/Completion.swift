import ArgumentParser
import OpBenchModel
import OpBenchProfile

/// The values that a shell offers.
extension CompletionKind {
    static let json = CompletionKind.file(extensions: ["json"])
    static let backends = CompletionKind.list(BackendDefinition.builtIn.map(\.id.rawValue))
    static let kinds = CompletionKind.list(SampleKind.allCases.map(\.rawValue))
    static let profileKinds = CompletionKind.list(ProfileKind.allCases.map(\.rawValue))
    static let metrics = CompletionKind.list(BaselineRatio.names + Metric.catalogue.map(\.name))
    /// A run's folder.
    static let run = CompletionKind.directory
}
