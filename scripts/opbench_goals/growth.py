"""The points of the growth curves: what an operation takes, along a parameter. Whether that grows too fast is a matter of
goals, workloads/policies/engine-growth.json, which `opbench gate` judges."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from opbench_plots import tables
from opbench_plots.errors import BadInput
from opbench_plots.measures import Interval
from opbench_rows import CURRENT, PARAMETER_PREFIX

TIMES = ("time_ns_per_op", "time_ns_per_op_ci_low", "time_ns_per_op_ci_high")
READ = ("schema_version", "run_id", "workload", "cell_id", "backend", "operation_class", "samples", *TIMES)
COLUMNS = (
    "schema_version", "run_id", "allocator", "workload", "cell_id", "parameter", "x", "backend", "ns_per_op", "low",
    "high", "is_interval", "samples",
)  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """A parameter of a workload, of which the file lists several values."""

    workload: str
    parameter: str
    title: str


AXES = (
    Axis("growth-operations", "items", "operations"),
    Axis("growth-producers", "producers", "threads that add"),
    Axis("growth-limit", "max_concurrent", "limit"),
    Axis("growth-dependencies", "degree", "dependencies of each"),
    Axis("growth-queues", "queues", "queues"),
)


@dataclass(frozen=True)
class Point:
    """The time of one operation on one backend at one value of an axis."""

    workload: str
    cell_id: str
    parameter: str
    x: int
    backend: str
    time: Interval
    """Nanoseconds."""
    samples: int


def points(folder: Path, axes: Sequence[Axis] = AXES) -> tuple[str, list[Point]]:
    """The id of a run, and all that its summary.csv has along the axes."""
    table = tables.read_table(folder / "summary.csv", READ)
    times = [table.positive(name) for name in TIMES]
    found = []
    for axis in axes:
        rows = table.frame[(table.frame["workload"] == axis.workload) & (table.frame["operation_class"] == "") & times[0].notna()]
        own = [
            Point(
                axis.workload, row["cell_id"], axis.parameter, int(row[PARAMETER_PREFIX + axis.parameter]),
                row["backend"], _time(*(float(time[index]) for time in times)), int(row["samples"]),
            )
            for index, row in rows.iterrows()
        ]  # fmt: skip
        found += sorted(own, key=lambda point: point.x)
    return table.frame["run_id"][0], found


def _time(time: float, low: float, high: float) -> Interval:
    """Nanoseconds an operation."""
    return Interval(time) if math.isnan(low) or math.isnan(high) else Interval(time, low, high)


def write(found: Sequence[Point], run_id: str, allocator: str, path: Path) -> None:
    """Writes the points that the curves are drawn from."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for point in found:
            figures = ["" if value is None else f"{value:.4g}" for value in point.time]
            where = [point.workload, point.cell_id, point.parameter, point.x, point.backend]
            has_bar = str(point.time.has_bar).lower()
            writer.writerow([CURRENT, run_id, allocator, *where, *figures, has_bar, point.samples])


def read(path: Path) -> tuple[str, str, list[Point]]:
    """The run, the allocator and the points of such a file."""
    table = tables.read_table(path, COLUMNS)
    try:
        found = [
            Point(
                row["workload"], row["cell_id"], row["parameter"], int(row["x"]), row["backend"],
                Interval(float(row["ns_per_op"]), *(float(row[end]) if row[end] else None for end in ("low", "high"))),
                int(row["samples"]),
            )
            for row in table.rows
        ]  # fmt: skip
    except ValueError as error:
        raise BadInput(f"{path}: not the points of growth curves: {error}") from error
    return table.rows[0]["run_id"], table.rows[0]["allocator"], found
