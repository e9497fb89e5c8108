/// The versions of a run's files: which columns they have, and in which units. `run.json` and every CSV file name theirs
/// as `schema_version`.
///
/// opbench writes the current version and reads all of them: rows of a former one are converted while they are read, so
/// that nothing behind the reader knows of it. What changed from one to the next is told for users in the guide
/// `ReadingRows`, and here.
public enum SchemaVersion: Int, CaseIterable, Sendable, Comparable {
    /// Times in seconds in `samples.csv`, `compare.csv` and `goals.csv`, in seconds and nanoseconds in
    /// `summary.csv` and `run.json`; `class` and `param.<name>` for columns; a row of `histograms.csv` for each bucket.
    case one = 1

    /// - Every time is in nanoseconds: the unit `s` became `ns`, `makespan_s` became `makespan_ns`; in `run.json`
    ///   `timeout_s` became `timeout_ns` and `runner_cpu_s` became `runner_cpu_ns`.
    /// - Names that pandas takes as attributes: `class` became `operation_class`, `flags` became `sample_flags`,
    ///   `param.<name>` became `param_<name>`, and in `compare.csv` and `goals.csv` `base` and `head` became `base_value`
    ///   and `head_value`.
    /// - `summary.csv` has the time per operation, and intervals of latencies.
    /// - `histograms.csv` has a row for each histogram, with its workload, cell, backend and side, in buckets of at most
    ///   3.2 % of their value instead of 0.8 %.
    /// - `compare.csv` and `histograms.csv` name their version, too.
    case two = 2

    /// `samples.csv` names the machine of each sample: `host`. `summary.csv` has the flags of the samples and the rates
    /// of open loops. `run.json` has `host` as well and, for a part of a sweep and for merged parts, `sweep` and
    /// `parts`.
    case three = 3

    public static let current = SchemaVersion.three

    public static func < (left: SchemaVersion, right: SchemaVersion) -> Bool { left.rawValue < right.rawValue }

    /// What columns of parameters begin with.
    var parameterPrefix: String { self == .one ? "param." : "param_" }

    /// Whether a text is the number of a version that is not known yet.
    static func isNewer(_ text: String) -> Bool { (Int(text) ?? 0) > current.rawValue }

    /// The refusal of a file that a later opbench wrote.
    public static func refusal(of text: String, file: String, line: Int? = nil, path: String) -> InputError {
        InputError(
            file: file, line: line, path: path,
            message:
                "\(JSONText.excerpt(text)) is a newer version than this opbench knows, which is \(current.rawValue)",
            remedy: "read it with the opbench that wrote it, or a newer one")
    }

    /// - Throws: `InputError` for a version that is not known, or none.
    public static func check(_ text: String, file: String, path: String) throws(InputError) -> SchemaVersion {
        if let version = Int(text).flatMap(SchemaVersion.init(rawValue:)) { return version }
        if isNewer(text) { throw refusal(of: text, file: file, path: path) }
        throw InputError(
            file: file, path: path, message: "\(JSONText.excerpt(text)) is no version of a run's files",
            remedy: "restore the file; expected is 1 to \(current.rawValue)")
    }
}

/// Times of files of version 1, which were in seconds.
public enum FormerTime {
    /// The nanoseconds that were divided by 1e9: whole ones exactly. More than a Double holds, which no clock shows, stay a
    /// number.
    static func nanoseconds(_ seconds: Double) -> Double {
        let greatest = Double.greatestFiniteMagnitude
        let nanoseconds = min(max(seconds * 1e9, -greatest), greatest)
        let whole = nanoseconds.rounded()
        return whole / 1e9 == seconds ? whole : nanoseconds
    }

    /// A figure of the metric, in its unit of today.
    public static func figure(_ value: Double?, of metric: String) -> Double? {
        Metric.named(metric)?.unit == .nanoseconds ? value.map(nanoseconds) : value
    }
}
