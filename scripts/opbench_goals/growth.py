"""How the cost of an operation grows with one parameter, and whether any growth is worse than linear."""

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opbench_goals import estimates
from opbench_goals.estimates import Estimate
from opbench_goals.rows import FIGURES, Cell, Rows
from opbench_plots.errors import BadInput

ENGINE = "engine"
COLUMNS = (
    "schema_version", "run_id", "allocator", "workload", "cell_id", "parameter", "x", "backend", "ns_per_op", "low",
    "high", "is_interval", "samples",
)  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """A parameter of a workload, and what may become of the engine's cost along it.

    What is judged is the cost of one unit: of an operation, or where the work is proportional to the parameter, as with
    dependencies, of an operation ÷ the parameter. While that stays the same, the whole grows linearly.
    """

    workload: str
    parameter: str
    title: str
    divides: bool
    """Whether an operation's cost is divided by the parameter."""
    at_most: float
    """How many times the unit's cost at the smallest value it may be at any other."""


@dataclass(frozen=True)
class Point:
    """The time of one operation on one backend at one value of an axis."""

    workload: str
    cell_id: str
    parameter: str
    x: int
    backend: str
    time: Estimate
    """Nanoseconds."""
    samples: tuple[float, ...] = ()


@dataclass(frozen=True)
class Growth:
    """The greatest cost of a unit along an axis ÷ the cost at the smallest value."""

    axis: Axis
    smallest: int
    worst: int
    estimate: Estimate | None

    @property
    def word(self) -> str:
        """`worse` only if the whole interval lies above the bound, `linear` only if it lies below."""
        if self.estimate is None:
            return "not measured"
        if not self.estimate.is_interval:
            return "open"
        if self.estimate.low > self.axis.at_most:
            return "worse than linear"
        return "linear" if self.estimate.high <= self.axis.at_most else "open"


def load_axes(path: Path) -> list[Axis]:
    """Reads the axes of a file."""
    try:
        entries = json.loads(path.read_bytes())["axes"]
        return [Axis(**entry) for entry in entries]
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: not a list of axes: {error}") from error


def points(rows: Rows, axes: Iterable[Axis]) -> list[Point]:
    """All that a run has measured along the axes."""
    found = []
    for axis in axes:
        cells = sorted((_x(cell, axis), cell) for cell in rows.cells if cell.workload == axis.workload)
        for x, cell in cells:
            for backend in rows.backends(cell):
                values = list(rows.figures(cell, backend, FIGURES["time"]).values())
                if values:
                    nanoseconds = [value * 1e9 for value in values]
                    estimate = estimates.of_values(nanoseconds, f"{cell.identity}|{backend}")
                    found.append(
                        Point(axis.workload, cell.identity, axis.parameter, x, backend, estimate, tuple(nanoseconds))
                    )
    return found


def _x(cell: Cell, axis: Axis) -> int:
    return int(dict(cell.parameters)[axis.parameter])


def judge(found: Sequence[Point], axes: Iterable[Axis]) -> list[Growth]:
    """The worst growth of the engine along each axis."""
    return [_growth(axis, [p for p in found if p.workload == axis.workload and p.backend == ENGINE]) for axis in axes]


def _growth(axis: Axis, own: Sequence[Point]) -> Growth:
    if len(own) < 2:
        return Growth(axis, 0, 0, None)
    base = own[0]

    def units(point: Point) -> list[float]:
        return [value / (point.x if axis.divides else 1) for value in point.samples]

    ratios = {
        point.x: estimates.of_groups(units(base), units(point), f"{axis.workload}|{point.x}") for point in own[1:]
    }
    worst = max(ratios, key=lambda x: ratios[x].value)
    return Growth(axis, base.x, worst, ratios[worst])


def text(growths: Sequence[Growth], allocator: str) -> str:
    """A table of the axes."""
    lines = [("", "unit", "worst", "÷ that at", "figure", "95 % interval", "at most", "")]
    for growth in growths:
        axis, found = growth.axis, growth.estimate
        unit = f"1 operation ÷ {axis.parameter}" if axis.divides else "1 operation"
        figures = ("-", "-", "-", "-")
        if found is not None:
            spread = f"{found.low:.2f} – {found.high:.2f}"
            figures = (
                f"{axis.parameter}={growth.worst}", str(growth.smallest), f"{found.value:.2f}",
                spread if found.is_interval else f"({spread})",
            )  # fmt: skip
        lines.append((axis.title, unit, *figures, f"{axis.at_most:g}", growth.word))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    printed = ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([f"With {allocator}:", printed[0], "-" * len(printed[0]), *printed[1:], ""])


def write(found: Sequence[Point], run_id: str, allocator: str, path: Path) -> None:
    """Writes the points that the curves are drawn from."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for point in found:
            time = point.time
            figures = [f"{value:.4g}" for value in (time.value, time.low, time.high)]
            where = [point.workload, point.cell_id, point.parameter, point.x, point.backend]
            writer.writerow([1, run_id, allocator, *where, *figures, str(time.is_interval).lower(), time.values])


def read(path: Path) -> tuple[str, str, list[Point]]:
    """The run, the allocator and the points of such a file; without the samples behind them."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows: list[dict[str, Any]] = list(csv.DictReader(file))
        found = [
            Point(
                row["workload"], row["cell_id"], row["parameter"], int(row["x"]), row["backend"],
                Estimate(
                    float(row["ns_per_op"]), float(row["low"]), float(row["high"]), row["is_interval"] == "true",
                    int(row["samples"]),
                ),
            )
            for row in rows
        ]  # fmt: skip
        return rows[0]["run_id"], rows[0]["allocator"], found
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise BadInput(f"{path}: not the points of growth curves: {error}") from error
