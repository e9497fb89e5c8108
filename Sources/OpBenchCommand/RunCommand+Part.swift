import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `opbench run --plan FILE --shard I/N`
extension RunCommand {
    /// Refuses what a plan decides, and what names a part.
    func checkPart() throws {
        if !selection.cells.files.isEmpty {
            throw ValidationError("--plan holds its workloads: leave the files out.")
        }
        let (cells, standard) = (selection.cells, RunOptions())
        let given: [(option: String, isGiven: Bool)] = [
            ("--backend", cells.backends != nil), ("--set", !cells.settings.isEmpty), ("--filter", cells.filter != nil),
            ("--metric", selection.kinds != nil), ("--blocks", plan.blocks != nil), ("--quick", plan.quick),
            ("--seed", plan.seed != standard.seed), ("--timeout", plan.timeout != standard.timeoutSeconds),
            ("--for-gate", gate.isForGate), ("--time-budget", timeBudget != nil),
        ]
        let decided = given.filter(\.isGiven).map(\.option)
        if !decided.isEmpty {
            throw ValidationError(
                "--plan decides what is measured: leave \(decided.joined(separator: ", ")) out, or make "
                    + "another plan.")
        }
        if destination.runID != nil || destination.resume {
            throw ValidationError(
                "--plan and --shard name the part, and what was interrupted is continued: leave --run-id and --resume "
                    + "out.")
        }
    }

    /// Measures a part, unless it is finished.
    func measure(_ shard: Shard, of loaded: ShardOptions.Loaded) throws {
        let plan = loaded.plan
        var options = plan.runOptions()
        let part = PartOptions(plan, shard)
        options.part = part
        (options.directory, options.runID) = (destination.directory, part.name)
        options.arguments = OwnProgram.arguments
        options.limits = try limits.checked()
        options.iterationsPerNanosecond = try knownCalibration()
        options.builds = try PlannedBuilds.find(plan.builds)
        let own = try plan.part(shard, file: loaded.file, options: options, program: ProgramVersion.program)
        if !hidesProgress {
            StandardError.say(
                "opbench: shard \(shard) of the plan \(plan.sha256.prefix(12)): \(own.cells.count) of \(plan.cells.count) "
                    + "cells, on \(options.host)")
        }
        try carryOut(
            RunExecution(selection: Selection(specs: plan.specs), options: options, plan: own, isSilent: hidesProgress))
    }
}

/// The two builds that a plan compares.
enum PlannedBuilds {
    /// The programs where the plan has them, and what it has them as.
    ///
    /// - Throws: `InputErrors` if a program is another one now.
    static func find(_ builds: (base: PlanFile.Build, head: PlanFile.Build)?) throws -> ComparedBuilds? {
        guard let builds else { return nil }
        let found = try examine(base: builds.base.path, head: builds.head.path)
        let mistakes = Mistakes()
        for (planned, own) in [(builds.base, found.base), (builds.head, found.head)] where own.sha256 != planned.sha256
        {
            mistakes.note(
                InputError(
                    file: planned.path,
                    message: "this is not the program that was planned: its SHA-256 was "
                        + "\(planned.sha256.prefix(12))…, and is \((own.sha256 ?? "unknown").prefix(12))…",
                    remedy: "put that program there, or make the plan anew"))
        }
        try mistakes.check()
        return found
    }

    static func examine(base: String, head: String) throws -> ComparedBuilds {
        try CancellableWork.run {
            await Result.catching { try await ComparedBuilds.examine(base: base, head: head) }
        }.value.get()
    }
}
