"""The tables of the engine, Dispatch and Foundation in README and articles, from the summary of a kept run."""

from dataclasses import dataclass
from pathlib import Path

from engine_docs.articles import Maker
from engine_docs.layout import Problem
from engine_docs.goals import ALLOCATORS
from opbench_rows import BadRows, read

Row = dict[str, str]

CHAIN = "chain depth=2000 work_ns=0"
GRAPH = "layered degree=4 kind=layered_random layers=100 width=500 work_ns=0"
PLAIN = ("engine", "dispatch", "foundation")
DECLARED = ("engine", "dispatch:notify", "foundation")
BY_HAND = ("engine:within", "dispatch", "")
CELLS = [
    ("closures, added one by one", "", "tiny work_ns=0", PLAIN),
    ("BlockOperations, added one by one", "", "tiny form=block work_ns=0", PLAIN),
    ("BlockOperations, added by four threads", "", "producers form=block producers=4 work_ns=0", PLAIN),
    ("five priorities, mixed", "", "priorities operations=100000 work_ns=0", PLAIN),
    ("added, then all cancelled", "", "cancel-all call=all operations=100000 work_ns=0", PLAIN),
    ("a chain of 2,000", "declared", CHAIN, DECLARED),
    ("a chain of 2,000", "by hand", CHAIN, BY_HAND),
    ("a graph with four dependencies per operation", "declared", GRAPH, DECLARED),
    ("a graph with four dependencies per operation", "by hand", GRAPH, BY_HAND),
]
"""Words for a cell and for who keeps its order, its cell_id, and the backends for the engine, Dispatch and Foundation on
its axis. Cells in which the engine loses belong here as much as those in which it wins."""


@dataclass(frozen=True)
class Cell:
    """The figures of a cell: nanoseconds per operation, and the engine's time ÷ Dispatch's with its interval."""

    words: str
    axis: str
    engine: float
    dispatch: float
    functions: float | None
    foundation: float | None
    ratio: float
    low: float
    high: float

    @property
    def name(self) -> str:
        return f"{self.words}, {self.axis}" if self.axis else self.words

    @property
    def times(self) -> tuple[float | None, ...]:
        return self.engine, self.dispatch, self.foundation

    @property
    def interval(self) -> str:
        return f"{self.ratio:.2f} ({self.low:.2f}–{self.high:.2f})"

    def row(self, *times: float | None) -> str:
        return f"| {self.name} | {' | '.join(map(time, times))} | {self.interval} |\n"


def makers(folder: Path) -> dict[str, Maker]:
    """Makes parts from the summary.csv of kept runs in a folder: `headline RUN`, the README's table and the sentence after
    it, and `times NAME`, the table of all cells in the runs NAME-ALLOCATOR."""
    return {
        "headline": lambda name: _headline(cells(folder, name)),
        "times": lambda name: _times([cells(folder, f"{name}-{allocator}") for allocator in ALLOCATORS]),
    }


def cells(folder: Path, name: str) -> list[Cell]:
    """The cells of a kept run, in the order of `CELLS`."""
    path = folder / name / "summary.csv"
    try:
        rows = summary(path)
        return [_cell(rows, *cell) for cell in CELLS]
    except (OSError, KeyError, ValueError, BadRows) as error:
        raise Problem(f"{path}: no figures of these cells: {error}") from None


def speed(folder: Path, *names: str) -> str:
    """How many times as fast as Foundation the engine is at least, in all cells of kept runs that both measured and
    whose operations do nothing: all but those that sleep."""
    gains = []
    for name in names:
        rows = summary(folder / name / "summary.csv")
        for (cell, backend), row in rows.items():
            own, other = measured(row), measured(rows.get((cell, "foundation")))
            if backend == "engine" and "block_ns" not in cell and own and other:
                gains.append(other / own)
    return f"at least {min(gains):.0f} times as fast"


def gains(of: list[Cell]) -> list[Cell]:
    """The cells for the README's table, the greatest gain over Dispatch first."""
    return sorted((cell for cell in of if cell.foundation and cell.low <= 1), key=lambda cell: cell.ratio)


def time(nanoseconds: float | None) -> str:
    """The time of one operation, or a dash if the backend has no such cell."""
    if nanoseconds is None:
        return "–"
    return f"{nanoseconds:,.0f} ns" if nanoseconds < 100_000 else f"{nanoseconds / 1000:,.0f} µs"


def summary(path: Path) -> dict[tuple[str, str], Row]:
    """A summary's rows of whole cells, by cell and backend."""
    return {(row["cell_id"], row["backend"]): row for row in read(path) if not row["operation_class"]}


def measured(row: Row | None) -> float | None:
    """The time per operation that a row records."""
    return float(row["time_ns_per_op"]) if row and row["time_ns_per_op"] else None


def _cell(
    rows: dict[tuple[str, str], Row], words: str, axis: str, cell: str, backends: tuple[str, str, str]
) -> Cell:
    own, base, other = backends
    engine = rows[cell, own]
    if engine["ratio_to"] != base:
        raise ValueError(f"the ratio of {cell} is not to {base}")
    functions = None if base == "dispatch:notify" else measured(rows.get((cell, "dispatch:function")))
    ratio, low, high = (float(engine[f"time_ratio{part}"]) for part in ("", "_ci_low", "_ci_high"))
    times = float(engine["time_ns_per_op"]), float(rows[cell, base]["time_ns_per_op"])
    return Cell(words, axis, *times, functions, measured(rows.get((cell, other))), ratio, low, high)


def _times(of: list[list[Cell]]) -> str:
    """The times with the first allocator, and the ratios with each."""
    ratios = " | ".join(f"engine ÷ Dispatch, {words}" for words in ALLOCATORS.values())
    head = (
        f"| time per operation | engine | Dispatch | – by C functions | Foundation | {ratios} |\n"
        f"| --- | ---: | ---: | ---: | ---: |{' --- |' * len(of)}\n"
    )
    rows = []
    for cells in zip(*of, strict=True):
        times = (cells[0].engine, cells[0].dispatch, cells[0].functions, cells[0].foundation)
        figures = [*map(time, times), *(cell.interval for cell in cells)]
        rows.append(f"| {cells[0].name} | {' | '.join(figures)} |\n")
    return head + "".join(rows)


def _headline(of: list[Cell]) -> str:
    head = (
        "| time per operation | engine | Dispatch | Foundation | engine ÷ Dispatch (95 %) |\n"
        "| --- | ---: | ---: | ---: | --- |\n"
    )
    rows = [cell.row(*cell.times) for cell in gains(of)]
    return head + "".join(rows) + f"\n{_losses(of)}\n"


def _losses(of: list[Cell]) -> str:
    """The cells in which Dispatch is faster, beyond chance, and the axis on which its C functions are."""
    lost: dict[str, list[str]] = {}
    for cell in of:
        if cell.low > 1:
            lost.setdefault(cell.words, []).append(f"{cell.ratio:.2f} times as long {cell.axis}".rstrip())
    parts = [f"Dispatch wins in {words}: the engine takes {' and '.join(times)}" for words, times in lost.items()]
    functions = [cell.engine / cell.functions for cell in of if cell.functions and cell.axis]
    if functions:
        times = f"{min(functions):.1f} to {max(functions):.1f} times as long"
        parts.append(f"where bodies keep the order by hand, the engine takes {times} as C functions, which allocate nothing")
    text = "; ".join(parts) or "Dispatch wins nowhere"
    return f"{text[0].upper()}{text[1:]}."
