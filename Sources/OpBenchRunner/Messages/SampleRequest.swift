import OpBenchBackends
import OpBenchModel

/// The request to a sample's process, sent as JSON on its standard input.
struct SampleRequest: Codable, Sendable {
    let cell: Cell
    var backend: BackendID
    var flavour: SampleFlavour
    /// Intended duration of a timed sample, in nanoseconds.
    var targetNanoseconds: Int64
    /// The least duration of a timed sample, in nanoseconds; shorter ones are flagged.
    static let shortLimit: Int64 = 100_000_000
    var kernel: WorkKernel
    /// The process whose death ends this one.
    var parent: Int32
    /// Intentional mallocs per operation; see `InjectedDefect`.
    var injectedAllocations: Int?
    /// Set for a sample under callgrind: the path of the files in which callgrind writes its counts, see
    /// `CallgrindCounter`.
    var countsFile: String?
    /// Set for a profiled sample, which answers with a `ProfileAnswer`.
    var profile: ProfileOrder?

    init(
        cell: Cell, backend: BackendID, flavour: SampleFlavour, targetNanoseconds: Int64, kernel: WorkKernel,
        parent: Int32
    ) {
        self.cell = cell
        self.backend = backend
        self.flavour = flavour
        self.targetNanoseconds = targetNanoseconds
        self.kernel = kernel
        self.parent = parent
    }
}
