"""What the figure of each shape shows."""

from dataclasses import dataclass, replace

from opbench_plots.measures import (
    CONFIDENCE,
    SPREAD,
    Measure,
    Unit,
    from_samples,
    plain,
    with_interval,
    with_spread,
)
from opbench_plots.run import Cell, Run


@dataclass(frozen=True)
class ShapePlan:
    """How the cells of a shape are shown."""

    shape: str
    title: str
    measures: tuple[Measure, ...]
    # The parameter on the horizontal axis if it varies, most wanted first; empty where classes stand there.
    axis_parameters: tuple[str, ...] = ()
    # Parameters that only this shape has: they tell it where run.json does not.
    telling_parameters: frozenset[str] = frozenset()
    # The class name before `=`, and how its values are ordered; empty where the shape has no classes.
    class_name: str = ""
    class_order: tuple[str, ...] = ()


TIME_PER_OPERATION = Measure("Time per operation", Unit.NANOSECONDS, with_interval("time_ns_per_op"), bars=CONFIDENCE)
TIME_RATIO = Measure(
    "Time per operation ÷ that of {ratio_to}",
    Unit.RATIO,
    with_interval("time_ratio"),
    bars=CONFIDENCE,
    meaning="Ratios: the middle of those within each block, not the quotients of the times.",
)
THROUGHPUT = Measure("Throughput", Unit.RATE, with_interval("throughput_ops_per_s"), bars=CONFIDENCE, better="higher")


def _start_latency(stat: str, title: str) -> Measure:
    column = f"start_latency_{stat}_ns"
    read = with_spread(column, "start_latency", stat)
    return Measure(
        title,
        Unit.NANOSECONDS,
        read,
        by_class=True,
        bars=SPREAD,
        kind="latency",
        meaning="Start latency: from ready to the first line, the wait behind other ready operations included.",
        zero="A start latency of 0: it started before its submitting call had returned, or too soon for the clock.",
    )


def _latency(metric: str, stat: str, title: str) -> Measure:
    return Measure(title, Unit.NANOSECONDS, from_samples(metric, (stat,)), bars=SPREAD, kind="latency")


MEMORY = (
    Measure("Mallocs, per operation", Unit.NUMBER, plain("allocations_per_op"), kind="allocations"),
    Measure("Bytes requested from malloc, per operation", Unit.BYTES, plain("allocated_bytes_per_op"), kind="allocations"),
    Measure("Bytes held by an operation that waits", Unit.BYTES, plain("retained_bytes_per_pending_op"), kind="heap"),
    Measure("Greatest resident size of the process", Unit.BYTES, plain("peak_resident_bytes"), kind="heap"),
)
"""What every shape has of memory."""

PRIORITY_LEVELS = ("very_low", "low", "normal", "high", "very_high")

PLANS = (
    ShapePlan(
        shape="independent",
        title="Independent operations",
        measures=(TIME_PER_OPERATION, TIME_RATIO),
        axis_parameters=("items_per_operation", "items", "work_ns", "producers"),
        telling_parameters=frozenset({"items_per_operation"}),
    ),
    ShapePlan(
        shape="chain",
        title="Chains of dependent operations",
        measures=(TIME_PER_OPERATION, TIME_RATIO),
        axis_parameters=("depth", "chains", "queues", "work_ns"),
        telling_parameters=frozenset({"depth"}),
    ),
    ShapePlan(
        shape="graph",
        title="Graphs of dependent operations",
        measures=(
            TIME_PER_OPERATION,
            TIME_RATIO,
            Measure(
                "Scheduling efficiency: max(work ÷ processors, span) ÷ makespan",
                Unit.SHARE,
                from_samples("scheduling_efficiency", ("mean",), 100),
                bars=SPREAD,
                better="higher",
            ),
        ),
        axis_parameters=("kind", "width", "layers", "degree", "work_ns"),
        telling_parameters=frozenset({"degree"}),
    ),
    ShapePlan(
        shape="priority_mix",
        title="A mix of queue priorities",
        measures=(
            _start_latency("p50", "Start latency, median"),
            _start_latency("p99", "Start latency, 99th percentile"),
            _start_latency("max", "Longest wait, ready to start"),
            Measure(
                "Inversions of one round",
                Unit.COUNT,
                with_spread("inversions", "inversions", "total"),
                by_class=True,
                bars=SPREAD,
                kind="latency",
            ),
        ),
        telling_parameters=frozenset({"enqueue"}),
        class_name="priority",
        class_order=PRIORITY_LEVELS,
    ),
    ShapePlan(
        shape="thread_priority",
        title="A mix of thread priorities",
        measures=(
            _start_latency("p50", "Start latency, median"),
            _start_latency("p99", "Start latency, 99th percentile"),
            Measure(
                "CPU share while running",
                Unit.SHARE,
                from_samples("cpu_share", ("mean", "total"), 100),
                by_class=True,
                bars=SPREAD,
                kind="latency",
                better="",
            ),
            Measure(
                "Nice value in force",
                Unit.NICE,
                from_samples("effective_nice", ("mean", "max", "total")),
                by_class=True,
                bars=SPREAD,
                kind="latency",
                better="",
            ),
        ),
        telling_parameters=frozenset({"competitors"}),
        class_name="thread_priority",
    ),
    ShapePlan(
        shape="suspend_resume",
        title="Suspending and resuming a busy queue",
        measures=(
            THROUGHPUT,
            Measure(
                "Starts of one round after suspend returned",
                Unit.COUNT,
                with_spread("starts_after_suspend", "starts_after_suspend", "total"),
                bars=SPREAD,
                kind="latency",
            ),
            Measure(
                "Suspend returned → last start, 99th percentile",
                Unit.NANOSECONDS,
                with_spread("quiesce_p99_ns", "quiesce_time", "p99"),
                bars=SPREAD,
                kind="latency",
            ),
            Measure(
                "Resume → first start, 99th percentile",
                Unit.NANOSECONDS,
                with_spread("resume_to_start_p99_ns", "resume_to_start", "p99"),
                bars=SPREAD,
                kind="latency",
            ),
        ),
        axis_parameters=("toggles", "producers", "run_ns", "hold_ns", "operations", "work_ns"),
        telling_parameters=frozenset({"toggles"}),
    ),
    ShapePlan(
        shape="wakeup",
        title="Waking an idle queue",
        measures=(
            TIME_PER_OPERATION,
            TIME_RATIO,
            _latency("submit_latency", "p50", "Submitting call → start, median"),
            _latency("submit_latency", "p99", "Submitting call → start, 99th percentile"),
        ),
        axis_parameters=("pause_ns", "burst", "work_ns"),
        telling_parameters=frozenset({"burst", "pause_ns"}),
    ),
    ShapePlan(
        shape="sequence",
        title="Phases, one after the other",
        measures=(
            replace(TIME_PER_OPERATION, by_class=True),
            _start_latency("p50", "Start latency, median"),
            _start_latency("p99", "Start latency, 99th percentile"),
        ),
        telling_parameters=frozenset({"phases"}),
        class_name="phase",
    ),
    ShapePlan(
        shape="open_loop",
        title="Operations arriving at a rate",
        measures=(
            _latency("intended_latency", "p50", "Intended instant → end, median"),
            _latency("intended_latency", "p99", "Intended instant → end, 99th percentile"),
            _latency("service_latency", "p99", "Submitting call → end, 99th percentile"),
            Measure(
                "Highest rate that keeps the bound",
                Unit.RATE,
                from_samples("sustained_rate", ("rate",)),
                bars=SPREAD,
                kind="latency",
                better="higher",
            ),
        ),
        axis_parameters=("rate", "duration_ns", "bound_ns", "work_ns"),
        telling_parameters=frozenset({"rate", "arrivals"}),
    ),
    ShapePlan(
        shape="cancel_storm",
        title="Cancelling many operations",
        measures=(
            TIME_PER_OPERATION,
            Measure("Cancelling calls, per cancelled operation", Unit.NANOSECONDS, plain("cancel_ns_per_op")),
        ),
        axis_parameters=("cancelled_percent", "producers", "operations", "work_ns"),
        telling_parameters=frozenset({"cancelled_percent"}),
    ),
    ShapePlan(
        shape="blocking",
        title="Operations that block their threads",
        measures=(
            Measure(
                "Makespan ÷ the ideal one",
                Unit.RATIO,
                with_spread("makespan_ratio", "makespan_ratio", "total"),
                bars=SPREAD,
            ),
        ),
        axis_parameters=("operations", "block_ns", "work_ns"),
        telling_parameters=frozenset({"block_ns"}),
    ),
    ShapePlan(
        shape="observers",
        title="Telling observers",
        measures=(
            TIME_PER_OPERATION,
            Measure("Bytes held by an operation that waits", Unit.BYTES, plain("retained_bytes_per_pending_op"), kind="heap"),
        ),
        axis_parameters=("observers", "operations", "work_ns"),
        telling_parameters=frozenset({"observers"}),
    ),
    ShapePlan(
        shape="barriers",
        title="Barriers",
        measures=(TIME_PER_OPERATION, TIME_RATIO),
        axis_parameters=("every", "operations", "work_ns"),
        telling_parameters=frozenset({"every"}),
    ),
    ShapePlan(
        shape="block_groups",
        title="Blocks in a BlockOperation",
        measures=(replace(TIME_PER_OPERATION, title="Time per block"), TIME_RATIO),
        axis_parameters=("blocks", "groups", "work_ns"),
        telling_parameters=frozenset({"groups", "blocks"}),
    ),
    ShapePlan(
        shape="asynchronous",
        title="Operations that announce their own end",
        measures=(TIME_PER_OPERATION, TIME_RATIO),
        axis_parameters=("operations", "work_ns"),
        telling_parameters=frozenset({"ended_by"}),
    ),
    ShapePlan(
        shape="manual_start",
        title="Operations without a queue",
        measures=(TIME_PER_OPERATION, TIME_RATIO),
        axis_parameters=("producers", "operations", "work_ns"),
        telling_parameters=frozenset({"operations", "form", "producers"}),
    ),
    ShapePlan(
        shape="memory_fence",
        title="Many operations that wait at once",
        measures=(
            Measure("Bytes held by an operation that waits", Unit.BYTES, plain("retained_bytes_per_pending_op"), kind="heap"),
            Measure("Letting go, per operation", Unit.NANOSECONDS, plain("release_ns_per_op")),
        ),
        axis_parameters=("operations", "payload_bytes", "work_ns"),
        telling_parameters=frozenset({"payload_bytes"}),
    ),
)


def memory_of(plan: ShapePlan) -> ShapePlan:
    """The same cells by what they take of memory."""
    return replace(plan, title=f"{plan.title}, memory", measures=MEMORY, class_name="", class_order=())


def plan_of(run: Run, cell: Cell) -> ShapePlan | None:
    """The plan for a cell's shape, which run.json names or the parameters tell; None for a shape without a figure."""
    named = run.shapes.get(cell.workload)
    if named is not None:
        return next((plan for plan in PLANS if plan.shape == named), None)
    parameters = {name for name, _ in cell.parameters}
    return next((plan for plan in PLANS if plan.telling_parameters <= parameters), None)
