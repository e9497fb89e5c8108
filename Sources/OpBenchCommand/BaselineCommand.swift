import ArgumentParser
import Foundation
import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench baseline RUN`
struct BaselineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "baseline",
        abstract: "Keep a finished run as a baseline.",
        discussion: """
            Copies the run's rows, summary and description into results/baseline/, which git keeps although it ignores \
            other runs; histograms, which comparisons do not use, stay behind. `compare` and `gate` find a baseline by \
            its name, and a policy can bound the drift of figures since one. `opbench runs` lists baselines among the \
            runs, and `opbench show NAME` prints one.

            EXAMPLES
              opbench baseline night --name main
              opbench show main
              opbench gate --baseline main --candidate change
            """)

    @Argument(help: ArgumentHelp("The run.", valueName: "run"), completion: .run)
    var runName: String

    @Option(help: ArgumentHelp("The baseline's name; the run's id by default.", valueName: "name"))
    var name: String?

    @Flag(help: "Replace the baseline of that name.")
    var replace = false

    @OptionGroup var results: ResultsOption

    func run() throws {
        let recorded = try MeasuredRun(runName, in: results.folder)
        let name = self.name ?? recorded.samples[0].runID
        try RunIdentifier.check(name, option: "--name")
        try check(recorded)
        let folder = "\(results.folder)/baseline"
        try copy(recorded.folder, into: folder, as: name)
        StandardError.say("opbench: the baseline is in \(folder)/\(name)")
    }

    /// A baseline without some cells, or with failures, would let a candidate with the same gaps pass.
    private func check(_ recorded: MeasuredRun) throws(InputError) {
        try recorded.refuseSides(remedy: "name a run of `opbench run`")
        _ = try recorded.finished()
        guard !recorded.hasBadSample else {
            throw InputError(
                file: runName, message: "some of its samples are invalid, crashed or timed out",
                remedy: "measure again, or list them under `expect` in the workload")
        }
    }

    /// Copies the run; the baseline appears as a whole or not at all.
    private func copy(_ source: String, into folder: String, as name: String) throws {
        let names = [SampleRow.fileName, SummaryRow.fileName, RunFacts.fileName]
        do {
            try WrittenFolder.make(folder, remedy: "name a writable folder with --results")
            try BaselineFolder(path: folder).install(
                name, replaces: replace, files: names.filter { access("\(source)/\($0)", F_OK) == 0 }, of: source)
        } catch let error as DiskError {
            throw error.badPath ?? error
        }
    }
}

/// The folder of baselines.
struct BaselineFolder {
    let path: String

    /// Copies the files of a run under a name. A killed process may leave a folder with a temporary name. If it was
    /// killed while replacing a baseline, the name may be missing; the old baseline is then beside it.
    ///
    /// - Throws: `InputError` if the name is taken and must not be replaced, `DiskError` if something cannot be
    ///   written; either way nothing has changed.
    func install(_ name: String, replaces: Bool, files: [String], of source: String) throws {
        var facts = stat()
        let isTaken = lstat("\(path)/\(name)", &facts) == 0
        if isTaken, !replaces { throw taken(name) }
        let stage = try StagedFolder(in: WrittenFolder(path))
        for file in files { try stage.folder.copy("\(source)/\(file)", as: file) }
        try isTaken ? exchange(stage, with: name) : publish(stage, as: name)
    }

    private func taken(_ name: String) -> InputError {
        InputError(
            file: "\(path)/\(name)", message: "a baseline of this name exists",
            remedy: "give another --name, or --replace")
    }

    private func exchange(_ stage: StagedFolder, with name: String) throws {
        let (target, old) = ("\(path)/\(name)", "\(path)/\(WrittenFolder.temporaryName())")
        if rename(target, old) != 0 { throw DiskError(path: target, code: errno) }
        do {
            try publish(stage, as: name)
        } catch {
            rename(old, target)
            throw error
        }
        try? FileManager.default.removeItem(atPath: old)
    }

    /// Another process may have taken the name in the meantime.
    private func publish(_ stage: StagedFolder, as name: String) throws {
        do throws(DiskError) {
            try stage.publish(as: name)
        } catch {
            if error.code == EEXIST { throw taken(name) }
            throw error
        }
    }
}
