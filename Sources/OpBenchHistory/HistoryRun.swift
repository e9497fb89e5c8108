import OpBenchAnalysis
import OpBenchModel

/// What a history keeps of a run beside its figures.
public struct HistoryRun: Sendable, Hashable {
    public var id: String
    /// ISO 8601, UTC: of its first sample.
    public var startedUTC: String
    /// Of the sources that the program was built from; nil if that is not known.
    public var commit: String?
    /// Whether files differed from the commit.
    public var isDirty: Bool
    public var host: HostKind
    /// The 64 hexadecimal digits of the SHA-256 of all that is kept of the run, its figures included: tells a run that was
    /// added before from one that has changed since.
    public var digest: String

    /// A run that is to be kept.
    public init(
        id: String, startedUTC: String, commit: String?, isDirty: Bool, host: HostKind, figures: [RunFigure]
    ) {
        self.id = id
        self.startedUTC = startedUTC
        self.commit = commit
        self.isDirty = isDirty
        self.host = host
        digest = ""
        digest = SHA256.hexadecimal(of: Array(text(with: figures).utf8))
    }

    /// A run as the database has it.
    init(
        id: String, startedUTC: String, commit: String?, isDirty: Bool, host: HostKind, digest: String
    ) {
        self.id = id
        self.startedUTC = startedUTC
        self.commit = commit
        self.isDirty = isDirty
        self.host = host
        self.digest = digest
    }

    /// Fields end in a byte that no file of opbench's has, so that no two runs have the same text.
    private func text(with figures: [RunFigure]) -> String {
        var text = ""
        func add(_ field: String) { text += field + "\u{0}" }
        for field in [
            id, startedUTC, commit ?? "", String(isDirty), host.hostClass, host.allocator, host.configuration,
        ] { add(field) }
        for figure in figures.sorted(by: { $0.name < $1.name }) {
            let name = figure.name
            for field in [
                name.cellID, name.backend.rawValue, name.side, name.metric, name.phase, name.operationClass, name.stat,
            ] { add(field) }
            for number in [figure.value, figure.low, figure.high] { add(number.map(FigureText.write) ?? "") }
            add(String(figure.samples))
        }
        return text
    }
}
