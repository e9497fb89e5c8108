import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// A description of a recorded run: when, where and from which sources it was measured, its size and its problems.
struct RunDescription {
    private let run: MeasuredRun

    init(_ run: MeasuredRun) { self.run = run }

    /// The known facts; texts may come from a file.
    var entries: [(term: String, meaning: String)] {
        let facts = run.facts
        let known: [(String, String?)] = [
            ("run", run.samples[0].runID + (state.map { ", \($0)" } ?? "")),
            ("measured", measured),
            ("host", facts.map { "\($0.hostClass), \($0.configuration) build" }), ("machines", machines),
            ("sweep", sweep),
            ("allocator", facts.map { HostKind.shortened(allocator: $0.allocator) }),
            ("commit", commit),
            ("blocks", blocks), ("samples", samples), ("precision", run.facts.flatMap(Self.precision)),
            ("command", facts.map { ShellWords.joined($0.arguments) }),
        ]
        return known.compactMap { term, meaning in meaning.map { (term, $0) } }
    }

    /// The date, an unusual state and the machine, for the line below a page's title.
    var heading: [String] {
        let unusual = state == Self.finished ? nil : state
        return [started, unusual, run.facts?.hostClass].compactMap(\.self)
    }

    private static let finished = "finished"

    /// How far the run came: `finished`, `interrupted after 3 of 21 samples`; nil if not recorded.
    var state: String? {
        guard let facts = run.facts, let progress = facts.progress else { return nil }
        let done = "\(progress.samplesDone) of \(counted(facts.samplesPlanned, "sample"))"
        let state =
            switch progress.state {
            case .finished: Self.finished
            case .cancelled where facts.isMerged:
                "merged without some shards, \(counted(progress.samplesDone, "sample"))"
            case .cancelled: "interrupted after " + done
            case .running: "running or killed after " + done
            }
        return state + (facts.isQuick ? ", --quick" : "")
    }

    /// When it began; nil if not recorded.
    var started: String? {
        let first = run.facts?.startedUTC ?? run.samples.first { !$0.timestampUTC.isEmpty }?.timestampUTC
        return first.map(Self.seconds)
    }

    private var measured: String? {
        started.map { $0 + (run.facts?.progress?.endedUTC.map { " to " + Self.seconds($0) } ?? "") }
    }

    /// Turns `2026-11-23T05:59:13.428Z` into `2026-11-23 05:59:13 UTC`; other text is returned unchanged.
    private static func seconds(_ timestamp: String) -> String {
        let parts = timestamp.split(separator: "T")
        guard parts.count == 2, parts[1].hasSuffix("Z") else { return timestamp }
        return "\(parts[0]) \(parts[1].dropLast().prefix { $0 != "." }) UTC"
    }

    /// The commit of the sources, if known.
    var commit: String? {
        run.facts.flatMap { facts in
            facts.commit.map { $0.prefix(10) + (facts.isDirty ? " and changes" : "") }
        }
    }

    /// The number of blocks of the cells, by kind of sample: `7 throughput, 3–5 latency`.
    var blocks: String? {
        var blocks: [SampleKind: [String: Set<Int>]] = [:]
        var previous = ""
        for row in run.samples where row.sampleID != previous && row.status == .ok {
            previous = row.sampleID
            guard let kind = row.kind else { continue }
            blocks[kind, default: [:]][row.cellID, default: []].insert(row.block)
        }
        let counts = SampleKind.allCases.compactMap { kind -> String? in
            let counts = (blocks[kind] ?? [:]).values.map(\.count)
            guard let least = counts.min(), let most = counts.max() else { return nil }
            return (least == most ? "\(least)" : "\(least)–\(most)") + " \(kind.rawValue)"
        }
        return counts.isEmpty ? nil : counts.joined(separator: ", ")
    }

    /// The figures of a run for a precision, and the cells that it left less certain; nil for other runs, and before its
    /// end.
    static func precision(of facts: RunFacts) -> String? {
        guard let precision = facts.precision, let cells = facts.impreciseCells else { return nil }
        let (all, withoutRatio) = facts.timedCells
        let figures =
            switch withoutRatio {
            case 0: "ratios"
            case all: "times, since no cell has a ratio"
            default: "ratios, or of the times in \(withoutRatio) of \(all) cells, which have none"
            }
        let percent = "±\(Quantities.percent(precision)) of the \(figures)"
        if cells.isEmpty { return "\(percent), reached in all cells" }
        let more = cells.count > mostCells ? " and \(cells.count - mostCells) more" : ""
        return "\(percent), not reached in \(counted(cells.count, "cell")): "
            + cells.prefix(mostCells).joined(separator: "; ") + more
    }

    private static let mostCells = 5

    /// The machines' names with their shards, and their classes if the run has several; nil if names are not recorded.
    private var machines: String? {
        guard let facts = run.facts else { return nil }
        let named = facts.machines.compactMap { machine in
            machine.name.map { (key: [$0, machine.kind.hostClass], shards: machine.shards) }
        }
        guard named.count > 1, named.count == facts.machines.count else { return nil }
        let isMixed = facts.hostKinds.count > 1
        return named.map(\.key).uniqued().map { key in
            let shards = named.filter { $0.key == key }.flatMap(\.shards)
            let list = (shards.count == 1 ? "shard " : "shards ") + shards.joined(separator: " ")
            let facts = (shards.isEmpty ? [] : [list]) + (isMixed ? [key[1]] : [])
            return key[0] + (facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))")
        }.joined(separator: ", ")
    }

    private var sweep: String? {
        run.facts.flatMap { facts in
            facts.sweep.map { "\($0.prefix(12))" + (facts.shard.map { ", shard \($0.part)" } ?? "") }
        }
    }

    /// The number of samples, and of those that are noisy or bad.
    var samples: String {
        let doubtful = DoubtfulSamples([run.samples])
        var parts = [("noisy", doubtful.noisy), ("taken again", doubtful.repeated)]
        var failed: [SampleStatus: Set<String>] = [:]
        for row in run.samples where ![.ok, .unsupported, .skipped].contains(row.status) {
            failed[row.status, default: []].insert(row.sampleID)
        }
        parts += SampleStatus.allCases.map { ($0.rawValue, failed[$0]?.count ?? 0) }
        let bad = parts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        return "\(doubtful.total), " + (bad.isEmpty ? "none noisy or bad" : bad.joined(separator: ", "))
    }
}
