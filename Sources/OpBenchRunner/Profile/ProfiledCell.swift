import OpBenchModel
import OpBenchProfile

/// A cell on a backend, to be profiled.
public struct ProfileTarget: Sendable, Hashable {
    public let cell: Cell
    public let backend: BackendID

    public init(cell: Cell, backend: BackendID) {
        self.cell = cell
        self.backend = backend
    }
}

/// What the profiles of one cell on one backend showed.
public struct ProfiledCell: Sendable {
    public let target: ProfileTarget
    /// Of the sample that nothing recorded, what profiled ones are compared with.
    public let plain: PlainFigures
    public internal(set) var sections: [ProfileSection] = []
    /// The folder with the files; nil if there are none.
    public internal(set) var folder: String?
}

/// What a sample takes that nothing records.
public struct PlainFigures: Sendable, Equatable {
    public let operations: Int
    /// build + submit + cancel + drain, in nanoseconds an operation.
    public let timePerOperation: Double
    /// Of all threads, in nanoseconds an operation.
    public let cpuPerOperation: Double
    public let rounds: Int
    /// What differs in meaning on this backend; empty if nothing does.
    public let note: String

    init(_ answer: ProfileAnswer) {
        operations = answer.operations
        timePerOperation = Double(answer.totalNanoseconds) / Double(max(1, answer.operations))
        cpuPerOperation = Double(answer.cpuNanoseconds) / Double(max(1, answer.operations))
        rounds = answer.marks.count
        note = answer.report.notes
    }

    /// How much longer an operation of a profiled sample took.
    func perturbation(of answer: ProfileAnswer) -> Double {
        Double(answer.totalNanoseconds) / Double(max(1, answer.operations)) / max(1e-3, timePerOperation)
    }
}

/// One kind of profile: what a terminal shows of it, and its files.
public struct ProfileSection: Sendable {
    public let kind: ProfileKind
    /// By what it was recorded: `perf`, `SIGPROF`, `jemalloc`.
    public let means: String
    /// Without line ends. Names in them are as they were given: whoever prints them escapes them.
    public internal(set) var lines: [String]
    /// The names of the files in the cell's folder.
    public internal(set) var files: [String] = []
    /// The time of the profiled rounds in relation to those without.
    public let perturbation: Double?
    /// Why there is none; nil if there is.
    public let lack: Lack?

    public enum Lack: Sendable, Equatable {
        /// This machine cannot do it; with the remedy.
        case impossible(reason: String)
        /// The sample, or what records it, failed.
        case failed(reason: String)
    }

    /// A profile that perturbs by more than that shows another program than the one in question.
    public static let mostPerturbation = 2.0

    /// Whether the sample was slowed down too much to be relied on.
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
