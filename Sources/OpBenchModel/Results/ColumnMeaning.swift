/// What a column of a CSV file holds.
public struct ColumnMeaning: Sendable, Equatable {
    public let name: String
    /// `ns`, `B`, `1/s`, `count`, `1` for ratios; empty for text.
    public let unit: String
    public let meaning: String
}

/// A row whose columns are explained, every one.
public protocol DescribedRow: CSVRow {
    /// The unit and the meaning of each column by its name. The ends of intervals, `…_ci_low` and `…_ci_high`, follow from
    /// the column that they belong to.
    static var meanings: [String: (unit: String, meaning: String)] { get }
}

extension DescribedRow {
    /// In the order of the columns, those of parameters last. A column that nothing explains has no meaning.
    public static var columnMeanings: [ColumnMeaning] {
        let fixed = columns.map { name in
            let (unit, meaning) = meanings[name] ?? interval(name) ?? ("", "")
            return ColumnMeaning(name: name, unit: unit, meaning: meaning)
        }
        guard hasParameters else { return fixed }
        return fixed + [
            ColumnMeaning(
                name: CSVFile.parameterPrefix + "NAME", unit: "",
                meaning: "The cell's parameter of that name; empty where the shape has none of that name.")
        ]
    }

    private static func interval(_ name: String) -> (unit: String, meaning: String)? {
        for (suffix, end) in [("_ci_low", "low"), ("_ci_high", "high")] where name.hasSuffix(suffix) {
            let owner = String(name.dropLast(suffix.count))
            return meanings[owner].map { ($0.unit, "The \(end) end of the 95 % interval of `\(owner)`.") }
        }
        return nil
    }
}

/// What both files say of a cell and its samples.
private let commonMeanings: [String: (unit: String, meaning: String)] = [
    "schema_version": ("", "The version of the columns and of what they mean."),
    "run_id": ("", "The run's name, and its folder's."),
    "workload": ("", "The workload's name."),
    "cell_id": ("", "The workload's name and the parameters that differ from their defaults."),
    "backend": ("", "Who executed the cell."),
    "side": ("", "`base` or `head` where two builds are compared, else empty."),
    "operation_class": ("", "Empty for the whole, or what the figures are restricted to: `priority=high`."),
]

extension SampleRow: DescribedRow {
    public static let meanings = commonMeanings.merging(
        [
            "sample_id": ("", "The process's number and the kind of its sample; r marks a repetition."),
            "timestamp_utc": ("", "When the sample was taken: ISO 8601, UTC."),
            "host": ("", "The machine that took the sample: OPBENCH_HOST, or its host name."),
            "block": ("", "The block that the sample belongs to, from 0 within its cell and kind."),
            "position": ("", "Its place in the block's random order, from 0."),
            "phase": (
                "",
                "`build`, `submit`, `drain`, `teardown`, `total`, `makespan`, `warmup`, `mark:NAME`; empty where a figure "
                    + "belongs to none."
            ),
            "iteration": ("", "The iteration of the warm-up; empty outside of it."),
            "status": ("", "How the sample ended: `ok`, `invalid`, `timeout`, `crashed`, `unsupported`, `skipped`."),
            "sample_flags": (
                "",
                "`noisy`, `short`, `slope`, `unsteady`, `unpromised`, `overloaded`, `rerun`, joined by `;`: read it with care. "
                    + "`declared` and `by_hand` are the axis."
            ),
            "metric": ("", "What was measured, by its name in the catalogue; `status` in a row without a figure."),
            "stat": ("", "`total`, `rate`, `mean`, `p50`, `p90`, `p99`, `p99.9` or `max`."),
            "value": ("", "The figure, in the unit of the column `unit`; empty in a row without one."),
            "unit": ("", "The metric's unit."),
            "direction": ("", "Whether `higher` or `lower` is better, or neither (`neutral`)."),
            "deterministic": ("", "`true` for counts that barely vary from sample to sample."),
            "operations": ("count", "Operations of all rounds of the sample."),
            "notes": ("", "What else is to be known: a reason, a signal, a substitute."),
        ]) { $1 }
}

extension SummaryRow: DescribedRow {
    public static let meanings = commonMeanings.merging(figureMeanings) { $1 }

    private static let figureMeanings: [String: (unit: String, meaning: String)] = [
        "status": ("", "The gravest status of the backend's samples on the cell."),
        "sample_flags": ("", "The flags of the backend's samples, each once, joined by `;`."),
        "samples": ("count", "Throughput samples behind the row, one a block; without any, the most of another kind."),
        "time_ns_per_op": ("ns", "Total time per operation: making, submitting and draining it. The median."),
        "throughput_ops_per_s": ("1/s", "Operations ÷ total time: making, submitting and draining them. The median."),
        "throughput_items_per_s": ("1/s", "Items of work ÷ total time; an operation may do several."),
        "time_ratio": (
            "1",
            "Total time per operation ÷ that of `ratio_to`: the median of the ratios within blocks; below 1 is faster. "
                + "Says nothing where either has the flag `unpromised`, or the two have different axes."
        ),
        "axis": (
            "",
            "Where operations follow one another: `declared` if the queue was told, `by_hand` if bodies submit what follows."
        ),
        "ratio_to": (
            "",
            "The backend that the ratio is to: the baseline or, if that is on the other axis, its form on the row's."
        ),
        "makespan_ns": ("ns", "Submit and drain of one round."),
        "scheduling_efficiency": ("1", "max(work ÷ processors, span) ÷ makespan; 1 is a perfect schedule at no cost."),
        "makespan_ratio": ("1", "Makespan ÷ that of a thread for each slot of the limit, where operations block."),
        "cancel_ns_per_op": ("ns", "Time of the cancelling calls per operation to be cancelled."),
        "release_ns_per_op": ("ns", "Time of drain and teardown per operation, where everything waited at once."),
        "release_page_faults_per_op": ("count", "Page faults of drain and teardown there."),
        "start_latency_p50_ns": ("ns", "Ready → start, the median. Includes the wait behind other ready operations."),
        "start_latency_p90_ns": ("ns", "Ready → start, 90th percentile."),
        "start_latency_p99_ns": ("ns", "Ready → start, 99th percentile."),
        "start_latency_p999_ns": ("ns", "Ready → start, 99.9th percentile."),
        "start_latency_max_ns": ("ns", "Ready → start, the longest of all samples."),
        "end_latency_p50_ns": ("ns", "Ready → end, the median."),
        "end_latency_p99_ns": ("ns", "Ready → end, 99th percentile."),
        "submit_latency_p50_ns": ("ns", "Just before the submitting call → start, the median."),
        "submit_latency_p99_ns": ("ns", "Just before the submitting call → start, 99th percentile."),
        "intended_latency_p50_ns": ("ns", "In an open loop: when the plan has the operation arrive → end, the median."),
        "intended_latency_p99_ns": ("ns", "The same, 99th percentile."),
        "intended_latency_p999_ns": ("ns", "The same, 99.9th percentile."),
        "service_latency_p50_ns": ("ns", "In an open loop: just before the submitting call → end, the median."),
        "service_latency_p99_ns": ("ns", "The same, 99th percentile."),
        "service_latency_p999_ns": ("ns", "The same, 99.9th percentile."),
        "submit_lag_p99_ns": ("ns", "How late the submitting thread was, 99th percentile."),
        "sustained_rate_per_s": ("1/s", "The highest rate of arrivals found that keeps the workload's bound."),
        "arrival_rate_per_s": ("1/s", "Operations that arrived, in an open loop, from the first arrival to the last."),
        "completion_rate_per_s": (
            "1/s",
            "Operations that ended in that time. With the flag `overloaded` most samples stayed behind, and the row has no "
                + "latencies: they would be how long the samples lasted."
        ),
        "capacity_per_s": (
            "1/s", "The highest rate of arrivals that the backend keeps up with, where `load` is a part of it."
        ),
        "notify_latency_p50_ns": ("ns", "End → completion block entered, the median."),
        "notify_latency_p99_ns": ("ns", "End → completion block entered, 99th percentile."),
        "self_perturbation": ("1", "Time of rounds with time stamps ÷ that of rounds without."),
        "cpu_ns_per_op": ("ns", "User and system time of the process per operation, total phase."),
        "voluntary_switches_per_op": ("count", "Threads that went to sleep, per operation."),
        "involuntary_switches_per_op": ("count", "Threads that were preempted, per operation."),
        "page_faults_per_op": ("count", "Minor and major page faults of the process, per operation."),
        "futex_calls_per_op": ("count", "futex(2) calls per operation, counted by a tracer in a sample of its own."),
        "threads_created": ("count", "Threads that the backend created, counted by the same tracer."),
        "allocations_per_op": ("count", "Calls of malloc per operation."),
        "allocated_bytes_per_op": ("B", "Bytes requested from malloc per operation."),
        "retained_bytes_per_pending_op": ("B", "Bytes in use per operation while all wait and none has started."),
        "unreleased_bytes": ("B", "Bytes still in use after everything was released."),
        "peak_resident_bytes": ("B", "The process's greatest resident size."),
        "inversions": ("count", "Operations of a round that started although a higher one had been ready before."),
        "starts_after_suspend": ("count", "Operations of a round that started after `suspend` had returned."),
        "quiesce_p99_ns": ("ns", "Return of `suspend` → last start within the hold, 99th percentile."),
        "resume_to_start_p99_ns": ("ns", "Call of `resume` → first start, 99th percentile."),
    ]
}
