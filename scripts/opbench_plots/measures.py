"""A measure is what one panel shows: how a figure is found, its unit, and what its bars mean."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from statistics import median
from typing import NamedTuple

from opbench_plots.run import Run, SummaryRow

FROM_SAMPLES: set[tuple[str, str]] = set()
"""The metric and the statistic of every figure that is made of samples; shapes.py fills it."""


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
    NUMBER = "number"
    BYTES = "bytes"
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
    # What the footer tells of all figures of the panel, and of those that are 0, if there is something to tell.
    meaning: str = ""
    zero: str = ""
    # The kind of sample that it comes from.
    kind: str = "throughput"

    @property
    def axis_label(self) -> str:
        """The unit, unless each tick bears it, and which way is good."""
        unit = "" if self.unit in (Unit.NANOSECONDS, Unit.RATIO, Unit.SHARE, Unit.NUMBER, Unit.BYTES) else self.unit.value
        return ", ".join(part for part in (unit, self.better and f"{self.better} is better") if part)


CONFIDENCE = "95 % confidence interval over the blocks"
SPREAD = "lowest and highest sample"


def with_interval(column: str) -> Callable[[Run, SummaryRow], Interval | None]:
    """A figure of summary.csv with the interval that stands beside it."""

    def read(run: Run, row: SummaryRow) -> Interval | None:
        value = row.figures.get(column)
        if value is None:
            return None
        return Interval(value, row.figures.get(f"{column}_ci_low"), row.figures.get(f"{column}_ci_high"))

    return read


def plain(column: str) -> Callable[[Run, SummaryRow], Interval | None]:
    """A figure of summary.csv as it stands."""

    def read(run: Run, row: SummaryRow) -> Interval | None:
        value = row.figures.get(column)
        return None if value is None else Interval(value)

    return read


def with_spread(column: str, metric: str, stat: str, scale: float = 1) -> Callable[[Run, SummaryRow], Interval | None]:
    """The summary's figure, between the extremes of the samples it comes from."""
    FROM_SAMPLES.add((metric, stat))

    def read(run: Run, row: SummaryRow) -> Interval | None:
        value = row.figures.get(column)
        if value is None:
            return None
        values = run.samples.get((row.slot, metric, stat), [])
        if len(values) < 2:
            return Interval(value)
        low, high = min(values) * scale, max(values) * scale
        if not _is_between(value, low, high):
            run.note(
                f"{column} of {row.slot.backend} in {row.slot.cell.workload} is {value:g} in summary.csv, outside of what "
                f"the samples have, {low:g} to {high:g}: no bar; is the summary of these samples?"
            )
            return Interval(value)
        return Interval(value, low, high)

    return read


def _is_between(value: float, low: float, high: float) -> bool:
    """But for what scaling and dividing may round off."""
    tolerance = 1e-9 * max(abs(low), abs(high))
    return low - tolerance <= value <= high + tolerance


def from_samples(metric: str, stats: tuple[str, ...], scale: float = 1) -> Callable[[Run, SummaryRow], Interval | None]:
    """The median over samples of a figure that summary.csv has no column for."""
    FROM_SAMPLES.update((metric, stat) for stat in stats)

    def read(run: Run, row: SummaryRow) -> Interval | None:
        values = next((run.samples[key] for stat in stats if (key := (row.slot, metric, stat)) in run.samples), [])
        if not values:
            return None
        centre = median(values) * scale
        return Interval(centre) if len(values) < 2 else Interval(centre, min(values) * scale, max(values) * scale)

    return read
