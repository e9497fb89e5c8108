import OpBenchAnalysis
import OpBenchModel

/// A run's findings in sentences: one for each backend against the baseline, and one for each caveat.
struct FindingSentences {
    private let rows: [SummaryRow]
    private let isQuick: Bool
    private let whereMarked: String
    private let names: [String: CellNames]

    /// - Parameters:
    ///   - rows: the rows of a run, in the order of its cells and backends.
    ///   - isQuick: whether they were measured with `--quick`.
    ///   - whereMarked: the place where single results have their marks.
    init(_ rows: [SummaryRow], isQuick: Bool, whereMarked: String = "--wide") {
        self.rows = rows.filter(\.operationClass.isEmpty)
        (self.isQuick, self.whereMarked) = (isQuick, whereMarked)
        names = Dictionary(grouping: self.rows, by: \.workload).mapValues { rows in
            CellNames(rows.map { .init(id: $0.cellID, parameters: $0.parameters) })
        }
    }

    /// Sentences with names from files, not escaped; empty without measured rows.
    var lines: [String] {
        let findings = RatioFindings.all(of: rows)
        return busyMachine(findings) + findings.map(sentence) + caveats + levels + modes
    }

    /// A sentence about the ratios of times that differ on a busy machine without CPU time; empty without them.
    private func busyMachine(_ findings: [RatioFindings]) -> [String] {
        let count = findings.reduce(0) { $0 + $1[.busyMachine].count }
        if count == 0 { return [] }
        let ratios = rows.count { $0.ratioVerdict != nil }
        let some = count == ratios ? "" : " in \(count) of \(ratios) ratios"
        return ["no difference shown\(some): the machine was busy, and CPU time does not show what time shows"]
    }

    /// `engine vs dispatch: faster in 8 cells (0.42–0.94×), no difference shown in 7, slower in 3 (1.1–2.2×: most in …)`
    private func sentence(_ findings: RatioFindings) -> String {
        let slower = findings[.slower]
        let worst = slower.last.map { (slower.count == 1 ? "" : "most in ") + name(of: $0) } ?? ""
        let counts = [
            (rows: findings[.faster], verb: "faster in", detail: range(findings[.faster])),
            (findings[.noDifference] + findings[.busyMachine], "no difference shown in", ""),
            (slower, "slower in", "\(range(slower)): \(worst)"),
            (findings[.incomparable], "not comparable in", ""),
            (findings[.unknown], "too few blocks for a verdict in", ""),
        ].filter { !$0.rows.isEmpty }
        let parts = counts.enumerated().map { index, part in
            let noun = index > 0 ? "" : part.rows.count == 1 ? " cell" : " cells"
            return "\(part.verb) \(part.rows.count)\(noun)" + (part.detail.isEmpty ? "" : " (\(part.detail))")
        }
        return "\(findings.backend.title) vs \(findings.baseline.rawValue): \(parts.joined(separator: ", "))"
    }

    private func range(_ rows: [SummaryRow]) -> String {
        let ratios = rows.compactMap { $0[.timeRatio].value }.map {
            Quantities.short($0, width: nil, in: .ratio, resolution: 0)
        }
        guard let first = ratios.first, let last = ratios.last, first != last else { return ratios.first ?? "" }
        return "\(first.dropLast())–\(last)"
    }

    /// The cell's name among the others of its workload, after the workload's name if there are several.
    private func name(of row: SummaryRow) -> String {
        let cell = names[row.workload]?.name(of: row.cellID) ?? row.cellID
        return cell.isEmpty ? row.workload : names.count == 1 ? cell : "\(row.workload) \(cell)"
    }

    // MARK: Caveats

    /// A sentence for each restriction that applies to all measured rows, and one for the serious ones of some.
    private var caveats: [String] {
        let marks = rows.filter { $0.samples > 0 }.map { Set(RowMark.marks(of: $0, isQuick: isQuick)) }
        let counts = RowMark.pairs.map { pair in
            (
                pair: pair, any: marks.count { $0.contains(pair.some) || $0.contains(pair.most) },
                most: marks.count { $0.contains(pair.most) }
            )
        }.filter { $0.any > 0 }
        let all = counts.filter { $0.any == marks.count }
            .map { (2 * $0.most > $0.any ? $0.pair.most : $0.pair.some).meaning }
        let some = counts.filter { $0.any < marks.count && ($0.most > 0 || $0.pair.isSerious) }.map { count in
            "\(count.pair.isSerious ? count.any : count.most) \(count.pair.words)"
        }
        guard !some.isEmpty else { return all }
        return all + [
            "of \(counted(marks.count, "result")), \(some.joined(separator: ", ")); \(whereMarked) marks them"
        ]
    }

    /// The sentence about rounds that changed their level: the run's rate, and the results that stand out; none without
    /// such rounds. `rounds changed their level in 61 of 172 samples, beyond chance in engine depth=2 (7 of 7)`
    private var levels: [String] {
        let (unsteady, samples) = rows.compactMap(\.quality).reduce((0, 0)) { ($0.0 + $1.unsteady, $0.1 + $1.levelled) }
        guard unsteady > 0 else { return [] }
        let found = rows.filter(\.isUnsteady)
        var names = found.prefix(Self.mostNamed).map { row in
            "\(row.backendSide.title), \(name(of: row)) (\(row.quality?.unsteady ?? 0) of \(row.quality?.levelled ?? 0))"
        }
        let rest = found.count - names.count
        if rest > 0 { names.append("\(rest) more, marked \(RowMark.unsteady.rawValue)") }
        return [
            "rounds changed their level in \(unsteady) of \(samples) samples, "
                + "beyond chance in \(names.isEmpty ? "none" : names.joined(separator: "; "))"
        ]
    }

    /// A sentence for each of the first bimodal results: `bimodal: engine depth=2, 102 ns (5 samples) or 151 ns (2)`
    private var modes: [String] {
        let found = rows.filter { $0.modes.low != nil }
        let sentences = found.prefix(Self.mostNamed).compactMap { row -> String? in
            let modes = row.modes
            guard let low = modes.low, let high = modes.high, let ofHigh = modes.highSamples else { return nil }
            let (first, second) = (Quantities.time(low), Quantities.time(high))
            return
                "bimodal: \(row.backendSide.title), \(name(of: row)): \(first) in \(counted(row.samples - ofHigh, "sample")), "
                + "\(second) in \(ofHigh)"
        }
        let rest = found.count - sentences.count
        return sentences
            + (rest > 0 ? ["bimodal: \(counted(rest, "more result")), marked \(RowMark.bimodal.rawValue)"] : [])
    }

    private static let mostNamed = 5
}
