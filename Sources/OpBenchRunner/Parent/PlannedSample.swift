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
    let block: Int
    let cellID: Substring

    init(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 3)
        id = parts.first ?? ""
        backend = parts.count > 1 ? String(parts[1]) : ""
        let number = parts.count > 2 ? Int(parts[2].dropFirst("block=".count)) ?? 0 : 0
        // No planned sample has another number, and adding one to it could overflow.
        block = (0..<Int(Int32.max)).contains(number) ? number : 0
        let rest = parts.count > 3 ? parts[3] : ""
        cellID = rest.hasPrefix("side=") ? rest.drop { $0 != " " }.dropFirst() : rest
    }

    var flavour: SampleFlavour? { SampleFlavour(ofSample: id) }

    /// The sample's position in the whole plan.
    var index: Int { Int(id.prefix { $0 != "-" }) ?? 0 }
}

/// Rough estimates of the time that a sample takes.
enum SampleEstimate {
    /// Starting the process and warming up.
    private static let start = 0.04
    /// The start of a sample under callgrind, and what callgrind multiplies.
    private static let (callgrind, callgrindFactor) = (5.0, 50.0)

    static func seconds(of sample: PlannedSample, _ options: RunOptions) -> Double {
        seconds(
            of: sample.cell, on: sample.backend, sample.flavour, targetNanoseconds: options.targetNanoseconds)
    }

    static func seconds(
        of cell: Cell, on backend: BackendID, _ flavour: SampleFlavour, targetNanoseconds: Int64
    ) -> Double {
        let round = cell.roundSeconds(on: backend)
        switch flavour {
        case .instructions:
            let operation = round / Double(max(1, cell.operationCount))
            let limits = ProfileOrder.Limits.fitting(cpuNanosecondsPerOperation: operation * 1e9)
            let operations = Double(limits.operations * (limits.rounds + InstructionTrial.uncountedRounds))
            return callgrind + callgrindFactor * operations * operation
        case .throughput, .latency, .counters:
            if flavour == .latency, let rounds = cell.latencyRounds { return start + rounds * round }
            return start + max(1.3 * Double(targetNanoseconds) / 1e9, round)
        case .allocations: return start + (round < 1 ? 4.2 : 2.2) * round
        case .heap, .calls, .check: return start + 1.2 * round
        }
    }

    /// A profiled sample, which runs rounds in pairs, for three times its target at most.
    static func seconds(ofProfile cell: Cell, on backend: BackendID, targetSeconds: Double) -> Double {
        start + 3 * targetSeconds + 2 * cell.roundSeconds(on: backend)
    }
}

/// The time limit of a sample that the user gives none: a multiple of the time that it is planned to take, so that a
/// busy machine or a slow build ends no sample.
public enum TimeLimitOfSample {
    public static let multiple = 5.0
    /// The least limits of samples of a run, and of profiled ones, in seconds.
    public static let (least, leastOfProfile) = (30.0, 60.0)
    public static let most = 86_400.0

    static func seconds(planned: Double, least: Double = least) -> Double {
        min(most, max(least, (multiple * planned).rounded(.up)))
    }
}
