import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// Figures of different kinds of host say nothing of each other. A run that was merged of parts may have several; what is
/// compared is then looked at cell by cell.
extension RecordedRun {
    /// Refuses two runs of which figures would be compared across kinds of host.
    ///
    /// - Parameter ignored: parameters in which matching cells may differ.
    static func checkSameHost(
        _ base: RecordedRun, _ head: RecordedRun, ignoring ignored: Set<String> = []
    ) throws(InputError) {
        guard let (one, other) = facts(base, head) else { return }
        if one.machines.count == 1, other.machines.count == 1 {
            warnOfWork(head, other.machines[0], base, one.machines[0])
            return try check(one.hostKind, base, other.hostKind, head)
        }
        var cells: [String: String] = [:]
        var known: Set<String> = []
        for row in base.samples where known.insert(row.cellID).inserted {
            cells[row.cellIdentity(ignoring: ignored)] = row.cellID
        }
        known.removeAll()
        var (differing, first) = (0, InputError?.none)
        var warned: Set<String> = []
        for row in head.samples where known.insert(row.cellID).inserted {
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
        if differing > 1 { first.message += " (and so for \(differing - 1) more cells)" }
        throw first
    }

    /// Refuses runs of different kinds of host where each is judged by itself, as by goals.
    static func checkSameHosts(_ runs: [RecordedRun]) throws(InputError) {
        for run in runs.dropFirst() {
            guard let (one, other) = facts(runs[0], run) else { continue }
            let strange = other.hostKinds.first { !one.hostKinds.contains($0) }
            if let strange { try check(one.hostKinds[0], runs[0], strange, run) }
        }
    }

    private static func facts(_ base: RecordedRun, _ head: RecordedRun) -> (RunFacts, RunFacts)? {
        if let one = base.facts, let other = head.facts { return (one, other) }
        StandardError.say("opbench: warning: no run.json beside the rows: the hosts may differ")
        return nil
    }

    private static func check(
        _ one: HostKind, _ base: RecordedRun, _ other: HostKind, _ head: RecordedRun
    ) throws(InputError) {
        guard let (what, ofBase, ofHead) = one.difference(from: other) else { return }
        throw InputError(
            file: head.name, message: "the \(what) is \"\(ofHead)\", that of \(base.name) is \"\(ofBase)\"",
            remedy: "compare runs of machines and builds of one kind")
    }

    private static func warnOfWork(_ head: RecordedRun, _ new: RunMachine, _ base: RecordedRun, _ old: RunMachine) {
        let work = new.iterationsPerNanosecond / old.iterationsPerNanosecond
        if (0.99...1.01).contains(work) { return }
        let of = [new, old].map { $0.shards.isEmpty ? "" : " (shard \($0.shards.joined(separator: ", ")))" }
        StandardError.say(
            "opbench: warning: \(head.name)\(of[0]) did \(Quantities.ratio(work)) the work of \(base.name)\(of[1]) for the "
                + "same work_ns; `run --calibration \(base.name)` does the same")
    }
}

extension [RecordedRun] {
    /// What each cell was measured on; each cell is in one of the runs.
    var hostsOfCells: [String: HostKind] { reduce(into: [:]) { $0.merge($1.hostsOfCells) { first, _ in first } } }
}
