import OpBenchAnalysis
import OpBenchModel

/// A run's findings in sentences: one for each workload, and one for each caveat.
struct FindingSentences {
    private let rows: [SummaryRow]
    private let context: SummaryContext
    /// Whether the sentences are below a table with a mark for each restriction of a result.
    private let isBelowMarks: Bool
    private let names: [String: CellNames]

    /// - Parameters:
    ///   - rows: the rows of a run, in the order of its cells and backends.
    ///   - isBelowMarks: false leaves out all but the answers and what restricts all of them.
    init(_ rows: [SummaryRow], _ context: SummaryContext, isBelowMarks: Bool = false) {
        self.rows = rows.filter(\.operationClass.isEmpty)
        (self.context, self.isBelowMarks) = (context, isBelowMarks)
        names = Dictionary(grouping: self.rows, by: \.workload).mapValues { rows in
            CellNames(rows.map { ($0.cellID, $0.parameters) })
        }
    }

    /// Sentences with names from files, not escaped; empty without measured rows.
    var lines: [String] {
        rows.byWorkload.compactMap(answer) + caveats + (isBelowMarks ? levels + modes : [])
    }

    // MARK: Answers

    /// `dependency-chains: engine takes 0.57–0.82× dispatch's time; foundation 18–32×`; nil if nothing has a verdict, and
    /// no figure is what the workload is about.
    private func answer(_ rows: [SummaryRow]) -> String? {
        let crossings = crossings(rows)
        if !crossings.isEmpty { return "\(rows[0].workload): \(crossings)" }
        // The price of a form is in the table.
        let findings = RatioFindings.all(of: rows).filter { !$0.backend.backend.isForm }
        var times: [String] = []
        for finding in findings {
            if let text = times.isEmpty ? detailed(finding) : brief(finding) { times.append(text) }
        }
        let parts = times + Figure.special.compactMap { special($0, rows) }
        return parts.isEmpty ? nil : "\(rows[0].workload): \(parts.joined(separator: "; "))"
    }

    /// `engine takes 0.44× dispatch's time (closures), shows no difference (block operations)`; nil without a verdict.
    private func detailed(_ findings: RatioFindings) -> String? {
        let verdicts = [.faster, .noDifference, .slower, .unknown].map { findings[$0] }.filter { !$0.isEmpty }
        // A few cells have a ratio each.
        let parts = verdicts.flatMap { rows in
            let isOne =
                rows.count > Self.mostListed || rows[0].ratioVerdict == .noDifference
                || Set(rows.map { factor([$0]) }).count == 1
            return isOne ? [rows] : rows.map { [$0] }
        }
        var named: BackendID?
        let words = parts.map { rows in
            let reference = rows[0].ratioTo ?? findings.baseline
            let (verb, new) = (named == nil ? "takes " : "", reference == named ? nil : reference.rawValue)
            named = reference
            let ratio =
                rows[0].ratioVerdict == .noDifference
                ? "shows no difference" + (new.map { " from \($0)" } ?? "")
                : verb + factor(rows) + (new.map { " \($0)'s time" } ?? "")
            return ratio + (parts.count == 1 ? "" : " (\(cells(rows)))")
        }
        return words.isEmpty ? nil : "\(findings.backend.title) \(words.joined(separator: ", "))"
    }

    /// `foundation 18–32×`; nil without a verdict.
    private func brief(_ findings: RatioFindings) -> String? {
        let rows = [.faster, .noDifference, .slower, .unknown].flatMap { findings[$0] }
        return rows.isEmpty ? nil : "\(findings.backend.title) \(factor(rows))"
    }

    /// The ratios of times, from the least to the greatest: `0.57–0.82×`, after `about` if few blocks leave them open.
    private func factor(_ rows: [SummaryRow]) -> String {
        let sorted = rows.sorted { ($0[.timeRatio].value ?? 0) < ($1[.timeRatio].value ?? 0) }
        let isOpen = sorted.contains { row in
            row.ratioVerdict == .unknown
                && (1 / Self.beyondDoubt..<Self.beyondDoubt).contains(row[.timeRatio].value ?? 1)
        }
        return (isOpen ? "about " : "") + range(sorted.map { context.short(.timeRatio, $0) })
    }

    /// A ratio so far from 1 that the scatter of single blocks cannot make it.
    private static let beyondDoubt = 4.0
    /// The most cells of one verdict that have a ratio each.
    private static let mostListed = 3

    /// The first and the last of sorted figures: `0.57–0.82×`, `0–3.7k`.
    private func range(_ texts: [String]) -> String {
        guard let first = texts.first, let last = texts.last, first != last else { return texts.first ?? "" }
        return "\(first.hasSuffix("×") ? String(first.dropLast()) : first)–\(last)"
    }

    /// Up to three cells by name, or their number.
    private func cells(_ rows: [SummaryRow]) -> String {
        if rows.count > Self.mostListed { return "in \(rows.count) cells" }
        return rows.map(cell).joined(separator: ", ")
    }

    /// The file's words for a cell, or the parameters that no other cell has.
    private func cell(_ row: SummaryRow) -> String {
        context.words[row.cellID] ?? names[row.workload]?.shortName(of: row.cellID) ?? row.cellID
    }

    /// `inversions: engine 0–140, dispatch 3.7k`; nil if no backend has the figure.
    private func special(_ figure: Figure, _ rows: [SummaryRow]) -> String? {
        let parts = rows.backendSides.filter { !$0.backend.isForm }.compactMap { backend -> String? in
            let found = rows.filter { $0.backendSide == backend && $0[figure].value != nil }
            let sorted = found.sorted { ($0[figure].value ?? 0) < ($1[figure].value ?? 0) }
            return found.isEmpty ? nil : "\(backend.title) \(range(sorted.map { context.short(figure, $0) }))"
        }
        return parts.isEmpty ? nil : "\(ColumnTitle(figure.title).plain): \(parts.joined(separator: ", "))"
    }

    /// `smallest operation with at least 50 % efficiency: engine 310 ns (290–330), dispatch 640 ns`; empty without a sweep.
    private func crossings(_ rows: [SummaryRow]) -> String {
        let findings = SweepFinding.all(of: rows).filter { !$0.backend.backend.isForm }
        guard let kind = findings.first?.kind else { return "" }
        let (question, unit): (String, Metric.Unit) =
            switch kind {
            case .granularity: ("smallest operation with at least 50 % efficiency", .nanoseconds)
            case .load: ("p99 passes 1 ms at this load", .ratio)
            case .rate: ("p99 passes 1 ms at this rate", .perSecond)
            }
        func text(_ value: Double) -> String {
            unit == .ratio ? Quantities.count(value) : Quantities.short(value, width: nil, in: unit, resolution: 0)
        }
        let places = findings.map { finding in
            let place =
                switch finding.place {
                case .before(let x): "below \(text(x))"
                case .after(let x): "above \(text(x))"
                case .between(let x, let y): "between \(text(x)) and \(text(y))"
                case .at(let x, let low, let high):
                    text(x)
                        + (low.flatMap { low in
                            high.map { " (\(Quantities.interval(low, $0, around: x, in: unit)))" }
                        } ?? "")
                }
            return "\(finding.backend.title) \(place)"
        }
        return "\(question): \(places.joined(separator: ", "))"
    }

    /// The cell's name among the others of its workload, after the workload's name if there are several.
    private func name(of row: SummaryRow) -> String {
        let cell = names[row.workload]?.name(of: row.cellID) ?? row.cellID
        return cell.isEmpty ? row.workload : names.count == 1 ? cell : "\(row.workload) \(cell)"
    }

    // MARK: Caveats

    /// A sentence for each restriction that applies to all measured rows, and one for the serious ones of some.
    private var caveats: [String] {
        let marks = rows.filter { $0.samples > 0 }.map { Set(RowMark.marks(of: $0, isQuick: false)) }
        let isNoisy = 2 * marks.count { $0.contains(.mostlyNoisy) } > marks.count
        if context.isQuick {
            return (marks.isEmpty ? [] : [RowMark.quick.meaning]) + (isNoisy ? [RowMark.mostlyNoisy.meaning] : [])
        }
        let counts = RowMark.pairs.map { pair in
            (
                pair: pair, any: marks.count { $0.contains(pair.some) || $0.contains(pair.most) },
                most: marks.count { $0.contains(pair.most) }
            )
        }.filter { $0.any > 0 }
        func isOfAll(_ count: (pair: RowMark.Pair, any: Int, most: Int)) -> Bool {
            count.any == marks.count || isNoisy && count.pair.some == .noisy
        }
        let all = counts.filter(isOfAll)
            .map { (2 * $0.most > $0.any ? $0.pair.most : $0.pair.some).meaning }
        let some = counts.filter { !isOfAll($0) && ($0.most > 0 || $0.pair.isSerious) }.map { count in
            "\(count.pair.isSerious ? count.any : count.most) \(count.pair.words)"
        }
        guard isBelowMarks, !some.isEmpty else { return all }
        return all + ["of \(counted(marks.count, "result")), \(some.joined(separator: ", "))"]
    }

    /// The sentence about rounds that changed their level: the run's rate, and the results that stand out; none without
    /// such results. `rounds changed their level in 61 of 172 samples, beyond chance in engine depth=2 (7 of 7)`
    private var levels: [String] {
        let found = rows.filter(\.isUnsteady)
        if found.isEmpty { return [] }
        let (unsteady, samples) = rows.compactMap(\.quality).reduce((0, 0)) { ($0.0 + $1.unsteady, $0.1 + $1.levelled) }
        var names = found.prefix(Self.mostNamed).map { row in
            "\(row.backendSide.title), \(name(of: row)) (\(row.quality?.unsteady ?? 0) of \(row.quality?.levelled ?? 0))"
        }
        let rest = found.count - names.count
        if rest > 0 { names.append("\(rest) more, marked \(RowMark.unsteady.rawValue)") }
        return [
            "rounds changed their level in \(unsteady) of \(samples) samples, "
                + "beyond chance in \(names.joined(separator: "; "))"
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
