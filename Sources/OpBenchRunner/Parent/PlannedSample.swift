import OpBenchModel

/// One sample to be taken: one process.
public struct PlannedSample: Sendable, Hashable {
    /// Its place in the order of the whole plan, from 0.
    public let index: Int
    public let cell: Cell
    public let backend: BackendID
    let flavour: SampleFlavour
    /// Within the cell and kind, from 0.
    public let block: Int
    /// Within the block, from 0.
    public let position: Int
    /// Which build; nil in a run of one.
    public let side: Side?
    /// Samples of later stages are taken only of cells that earlier ones left open.
    let stage: Int

    public var kind: SampleKind { flavour.kind }

    /// What the process gets: the cell as its block draws it, alike for all backends and sides. Memory samples have the
    /// cell's own draw in every block, since exact counts of different draws would not agree.
    var drawnCell: Cell { kind == .memory ? cell : cell.drawn(inBlock: block) }

    /// The place in the order and the flavour: `00123-latency`.
    public var id: String { Self.id(index, flavour, isRerun: false) }

    /// The id of a repeat: `00123r-latency`.
    var rerunID: String { Self.id(index, flavour, isRerun: true) }

    /// The id of the sample that one of that id repeats; the same of one that repeats none.
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
