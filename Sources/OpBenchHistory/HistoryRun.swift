import Foundation
import OpBenchAnalysis
import OpBenchModel

/// The data that a history keeps of a run besides its figures.
public struct HistoryRun: Sendable, Hashable {
    public var id: String
    /// The time of its first sample: ISO 8601, UTC.
    public var startedUTC: String
    /// The commit that the program was built from; nil if unknown.
    public var commit: String?
    /// Whether files differed from the commit.
    public var isDirty: Bool
    public var host: HostKind
    /// The known facts around the code, by side: `base` and `head` for a run of two builds, else one entry without a
    /// name.
    public var surroundings: [String: Surroundings]
    /// The SHA-256 of all kept data of the run, including its figures, as 64 hexadecimal digits. It distinguishes a run
    /// that was already added from one that has changed since.
    public var digest: String

    /// A run to be added.
    public init(
        id: String, startedUTC: String, commit: String?, isDirty: Bool, host: HostKind,
        surroundings: [String: Surroundings] = [:], figures: [RunFigure]
    ) {
        self.id = id
        self.startedUTC = startedUTC
        self.commit = commit
        self.isDirty = isDirty
        self.host = host
        self.surroundings = surroundings
        digest = ""
        digest = SHA256.hexadecimal(of: Array(text(with: figures).utf8))
    }

    /// A run from the database.
    init(
        id: String, startedUTC: String, commit: String?, isDirty: Bool, host: HostKind,
        surroundings: [String: Surroundings], digest: String
    ) {
        self.id = id
        self.startedUTC = startedUTC
        self.commit = commit
        self.isDirty = isDirty
        self.host = host
        self.surroundings = surroundings
        self.digest = digest
    }

    /// Fields end in a byte that no opbench file contains, so different runs have different texts.
    private func text(with figures: [RunFigure]) -> String {
        var text = ""
        func add(_ field: String) { text += field + "\u{0}" }
        for field in [
            id, startedUTC, commit ?? "", String(isDirty), host.hostClass, host.allocator, host.configuration,
            SurroundingsColumn.text(of: surroundings),
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

/// The facts around the code as a history stores them: JSON, an object for each side.
enum SurroundingsColumn {
    /// More than two sides can have, in bytes.
    private static let sizeLimit = 1 << 18

    static func text(of surroundings: [String: Surroundings]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings in dictionaries can always be encoded.
        return String(decoding: (try? encoder.encode(surroundings)) ?? Data("{}".utf8), as: UTF8.self)
    }

    /// - Returns: nil for any other text.
    static func read(_ text: String) -> [String: Surroundings]? {
        guard text.utf8.count <= sizeLimit else { return nil }
        return try? JSONDecoder().decode([String: Surroundings].self, from: Data(text.utf8))
    }
}
