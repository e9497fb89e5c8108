"""What the figure of each shape shows: one `Measure` a panel."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import NamedTuple

from opbench_plots.run import Cell, Run, Slot, SummaryRow


class Interval(NamedTuple):
    """A figure with the bounds of its error bar, where there are any."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def has_bar(self) -> bool:
        return self.low is not None and self.high is not None


class Unit(Enum):
    """How the values of a panel are scaled and written."""

    NANOSECONDS = "time"
    RATE = "operations/s"
    RATIO = "×"
    COUNT = "operations"
    SHARE = "%"
    NICE = "nice value"


@dataclass(frozen=True)
class Measure:
    """One panel: its title, its unit, and how a figure is found for a summary row."""

    title: str
    unit: Unit
    read: Callable[[Run, SummaryRow], Interval | None]
    # Whether the figure is drawn for each class of operations rather than for the whole cell.
    by_class: bool = False
    # What the error bars mean, if the panel has some.
    bars: str = ""
    # Which way is good, if one is.
    better: str = "lower"

    @property
    def axis_label(self) -> str:
        """The unit, unless each tick bears it, and which way is good."""
        unit = "" if self.unit in (Unit.NANOSECONDS, Unit.RATIO, Unit.SHARE) else self.unit.value
        return ", ".join(part for part in (unit, self.better and f"{self.better} is better") if part)


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


CONFIDENCE = "95 % confidence interval over the blocks"
SPREAD = "lowest and highest sample"


def _time_per_operation(run: Run, row: SummaryRow) -> Interval | None:
    rate = row.figures.get("throughput_ops_per_s")
    if rate is None:
        return None
    low, high = (row.figures.get(f"throughput_ops_per_s_ci_{end}") for end in ("low", "high"))
    return Interval(1e9 / rate, high and 1e9 / high, low and 1e9 / low)


def _with_interval(column: str) -> Callable[[Run, SummaryRow], Interval | None]:
    def read(run: Run, row: SummaryRow) -> Interval | None:
        value = row.figures.get(column)
        if value is None:
            return None
        return Interval(value, row.figures.get(f"{column}_ci_low"), row.figures.get(f"{column}_ci_high"))

    return read


def _with_spread(column: str, metric: str, stat: str, scale: float = 1) -> Callable[[Run, SummaryRow], Interval | None]:
    """The summary's figure, between the extremes of the samples it comes from."""

    def read(run: Run, row: SummaryRow) -> Interval | None:
        value = row.figures.get(column)
        if value is None:
            return None
        values = run.samples.get((row.slot, metric, stat), [])
        if len(values) < 2:
            return Interval(value)
        return Interval(value, min(values) * scale, max(values) * scale)

    return read


def _from_samples(metric: str, stats: tuple[str, ...], scale: float = 1) -> Callable[[Run, SummaryRow], Interval | None]:
    """The median over samples of a figure that summary.csv has no column for."""

    def read(run: Run, row: SummaryRow) -> Interval | None:
        values = next((run.samples[key] for stat in stats if (key := (row.slot, metric, stat)) in run.samples), [])
        if not values:
            return None
        centre = median(values) * scale
        return Interval(centre) if len(values) < 2 else Interval(centre, min(values) * scale, max(values) * scale)

    return read


TIME_PER_OPERATION = Measure("Time per operation", Unit.NANOSECONDS, _time_per_operation, bars=CONFIDENCE)
TIME_RATIO = Measure("Time per operation ÷ that of {ratio_to}", Unit.RATIO, _with_interval("time_ratio"), bars=CONFIDENCE)
THROUGHPUT = Measure("Throughput", Unit.RATE, _with_interval("throughput_ops_per_s"), bars=CONFIDENCE, better="higher")


def _start_latency(stat: str, title: str) -> Measure:
    column = f"start_latency_{stat}_ns"
    read = _with_spread(column, "start_latency", stat, scale=1e9)
    return Measure(title, Unit.NANOSECONDS, read, by_class=True, bars=SPREAD)


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
        shape="priority_mix",
        title="A mix of queue priorities",
        measures=(
            _start_latency("p50", "Start latency, median"),
            _start_latency("p99", "Start latency, 99th percentile"),
            _start_latency("max", "Longest wait, ready to start"),
            Measure("Inversions", Unit.COUNT, _with_spread("inversions", "inversions", "total"), by_class=True, bars=SPREAD),
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
            Measure("CPU share while running", Unit.SHARE, _from_samples("cpu_share", ("mean", "total"), 100), by_class=True, bars=SPREAD, better=""),
            Measure("Nice value in force", Unit.NICE, _from_samples("effective_nice", ("mean", "p50", "total")), by_class=True, bars=SPREAD, better=""),
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
                "Starts after suspend returned", Unit.COUNT,
                _with_spread("starts_after_suspend", "starts_after_suspend", "total"), bars=SPREAD,
            ),
            Measure(
                "Suspend returned → last start, 99th percentile", Unit.NANOSECONDS,
                _with_spread("quiesce_p99_ns", "quiesce_time", "p99", 1e9), bars=SPREAD,
            ),
            Measure(
                "Resume → first start, 99th percentile", Unit.NANOSECONDS,
                _with_spread("resume_to_start_p99_ns", "resume_to_start", "p99", 1e9), bars=SPREAD,
            ),
        ),
        axis_parameters=("toggles", "producers", "run_ns", "hold_ns", "operations", "work_ns"),
        telling_parameters=frozenset({"toggles"}),
    ),
)


def plan_of(run: Run, cell: Cell) -> ShapePlan | None:
    """The plan for a cell's shape, which run.json names or the parameters tell; None for a shape without a figure."""
    named = run.shapes.get(cell.workload)
    if named is not None:
        return next((plan for plan in PLANS if plan.shape == named), None)
    parameters = {name for name, _ in cell.parameters}
    return next((plan for plan in PLANS if plan.telling_parameters <= parameters), None)
