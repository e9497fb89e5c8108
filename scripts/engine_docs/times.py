"""The tables of times in README and articles, and the sentences beside them, from the summaries of kept runs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine_docs.articles import Maker
from engine_docs.goals import ALLOCATORS
from engine_docs.layout import Problem
from opbench_rows import BadRows, read

Row = dict[str, str]
Rows = dict[tuple[str, str], Row]
"""A summary's rows of whole cells, by cell and backend."""

GRAPH = "layered degree=4 kind=layered_random layers=100 width=500 work_ns=0"
SHORT_CHAIN, CHAIN = "chain depth=2000 work_ns=0", "chain depth=100000 work_ns=0"
DIAMONDS = "diamonds kind=diamond layers=100 width=1000 work_ns=0"
PLAIN = ("engine", "dispatch", "foundation")
DECLARED = ("engine", "dispatch:notify", "foundation")
BY_HAND = ("engine:within", "dispatch", "")
CELLS = [
    ("closures, added one by one", "", "tiny work_ns=0", PLAIN),
    ("BlockOperations, added one by one", "", "tiny form=block work_ns=0", PLAIN),
    ("BlockOperations, added by four threads", "", "producers form=block producers=4 work_ns=0", PLAIN),
    ("five priorities, mixed", "", "priorities operations=100000 work_ns=0", PLAIN),
    ("added, then all cancelled", "", "cancel-all call=all operations=100000 work_ns=0", PLAIN),
    ("a chain of 2,000", "declared", SHORT_CHAIN, DECLARED),
    ("a chain of 2,000", "by hand", SHORT_CHAIN, BY_HAND),
    ("a graph with four dependencies per operation", "declared", GRAPH, DECLARED),
    ("a graph with four dependencies per operation", "by hand", GRAPH, BY_HAND),
]
"""Words for a cell and for who keeps its order, its cell_id, and the backends for the engine, Dispatch and Foundation on
its axis. Cells in which the engine loses belong here as much as those in which it wins."""
PEERS = [
    ("closures", "tiny work_ns=0", "engine", "tbb"),
    ("BlockOperations", "tiny form=block work_ns=0", "engine", "tbb"),
    ("closures, added by four threads", "producers producers=4 work_ns=0", "engine", "tbb"),
    ("BlockOperations, added by four threads", "producers form=block producers=4 work_ns=0", "engine", "tbb"),
    ("a chain of 100,000, declared", CHAIN, "engine", "tbb:flow"),
    ("a chain of 100,000, declared in one step", CHAIN, "engine:graph", "tbb:flow"),
    ("a chain of 100,000, by hand", CHAIN, "engine:within", "tbb"),
    ("a graph with four dependencies per operation, declared", GRAPH, "engine", "tbb:flow"),
    ("a graph with four dependencies per operation, declared in one step", GRAPH, "engine:graph", "tbb:flow"),
    ("a graph with four dependencies per operation, by hand", GRAPH, "engine:within", "tbb"),
    ("1 → 1,000 → 1, declared", DIAMONDS, "engine", "tbb:flow"),
    ("1 → 1,000 → 1, declared in one step", DIAMONDS, "engine:graph", "tbb:flow"),
    ("1 → 1,000 → 1, by hand", DIAMONDS, "engine:within", "tbb"),
]
"""Words for a cell, its cell_id, and the backends for the engine and oneTBB."""


@dataclass(frozen=True)
class Cell:
    """The nanoseconds per operation of a cell, by column, and the engine's time ÷ that of Dispatch or oneTBB."""

    id: str
    words: str
    axis: str
    times: dict[str, float | None]
    value: float | None
    """None if it was not measured."""
    interval: tuple[float, float] | None
    """Of the ratio; few blocks have none."""

    @property
    def name(self) -> str:
        return f"{self.words}, {self.axis}" if self.axis else self.words

    @property
    def ratio(self) -> str:
        if self.value is None:
            return "–"
        return f"{self.value:.2f}" + (" ({:.2f}–{:.2f})".format(*self.interval) if self.interval else "")

    @property
    def is_loss(self) -> bool:
        """Whether it is slower, beyond chance."""
        return self.interval is not None and self.interval[0] > 1


def makers(runs: Path, verdicts: Path) -> dict[str, Maker]:
    """Makes parts from kept runs: `headline RUN`, the README's table and the sentence after it; `times NAME`, the table of all
    cells in the runs NAME-ALLOCATOR; `peers onetbb`, the table of the runs peers-ALLOCATOR."""
    return {
        "headline": lambda name: _headline(cells(runs, name), _peer_cells(runs, verdicts, "system")),
        "times": lambda name: _times([cells(runs, f"{name}-{allocator}") for allocator in ALLOCATORS]),
        "peers": lambda _: _peers(runs, verdicts),
    }


# Tables and sentences


def time(nanoseconds: float | None) -> str:
    """The time of one operation, or a dash if the backend has no such cell."""
    if nanoseconds is None:
        return "–"
    return f"{nanoseconds:,.0f} ns" if nanoseconds < 100_000 else f"{nanoseconds / 1000:,.0f} µs"


def _table(columns: dict[str, str], ratios: list[str], of: list[list[Cell]]) -> str:
    """A line for each cell: its times in the first run, by column and its title, and the ratios in each run, by title."""
    lines = [["time per operation", *columns.values(), *ratios], ["---", *["---:"] * len(columns), *["---"] * len(ratios)]]
    for cells in zip(*of, strict=True):
        lines.append([cells[0].name, *(time(cells[0].times[column]) for column in columns), *(cell.ratio for cell in cells)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _headline(of: list[Cell], peers: list[Cell]) -> str:
    columns = {"engine": "engine", "dispatch": "Dispatch", "foundation": "Foundation"}
    # The first of a cell is declared by the engine's own operations.
    beside = {cell.id: cell for cell in reversed(peers)}
    shown = gains(of)
    others = [beside.get(cell.id, Cell(cell.id, cell.words, cell.axis, {}, None, None)) for cell in shown]
    return f"{_table(columns, ['engine ÷ Dispatch (95 %)', 'engine ÷ oneTBB'], [shown, others])}\n{_losses(of)}\n"


def _times(of: list[list[Cell]]) -> str:
    columns = {"engine": "engine", "dispatch": "Dispatch", "functions": "– by C functions", "foundation": "Foundation"}
    return _table(columns, [f"engine ÷ Dispatch, {words}" for words in ALLOCATORS.values()], of)


def gains(of: list[Cell]) -> list[Cell]:
    """The cells for the README's table, the greatest gain over Dispatch first."""
    return sorted((cell for cell in of if cell.times["foundation"] and not cell.is_loss), key=lambda cell: cell.value)


def _losses(of: list[Cell]) -> str:
    """The cells in which Dispatch is faster, beyond chance, and the axis on which its C functions are."""
    lost: dict[str, list[str]] = {}
    for cell in of:
        if cell.is_loss:
            lost.setdefault(cell.words, []).append(f"{cell.value:.2f} times as long {cell.axis}".rstrip())
    parts = [f"Dispatch wins in {words}: the engine takes {' and '.join(times)}" for words, times in lost.items()]
    functions = [cell.times["engine"] / cell.times["functions"] for cell in of if cell.times["functions"] and cell.axis]
    if functions:
        times = f"{min(functions):.1f} to {max(functions):.1f} times as long"
        parts.append(f"where bodies keep the order by hand, the engine takes {times} as C functions, which allocate nothing")
    text = "; ".join(parts) or "Dispatch wins nowhere"
    return f"{text[0].upper()}{text[1:]}."


def _peers(runs: Path, verdicts: Path) -> str:
    facts = [_facts(runs, allocator) for allocator in ALLOCATORS]
    titles = [f"engine ÷ oneTBB, {words}" for words in ALLOCATORS.values()]
    made = _table({"engine": "engine", "onetbb": "oneTBB"}, titles, [_peer_cells(runs, verdicts, one) for one in ALLOCATORS])
    kind = "A short trial, not a measurement: medians" if any(one["plan"]["quick"] for one in facts) else "Medians"
    build = facts[0]["executable"]["description"]
    about = f"{facts[0]['progress']['blocks_done']} blocks with oneTBB {build['onetbb']}, {build['compiler'].split(';')[0]}"
    return f"{made}\n{kind} of {about}, {facts[0]['host']['host_class']}; times with {ALLOCATORS['system']}.\n"


# Kept runs


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, KeyError, ValueError, BadRows) as error:
        raise Problem(f"{path}: no figures of these cells: {error!r}") from None


def _facts(runs: Path, allocator: str) -> dict:
    path = runs / f"peers-{allocator}" / "run.json"
    with _reading(path):
        return json.loads(path.read_text(encoding="utf-8"))


def _summary(path: Path) -> Rows:
    return {(row["cell_id"], row["backend"]): row for row in read(path) if not row["operation_class"]}


def _measured(row: Row | None) -> float | None:
    """The time per operation that a row records."""
    return float(row["time_ns_per_op"]) if row and row["time_ns_per_op"] else None


def _interval(row: Row, prefix: str = "") -> tuple[float, float] | None:
    low, high = row[f"{prefix}ci_low"], row[f"{prefix}ci_high"]
    return (float(low), float(high)) if low else None


def cells(runs: Path, name: str) -> list[Cell]:
    """The cells of a kept run, in the order of `CELLS`."""
    path = runs / name / "summary.csv"
    with _reading(path):
        rows = _summary(path)
        return [_cell(rows, *cell) for cell in CELLS]


def _cell(rows: Rows, words: str, axis: str, cell: str, backends: tuple[str, str, str]) -> Cell:
    own, base, other = backends
    engine = rows[cell, own]
    if engine["ratio_to"] != base:
        raise ValueError(f"the ratio of {cell} is not to {base}")
    functions = None if base == "dispatch:notify" else _measured(rows.get((cell, "dispatch:function")))
    times = {"engine": _measured(engine), "dispatch": _measured(rows[cell, base]), "functions": functions}
    times["foundation"] = _measured(rows.get((cell, other)))
    return Cell(cell, words, axis, times, float(engine["time_ratio"]), _interval(engine, "time_ratio_"))


def _peer_cells(runs: Path, verdicts: Path, allocator: str) -> list[Cell]:
    """The cells of the kept run beside oneTBB, with the ratios that the gate judged."""
    path = verdicts / f"engine-peers-{allocator}.csv"
    with _reading(path):
        rows = _summary(runs / f"peers-{allocator}" / "summary.csv")
        goals = {(row["cell_id"], row["backend"], row["against"]): row for row in read(path)}
        found = []
        for words, cell, own, peer in PEERS:
            times, goal = {"engine": _measured(rows[cell, own]), "onetbb": _measured(rows[cell, peer])}, goals[cell, own, peer]
            found.append(Cell(cell, words, "", times, float(goal["ratio"]), _interval(goal)))
        return found


def speed(runs: Path, *names: str) -> str:
    """How many times as fast as Foundation the engine is at least, in all cells of kept runs that both measured and
    whose operations do nothing: all but those that sleep."""
    gains = []
    for name in names:
        rows = _summary(runs / name / "summary.csv")
        for (cell, backend), row in rows.items():
            own, other = _measured(row), _measured(rows.get((cell, "foundation")))
            if backend == "engine" and "block_ns" not in cell and own and other:
                gains.append(other / own)
    return f"at least {min(gains):.0f} times as fast"
