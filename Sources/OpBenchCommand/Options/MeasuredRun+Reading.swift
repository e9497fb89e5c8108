import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

// Runs by the names that users give.

extension MeasuredRun {
    /// Reads a run.
    ///
    /// - Parameters:
    ///   - name: a run's folder, its samples.csv, or the id of a run in `folder` or among its baselines.
    ///   - isTornAllowed: whether the last line may be cut off, as in a run that is still running or was killed.
    /// - Throws: `InputError` for anything that is not a run, is cut off, or contains several runs' rows.
    init(_ name: String, in folder: String, isTornAllowed: Bool = false) throws(InputError) {
        guard let file = Self.file(SampleRow.fileName, of: name, in: folder) else {
            throw Self.absent(name, in: folder)
        }
        let samples =
            isTornAllowed
            ? try CSVFile.readWholeLines(SampleRow.self, file: file).rows
            : try CSVFile.read(SampleRow.self, file: file)
        if samples.isEmpty {
            throw InputError(file: file, message: "there are no rows", remedy: "name a finished run")
        }
        if let other = samples.first(where: { $0.runID != samples[0].runID }) {
            throw InputError(
                file: file, message: "the rows belong to several runs: \"\(samples[0].runID)\" and \"\(other.runID)\"",
                remedy: "keep each run's rows in a separate file; they may come from different machines")
        }
        try RowLimits.checkSize(samples, file: file)
        self.init(name, in: WrittenFolder.holding(file), samples: samples, facts: try RunFacts.read(beside: file))
    }

    /// The runs of the given names; the latest run of the folder, which is then printed, if there are none.
    static func named(
        _ names: [String], in folder: String, isTornAllowed: Bool = false
    ) throws(InputError) -> [MeasuredRun] {
        let names = names.isEmpty ? [try latest(in: folder, isPartAllowed: isTornAllowed)] : names
        return try names.map { (name) throws(InputError) in
            try MeasuredRun(name, in: folder, isTornAllowed: isTornAllowed)
        }
    }

    /// The path of the run that began last; prints its name.
    ///
    /// - Parameter isPartAllowed: whether it may be unfinished.
    private static func latest(in folder: String, isPartAllowed: Bool) throws(InputError) -> String {
        let list = try RunList(in: folder)
        for error in list.unreadable { StandardError.say("opbench: warning: \(error)") }
        guard let run = list.rows.first(where: { !$0.isBaseline }) else {
            throw InputError(
                file: folder, message: "there are no runs", remedy: "name a run, or measure with `opbench run FILE`")
        }
        if !isPartAllowed, run.state != .finished {
            throw InputError(
                file: "\(folder)/\(run.name)", message: "the latest run is not finished",
                remedy: "continue it with --resume, or name a finished run")
        }
        StandardError.say("opbench: the latest run is \(run.name)")
        return "\(folder)/\(run.name)"
    }

    private static func absent(_ name: String, in folder: String) -> InputError {
        if let place = places(of: name, in: folder).first(where: { access($0 + "/", F_OK) == 0 }) {
            return InputError(
                file: place, message: "there is no \(SampleRow.fileName) in this folder",
                remedy: "restore the file, or name another run")
        }
        let known = ((try? RunList(in: folder))?.rows ?? []).map(\.name)
        let command = folder == "results" ? "opbench runs" : "opbench runs --output \(folder)"
        let place = "name a run's folder, its samples.csv, or the id of a run in \(folder)/"
        return InputError(
            file: name, message: "there is no such run",
            remedy: known.isEmpty
                ? place : Suggestion.remedy(for: name, among: known, from: command))
    }

    private static func file(_ file: String, of name: String, in folder: String) -> String? {
        ([name] + places(of: name, in: folder).map { "\($0)/\(file)" }).first(where: isRegularFile)
    }

    /// The folders that a name can mean.
    private static func places(of name: String, in folder: String) -> [String] {
        [name] + ["", "baseline/"].map { "\(folder)/\($0)\(name)" }
    }

    private static func isRegularFile(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
    }

    /// Whether it compares two builds.
    var hasSides: Bool { samples.contains { !$0.side.isEmpty } }

    /// - Throws: `InputError` for a run of two builds.
    func refuseSides(remedy: String) throws(InputError) {
        if hasSides { throw InputError(file: name, message: "the run has two sides", remedy: remedy) }
    }

    /// The contents of run.json.
    ///
    /// - Throws: `InputError` if only the rows are known.
    func described() throws(InputError) -> RunFacts {
        if let facts { return facts }
        throw InputError(
            file: name, message: "run.json is missing next to the rows", remedy: "name a run's whole folder")
    }

    /// The contents of a finished run's run.json.
    ///
    /// - Throws: `InputError` if only the rows are known, or some are not there yet.
    func finished() throws(InputError) -> RunFacts {
        let facts = try described()
        if facts.isFinished { return facts }
        throw InputError(
            file: name, message: "the run is not finished",
            remedy: facts.isMerged
                ? "measure the missing shards, and merge all again"
                : "continue it: opbench run … --run-id \(samples[0].runID) --resume")
    }

    /// The number of samples that failed unexpectedly.
    var badSamples: Int {
        let unexpected = UnexpectedSamples(specs: facts?.workloads ?? [])
        return Set(samples.lazy.filter(unexpected.contains).map(\.sampleID)).count
    }

    /// Whether a sample failed unexpectedly.
    var hasBadSample: Bool { badSamples > 0 }

    /// The run's first machine of the given kind.
    ///
    /// - Throws: `InputError` for a run of other hosts or kinds of build.
    func machine(like here: HostKind) throws(InputError) -> RunMachine {
        let facts = try described()
        if let machine = facts.machines.first(where: { $0.kind == here }) { return machine }
        let (what, there, here) = facts.hostKind.difference(from: here) ?? ("host", facts.hostClass, here.hostClass)
        throw InputError(
            file: name, message: "the \(what) is \"\(there)\", but here it is \"\(here)\"",
            remedy: "name a run of this host and this kind of build")
    }

    /// The host of each of the run's cells; empty if not recorded.
    var hostsOfCells: [String: HostKind] {
        guard let facts else { return [:] }
        return samples.uniqued(by: \.cellID).reduce(into: [:]) { $0[$1.cellID] = facts.machine(of: $1.cellID)?.kind }
    }
}
