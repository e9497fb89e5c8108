/// The value of `--shard`: a shard, or `auto` to take it from the environment of the job.
public enum ShardArgument: Sendable, Hashable {
    case named(Shard)
    /// - count: the number of shards, as in `auto/8`.
    case auto(count: Int?)

    private static let option = "--shard"

    /// - Throws: `InputError` for an invalid text, and for a shard out of range.
    public init(_ text: String) throws(InputError) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if let first = parts.first, first.elementsEqual("auto".utf8), parts.count <= 2 {
            let count = parts.count == 2 ? Shard.number(parts[1]) : nil
            guard parts.count == 1 || (1...Shard.countLimit).contains(count ?? 0) else {
                throw Self.error(
                    "\(JSONText.excerpt(text)) has no number of shards", "write auto/N, N from 1 to \(Shard.countLimit)"
                )
            }
            self = .auto(count: count)
            return
        }
        guard let shard = Shard(text) else {
            let isOutOfRange =
                parts.count == 2 && parts.allSatisfy { Shard.number($0) != nil || $0.elementsEqual("0".utf8) }
            throw Self.error(
                "\(JSONText.excerpt(text)) is \(isOutOfRange ? "out of range" : "not a shard")",
                "write I/N, I from 1 to N and N at most \(Shard.countLimit); or auto, or auto/N")
        }
        self = .named(shard)
    }

    /// The shard itself, or the one that the job's environment selects.
    ///
    /// Slurm's job arrays: `SLURM_ARRAY_TASK_ID`, with the array's bounds and step. Kubernetes' Indexed Jobs:
    /// `JOB_COMPLETION_INDEX`, from 0, which needs the count beside `auto`.
    ///
    /// - Throws: `InputErrors` if the environment selects no shard, or two.
    public func shard(_ environment: [String: String]) throws(InputErrors) -> Shard {
        let count: Int?
        switch self {
        case .named(let shard): return shard
        case .auto(let number): count = number
        }
        do throws(InputError) {
            switch (environment[Self.taskID] != nil, environment[Self.completionIndex]) {
            case (true, nil): return try Self.ofArray(environment, count)
            case (false, let text?): return try Self.ofIndexedJob(text, count)
            case (true, _?):
                throw Self.error("both \(Self.taskID) and \(Self.completionIndex) are set", Self.remedy)
            case (false, nil):
                throw Self.error(
                    "auto needs \(Self.taskID) or \(Self.completionIndex), and neither is set",
                    "run it in a Slurm job array or an Indexed Job of Kubernetes, or \(Self.remedy)")
            }
        } catch {
            throw InputErrors(error)
        }
    }

    private static let remedy = "name the shard: \(option) I/N"
    private static let taskID = "SLURM_ARRAY_TASK_ID"
    private static let completionIndex = "JOB_COMPLETION_INDEX"

    private static func ofIndexedJob(_ text: String, _ count: Int?) throws(InputError) -> Shard {
        guard let count else {
            throw error(
                "\(completionIndex) has no number of shards", "add the job's `completions`: \(option) auto/N")
        }
        guard let index = text == "0" ? 0 : Shard.number(text[...].utf8), index < count else {
            throw error(
                "\(completionIndex) is \(JSONText.excerpt(text)), not an index of \(counted(count, "shard"))",
                "set N to the job's `completions`: \(option) auto/N")
        }
        return Shard(index: index + 1, count: count)
    }

    /// Above Slurm's largest task number.
    private static let taskLimit = 1_000_000_000

    /// The shard of a task of a job array, as Slurm describes it to the task.
    ///
    /// - Parameter expected: the number of shards given with `auto`.
    private static func ofArray(_ environment: [String: String], _ expected: Int?) throws(InputError) -> Shard {
        func number(_ name: String) throws(InputError) -> Int {
            guard let text = environment[name] else { throw error("\(name) is not set, and \(taskID) is", remedy) }
            guard let number = text == "0" ? 0 : Shard.number(text[...].utf8), number <= taskLimit else {
                throw error("\(name) is \(JSONText.excerpt(text)), not a task number", remedy)
            }
            return number
        }
        let (task, count) = (try number(taskID), try number("SLURM_ARRAY_TASK_COUNT"))
        let (least, most) = (try number("SLURM_ARRAY_TASK_MIN"), try number("SLURM_ARRAY_TASK_MAX"))
        let stepName = "SLURM_ARRAY_TASK_STEP"
        let step = environment[stepName] == nil ? 1 : try number(stepName)
        guard step > 0, (least...max(least, most)).contains(task), (most - least).isMultiple(of: step),
            (task - least).isMultiple(of: step), (most - least) / step + 1 == count, count <= Shard.countLimit
        else {
            throw error(
                "the job array has \(counted(count, "task")) from \(least) to \(most), so the shard of task \(task) "
                    + "is ambiguous",
                "submit an array without gaps, such as --array=1-8, of at most \(Shard.countLimit) tasks; or "
                    + remedy)
        }
        if let expected, expected != count {
            throw error("the job array has \(counted(count, "task")), not \(expected)", remedy)
        }
        // Resubmitted tasks of a larger array look like this.
        if expected == nil, count == 1 || least > 1 {
            throw error(
                "the job array \(least)-\(most) may be part of a larger one",
                "\(remedy); or, if the array has all shards, give their number: --shard auto/\(count)")
        }
        return Shard(index: (task - least) / step + 1, count: count)
    }

    private static func error(_ message: String, _ remedy: String) -> InputError {
        InputError(file: option, message: message, remedy: remedy)
    }
}
