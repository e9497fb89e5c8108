import OpBenchModel

/// One planned sample, which is one process.
public struct PlannedSample: Sendable, Hashable {
    /// Its position in the whole plan, from 0.
    public let index: Int
    public let cell: Cell
    public let backend: BackendID
    public let flavour: SampleFlavour
    /// Within the cell and kind, from 0.
    public let block: Int
    /// Within the block, from 0.
    public let position: Int
    /// The build; nil in a run of one build.
    public let side: Side?
    /// Later stages sample only the cells that earlier stages left open.
    let stage: Int

    public var kind: SampleKind { flavour.kind }

    /// The cell with its block's random draw, which is the same for all backends and sides. Samples of counts use the
    /// cell's own draw in every block, since exact counts of different draws would not agree.
    var drawnCell: Cell { kind.isOfCounts ? cell : cell.drawn(inBlock: block) }

    /// The index and the flavour: `00123-latency`.
    public var id: String { Self.id(index, flavour, isRerun: false) }

    /// The id of a repeat: `00123r-latency`.
    var rerunID: String { Self.id(index, flavour, isRerun: true) }

    /// The id of the sample that a repeat repeats; other ids are returned unchanged.
    static func repeatedID(of id: String) -> Substring {
        let number = id.prefix { $0 != "-" }
        return number.last == "r" ? number.dropLast() + id[number.endIndex...] : id[...]
    }

    private static func id(_ index: Int, _ flavour: SampleFlavour, isRerun: Bool) -> String {
        let digits = String(index)
        let zeros = String(repeating: "0", count: max(0, 5 - digits.count))
        return "\(zeros)\(digits)\(isRerun ? "r" : "")-\(flavour.rawValue)"
    }
}

/// A sample as listed in `run.json`: `00012-throughput engine block=3 side=base w depth=10`.
struct PlannedName {
    let id: Substring
    let backend: String
    let cellID: Substring

    init(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 3)
        id = parts.first ?? ""
        backend = parts.count > 1 ? String(parts[1]) : ""
        let rest = parts.count > 3 ? parts[3] : ""
        cellID = rest.hasPrefix("side=") ? rest.drop { $0 != " " }.dropFirst() : rest
    }

    var flavour: SampleFlavour? { SampleFlavour(ofSample: id) }

    /// The sample's position in the whole plan.
    var index: Int { Int(id.prefix { $0 != "-" }) ?? 0 }
}
