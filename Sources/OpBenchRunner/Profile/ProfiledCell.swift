import OpBenchModel
import OpBenchProfile

/// A cell to profile on a backend.
public struct ProfileTarget: Sendable, Hashable {
    public let cell: Cell
    public let backend: BackendID

    public init(cell: Cell, backend: BackendID) {
        self.cell = cell
        self.backend = backend
    }
}

/// The profiles of one cell on one backend.
public struct ProfiledCell: Sendable {
    public let target: ProfileTarget
    /// Figures of the unprofiled sample, which profiled ones are compared with.
    public let plain: PlainFigures
    public internal(set) var sections: [ProfileSection] = []
    /// The folder with the files; nil if there are none.
    public internal(set) var folder: String?
}

/// The figures of an unprofiled sample.
public struct PlainFigures: Sendable, Equatable {
    public let operations: Int
    /// build + submit + cancel + drain, in nanoseconds per operation.
    public let timePerOperation: Double
    /// CPU time of all threads, in nanoseconds per operation.
    public let cpuPerOperation: Double
    public let rounds: Int
    /// How the meaning differs on this backend; empty if it does not.
    public let note: String

    init(_ answer: ProfileAnswer) {
        operations = answer.operations
        timePerOperation = Double(answer.totalNanoseconds) / Double(max(1, answer.operations))
        cpuPerOperation = Double(answer.cpuNanoseconds) / Double(max(1, answer.operations))
        rounds = answer.marks.count
        note = answer.report.notes
    }

    /// The ratio of a profiled sample's time per operation to the unprofiled one's.
    func perturbation(of answer: ProfileAnswer) -> Double {
        Double(answer.totalNanoseconds) / Double(max(1, answer.operations)) / max(1e-3, timePerOperation)
    }
}

/// One kind of profile: its lines for a terminal, and its files.
public struct ProfileSection: Sendable {
    public let kind: ProfileKind
    /// The method of recording: `perf`, `SIGPROF`, `jemalloc`.
    public let means: String
    /// Lines without line ends. They contain unescaped names, which the printing code must escape.
    public internal(set) var lines: [String]
    /// The names of the files in the cell's folder.
    public internal(set) var files: [String] = []
    /// The number of samples or switches in it; 0 if that is unknown.
    var events = 0
    /// The ratio of the profiled rounds' time to that of unprofiled rounds.
    public let perturbation: Double?
    /// Why there is no profile; nil if there is.
    public let lack: Lack?

    public enum Lack: Sendable, Equatable {
        /// Not possible on this machine; the reason includes the remedy.
        case impossible(reason: String)
        /// The sample or its recorder failed.
        case failed(reason: String)
    }

    /// Profiles that perturb more than this show a different program's behaviour.
    public static let mostPerturbation = 2.0

    /// Whether the sample was slowed down too much to be reliable.
    public var isPerturbed: Bool { (perturbation ?? 1) > Self.mostPerturbation }

    init(
        _ kind: ProfileKind, means: String, lines: [String] = [], files: [String] = [], perturbation: Double? = nil
    ) {
        self.kind = kind
        self.means = means
        self.lines = lines
        self.files = files
        self.perturbation = perturbation
        lack = nil
    }

    init(_ kind: ProfileKind, lack: Lack) {
        self.kind = kind
        self.lack = lack
        (means, lines, perturbation) = ("", [], nil)
    }
}
