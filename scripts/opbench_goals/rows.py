"""The figures of runs by cell, backend and block, from their samples."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from opbench_plots import tables
from opbench_plots.errors import BadInput
from opbench_plots.kept import samples_of
from opbench_plots.tables import PARAMETER_PREFIX

COLUMNS = (
    "schema_version", "run_id", "workload", "cell_id", "backend", "side", "block", "phase", "class", "status", "metric",
    "stat", "value", "operations",
)  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """Which rows of a sample a figure is made of."""

    metric: str
    stat: str
    phase: str = ""
    per_operation: bool = False
    scale: float = 1
    unit: str = ""
    decimals: int | None = None
    """To how many it is rounded: what a round asks for once, however many operations it has, is none of theirs."""

    def of(self, value: float, operations: float) -> float:
        """The figure that a sample's value comes to."""
        figure = value / operations if self.per_operation else value
        return figure if self.decimals is None else round(figure, self.decimals)

    def text(self, value: float) -> str:
        """The value for people."""
        number = value * self.scale
        digits = f"{number:.3g}" if abs(number) < 100 else f"{number:,.0f}"
        return f"{digits} {self.unit}".rstrip()


FIGURES = {
    "time": Figure("time", "total", "total", True, 1e9, "ns"),
    "cpu_time": Figure("cpu_time", "total", "total", True, 1e9, "ns"),
    "submit_latency_p50": Figure("submit_latency", "p50", scale=1e9, unit="ns"),
    "submit_latency_p99": Figure("submit_latency", "p99", scale=1e9, unit="ns"),
    "start_latency_max": Figure("start_latency", "max", scale=1e9, unit="ns"),
    "makespan_ratio": Figure("makespan_ratio", "total", "makespan"),
    "retained_bytes": Figure("retained_bytes", "total", "mark:pending", True, unit="B"),
    "allocations": Figure("allocations", "total", "total", True, decimals=2),
    "inversions": Figure("inversions", "total"),
}
"""By the names that goals use."""


class Cell(NamedTuple):
    """One point of a workload's parameters."""

    identity: str
    run_id: str
    workload: str
    parameters: tuple[tuple[str, str], ...]

    def has(self, values: dict[str, Any]) -> bool:
        """Whether each of these parameters has its value here."""
        own = dict(self.parameters)
        return all(own.get(name) == str(value) for name, value in values.items())


def counts(row: dict[str, str]) -> bool:
    """Whether a row is of a sound sample's whole work on one side."""
    return row["status"] == "ok" and row["class"] == "" and row["side"] == "" and row["phase"] != "warmup"


class Rows:
    """The figures of runs that have no cell in common; those of samples that did not end well are left out, and their
    status is kept."""

    def __init__(self, *folders: Path) -> None:
        self._values: dict[tuple[str, str, str, str, str], dict[int, float]] = defaultdict(dict)
        self._operations: dict[tuple[str, str, str, str, str], dict[int, float]] = defaultdict(dict)
        self.statuses: dict[tuple[str, str], set[str]] = defaultdict(set)
        cells: dict[str, Cell] = {}
        for folder in folders:
            self._read(samples_of(folder), cells)
        self.cells = list(cells.values())

    def _read(self, path: Path, cells: dict[str, Cell]) -> None:
        table = tables.read_table(path, COLUMNS)
        for row in table.rows:
            identity = row["cell_id"]
            if identity not in cells:
                named = ((name, row[PARAMETER_PREFIX + name]) for name in table.parameters)
                parameters = tuple((name, value) for name, value in named if value != "")
                cells[identity] = Cell(identity, row["run_id"], row["workload"], parameters)
            elif cells[identity].run_id != row["run_id"]:
                raise BadInput(f"{path}: the cell {identity} is in the run {cells[identity].run_id} too")
            self.statuses[identity, row["backend"]].add(row["status"])
            if counts(row):
                self._keep(path, row)

    def _keep(self, path: Path, row: dict[str, str]) -> None:
        value = tables.number(path, row, "value")
        if value is None:
            return
        key = (row["cell_id"], row["backend"], row["metric"], row["stat"], row["phase"])
        # A sample that was taken again follows the one it replaces.
        self._values[key][int(row["block"])] = value
        self._operations[key][int(row["block"])] = tables.number(path, row, "operations") or 0

    def cell(self, workload: str, values: dict[str, Any]) -> Cell | None:
        """The one cell of a workload with these values; None if the run has none."""
        found = [cell for cell in self.cells if cell.workload == workload and cell.has(values)]
        if len(found) > 1:
            raise BadInput(f"{len(found)} cells of {workload} have {values}; a goal is about one")
        return found[0] if found else None

    def figures(self, cell: Cell, backend: str, figure: Figure) -> dict[int, float]:
        """One value a block; none where there is no such figure."""
        key = (cell.identity, backend, figure.metric, figure.stat, figure.phase)
        operations = self._operations[key]
        return {
            block: figure.of(value, operations[block])
            for block, value in self._values.get(key, {}).items()
            if operations[block] > 0 or not figure.per_operation
        }

    def backends(self, cell: Cell) -> list[str]:
        """All that were measured on the cell."""
        return list(dict.fromkeys(backend for identity, backend in self.statuses if identity == cell.identity))
