import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// Figures of different kinds of host are not comparable. A merged run may have several kinds, so runs are checked cell
/// by cell.
extension MeasuredRun {
    /// Refuses two runs if any of their figures would be compared across kinds of host.
    ///
    /// - Parameter ignored: parameters that matching cells may differ in.
    static func checkSameHost(
        _ base: MeasuredRun, _ head: MeasuredRun, ignoring ignored: Set<String> = []
    ) throws(InputError) {
        guard let (one, other) = facts(base, head) else { return }
        if one.machines.count == 1, other.machines.count == 1 {
            warnOfWork(head, other.machines[0], base, one.machines[0])
            return try check(one.hostKind, base, other.hostKind, head)
        }
        let ofBase = base.samples.uniqued(by: \.cellID).map { ($0.cellIdentity(ignoring: ignored), $0.cellID) }
        let cells = Dictionary(ofBase) { $1 }
        var (differing, first) = (0, InputError?.none)
        var warned: Set<String> = []
        for row in head.samples.uniqued(by: \.cellID) {
            guard let cell = cells[row.cellIdentity(ignoring: ignored)], let old = one.machine(of: cell),
                let new = other.machine(of: row.cellID)
            else { continue }
            if let (what, ofBase, ofHead) = old.kind.difference(from: new.kind) {
                differing += 1
                first =
                    first
                    ?? InputError(
                        file: head.name,
                        message: "the \(what) of the cell \"\(row.cellID)\" is \"\(ofHead)\", in \(base.name) it is "
                            + "\"\(ofBase)\"", remedy: "measure each cell on machines and with builds of one kind")
            } else if warned.insert("\(old.shards) \(new.shards)").inserted {
                warnOfWork(head, new, base, old)
            }
        }
        guard var first else { return }
        if differing > 1 { first.message += " (and the same for \(counted(differing - 1, "more cell")))" }
        throw first
    }

    /// Refuses runs of different kinds of host if each is judged by itself, as by goals.
    static func checkSameHosts(_ runs: [MeasuredRun]) throws(InputError) {
        for run in runs.dropFirst() {
            guard let (one, other) = facts(runs[0], run) else { continue }
            let strange = other.hostKinds.first { !one.hostKinds.contains($0) }
            if let strange { try check(one.hostKinds[0], runs[0], strange, run) }
        }
    }

    /// The known facts around the code that differ between two runs, on the machines of the cells that both have.
    static func surroundingChanges(_ base: MeasuredRun, _ head: MeasuredRun) -> [SurroundingChange] {
        guard let one = base.facts, let other = head.facts else { return [] }
        if one.machines.count == 1, other.machines.count == 1 {
            return one.machines[0].surroundings.changes(to: other.machines[0].surroundings)
        }
        var changes: [SurroundingChange] = []
        for cell in head.samples.lazy.map(\.cellID).uniqued() {
            guard let old = one.machine(of: cell), let new = other.machine(of: cell) else { continue }
            changes += old.surroundings.changes(to: new.surroundings)
        }
        return changes.uniqued()
    }

    private static func facts(_ base: MeasuredRun, _ head: MeasuredRun) -> (RunFacts, RunFacts)? {
        if let one = base.facts, let other = head.facts { return (one, other) }
        StandardError.say("opbench: warning: run.json is missing next to the rows, so the hosts may differ")
        return nil
    }

    private static func check(
        _ one: HostKind, _ base: MeasuredRun, _ other: HostKind, _ head: MeasuredRun
    ) throws(InputError) {
        guard let (what, ofBase, ofHead) = one.difference(from: other) else { return }
        throw InputError(
            file: head.name, message: "the \(what) is \"\(ofHead)\", but \(base.name) has \"\(ofBase)\"",
            remedy: "compare runs of the same kind of machine and build")
    }

    private static func warnOfWork(_ head: MeasuredRun, _ new: RunMachine, _ base: MeasuredRun, _ old: RunMachine) {
        let work = new.iterationsPerNanosecond / old.iterationsPerNanosecond
        if (0.99...1.01).contains(work) { return }
        let of = [new, old].map { $0.shards.isEmpty ? "" : " (shard \($0.shards.joined(separator: ", ")))" }
        StandardError.say(
            "opbench: warning: \(head.name)\(of[0]) did \(Quantities.ratio(work)) the work of \(base.name)\(of[1]) for "
                + "the same work_ns; `run --calibration \(base.name)` makes them equal")
    }
}

extension [MeasuredRun] {
    /// The host of each cell; each cell is in one of the runs.
    var hostsOfCells: [String: HostKind] { reduce(into: [:]) { $0.merge($1.hostsOfCells) { first, _ in first } } }
}
