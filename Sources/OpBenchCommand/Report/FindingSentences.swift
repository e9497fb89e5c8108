import OpBenchAnalysis
import OpBenchModel

/// A run's findings in sentences: one for each workload, and one for each caveat.
struct FindingSentences {
    private let rows: [SummaryRow]
    private let isQuick: Bool
    /// The place where single results have their marks; nil for the answers alone.
    private let whereMarked: String?
    private let names: [String: CellNames]

    /// - Parameters:
    ///   - rows: the rows of a run, in the order of its cells and backends.
    ///   - isQuick: whether they were measured with `--quick`.
    ///   - whereMarked: the place where single results have their marks; nil leaves out all but the answers and what
    ///     restricts all of them.
    init(_ rows: [SummaryRow], isQuick: Bool, whereMarked: String?) {
        self.rows = rows.filter(\.operationClass.isEmpty)
        (self.isQuick, self.whereMarked) = (isQuick, whereMarked)
        names = Dictionary(grouping: self.rows, by: \.workload).mapValues { rows in
            CellNames(rows.map { .init(id: $0.cellID, parameters: $0.parameters) })
        }
    }

    /// Sentences with names from files, not escaped; empty without measured rows.
    var lines: [String] {
        let answers = busyMachine + rows.byWorkload.compactMap(answer)
        return answers + caveats + (whereMarked == nil ? [] : levels + modes)
    }

    /// A sentence about the ratios of times that differ on a busy machine without CPU time; empty without them.
    private var busyMachine: [String] {
        let ratios = rows.compactMap(\.ratioVerdict)
        let count = ratios.count { $0 == .busyMachine }
        if count == 0 { return [] }
        let some = count == ratios.count ? "" : " in \(count) of \(ratios.count) ratios"
        return ["no difference shown\(some): the machine was busy, and CPU time does not show what time shows"]
    }

    // MARK: Answers

    /// `dependency-chains: engine takes 0.57–0.82× dispatch's time; foundation 18–32×`; nil if nothing has a verdict, and
    /// no figure is what the workload is about.
    private func answer(_ rows: [SummaryRow]) -> String? {
        // The price of a form is in the table.
        let findings = RatioFindings.all(of: rows).filter { !$0.backend.backend.isForm }
        var times: [String] = []
        for finding in findings {
            if let text = time(finding, isFirst: times.isEmpty) { times.append(text) }
        }
        let parts = times + Figure.special.compactMap { special($0, rows) }
        return parts.isEmpty ? nil : "\(rows[0].workload): \(parts.joined(separator: "; "))"
    }

    /// `engine takes 0.44× dispatch's time (form=closure), no difference shown (form=block)`; nil without a verdict.
    private func time(_ findings: RatioFindings, isFirst: Bool) -> String? {
        let even = findings[.noDifference] + findings[.busyMachine]
        let groups = [
            (rows: findings[.faster], words: factor(findings[.faster])), (even, ""),
            (findings[.slower], factor(findings[.slower])),
            (findings[.unknown], "about \(factor(findings[.unknown]))"),
        ].filter { !$0.rows.isEmpty }
        let words = groups.enumerated().map { index, group in
            let names = isFirst && index == 0
            let own = Set(group.rows.compactMap(\.ratioTo))
            // Cells on another axis have another reference.
            let other = own.count == 1 && !own.contains(findings.baseline) ? own.first?.rawValue : nil
            let reference = other ?? (names ? findings.baseline.rawValue : nil)
            let words =
                group.words.isEmpty
                ? "shows no difference" + (reference.map { " from \($0)" } ?? "")
                : (names ? "takes " : "") + group.words + (reference.map { " \($0)'s time" } ?? "")
            return words + (groups.count > 1 ? " (\(cells(group.rows)))" : "")
        }
        return words.isEmpty ? nil : "\(findings.backend.title) \(words.joined(separator: ", "))"
    }

    /// The ratios of times, from the least to the greatest: `0.57–0.82×`.
    private func factor(_ rows: [SummaryRow]) -> String {
        let ratios = rows.compactMap { $0[.timeRatio].value }.sorted().map {
            Quantities.short($0, width: nil, in: .ratio, resolution: 0)
        }
        guard let first = ratios.first, let last = ratios.last, first != last else { return ratios.first ?? "" }
        return "\(first.dropLast())–\(last)"
    }

    /// Up to two cells by name, or their number.
    private func cells(_ rows: [SummaryRow]) -> String {
        if rows.count > 2 { return "in \(rows.count) cells" }
        return rows.map { names[$0.workload]?.shortName(of: $0.cellID) ?? $0.cellID }.joined(separator: ", ")
    }

    /// `inversions: engine 0–140, dispatch 3.7k`; nil if no backend has the figure.
    private func special(_ figure: Figure, _ rows: [SummaryRow]) -> String? {
        let parts = rows.backendSides.filter { !$0.backend.isForm }.compactMap { backend -> String? in
            let values = rows.filter { $0.backendSide == backend }.compactMap { $0[figure].value }.sorted().map {
                Quantities.short($0, width: nil, in: figure.unit, resolution: 0)
            }
            guard let first = values.first, let last = values.last else { return nil }
            return "\(backend.title) \(first == last ? first : "\(first)–\(last)")"
        }
        return parts.isEmpty ? nil : "\(ColumnTitle(figure.title).plain): \(parts.joined(separator: ", "))"
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
        guard let whereMarked, !some.isEmpty else { return all }
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
