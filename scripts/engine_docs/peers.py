"""The engine beside Dispatch and oneTBB, from the kept runs and verdicts of scripts/peers."""

import json
from dataclasses import dataclass
from pathlib import Path

from engine_docs.articles import Maker
from engine_docs.errors import Problem
from engine_docs.goals import ALLOCATORS
from engine_docs.headline import GRAPH, Row, measured, summary, time
from opbench_rows import BadRows, read

CHAIN = "chain depth=100000 work_ns=0"
DIAMONDS = "diamonds kind=diamond layers=100 width=1000 work_ns=0"
PLAIN = ("engine", "dispatch", "tbb")
DECLARED = ("engine", "dispatch:notify", "tbb:flow")
IN_ONE_STEP = ("engine:graph", "dispatch:notify", "tbb:flow")
BY_HAND = ("engine:within", "dispatch", "tbb")
CELLS = [
    ("closures", "tiny work_ns=0", PLAIN),
    ("BlockOperations", "tiny form=block work_ns=0", PLAIN),
    ("closures, added by four threads", "producers producers=4 work_ns=0", PLAIN),
    ("BlockOperations, added by four threads", "producers form=block producers=4 work_ns=0", PLAIN),
    ("a chain of 100,000, declared", CHAIN, DECLARED),
    ("a chain of 100,000, declared in one step", CHAIN, IN_ONE_STEP),
    ("a chain of 100,000, by hand", CHAIN, BY_HAND),
    ("a graph with four dependencies per operation, declared", GRAPH, DECLARED),
    ("a graph with four dependencies per operation, declared in one step", GRAPH, IN_ONE_STEP),
    ("a graph with four dependencies per operation, by hand", GRAPH, BY_HAND),
    ("1 → 1,000 → 1, declared", DIAMONDS, DECLARED),
    ("1 → 1,000 → 1, declared in one step", DIAMONDS, IN_ONE_STEP),
    ("1 → 1,000 → 1, by hand", DIAMONDS, BY_HAND),
]
"""Words for a cell, its cell_id, and the backends for the engine, Dispatch and oneTBB: on a cell's axis, if it has one."""


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval, which few blocks do not have."""

    value: float
    interval: tuple[float, float] | None

    def __str__(self) -> str:
        return f"{self.value:.2f}" + (" ({:.2f}–{:.2f})".format(*self.interval) if self.interval else "")


@dataclass(frozen=True)
class Cell:
    """The nanoseconds per operation of a cell, and the engine's time ÷ those of the others."""

    words: str
    engine: float | None
    dispatch: float | None
    functions: float | None
    onetbb: float | None
    to_dispatch: Ratio
    to_onetbb: Ratio


@dataclass(frozen=True)
class Peers:
    """A kept run."""

    allocator: str
    version: str
    compiler: str
    processor: str
    blocks: int
    is_quick: bool
    cells: list[Cell]

    def table(self) -> str:
        head = (
            "| time per operation | engine | Dispatch | – by C functions | oneTBB | engine ÷ Dispatch (95 %) "
            "| engine ÷ oneTBB (95 %) |\n| --- | ---: | ---: | ---: | ---: | --- | --- |\n"
        )
        rows = [
            f"| {cell.words} | {' | '.join(map(time, (cell.engine, cell.dispatch, cell.functions, cell.onetbb)))} "
            f"| {cell.to_dispatch} | {cell.to_onetbb} |\n"
            for cell in self.cells
        ]
        kind = "A short trial, not a measurement: medians" if self.is_quick else "Medians"
        blocks = "one block" if self.blocks == 1 else f"{self.blocks} blocks"
        about = f"{kind} of {blocks} with oneTBB {self.version}, {self.allocator}, {self.compiler}, {self.processor}."
        return f"{head}{''.join(rows)}\n{about}\n"

    def sentence(self) -> str:
        """Where the engine is faster than oneTBB, and where it is slower, beyond chance."""
        found: dict[str, list[str]] = {"less": [], "more": []}
        for cell in sorted(self.cells, key=lambda cell: cell.to_onetbb.value):
            low, high = cell.to_onetbb.interval or (0, float("inf"))
            if low > 1 or high < 1:
                found["more" if low > 1 else "less"].append(f"{cell.to_onetbb.value:.2f} in {cell.words}")
        parts = [f"{kind}: {'; '.join(cells)}" for kind, cells in found.items() if cells]
        said = ". It takes ".join(parts) or "as much, within chance, everywhere"
        return f"Of oneTBB {self.version}'s time per operation, with {self.allocator}, the engine takes {said}.\n"


def makers(runs: Path, verdicts: Path) -> dict[str, Maker]:
    """Makes parts for an allocator from the kept run peers-ALLOCATOR: `peers ALLOCATOR`, its table, and `onetbb ALLOCATOR`,
    a sentence for the README."""
    return {
        "peers": lambda allocator: kept(runs, verdicts, allocator).table(),
        "onetbb": lambda allocator: kept(runs, verdicts, allocator).sentence(),
    }


def kept(runs: Path, verdicts: Path, allocator: str) -> Peers:
    """The kept run with an allocator."""
    folder, judged = runs / f"peers-{allocator}", verdicts / f"engine-peers-{allocator}.csv"
    try:
        rows = summary(folder / "summary.csv")
        goals = {(row["cell_id"], row["backend"], row["against"]): row for row in read(judged)}
        facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        build = facts["executable"]["description"]
        return Peers(
            allocator=ALLOCATORS[allocator], version=build["onetbb"], compiler=build["compiler"].split(";")[0],
            processor=facts["host"]["host_class"], blocks=facts["progress"]["blocks_done"], is_quick=facts["plan"]["quick"],
            cells=[_cell(rows, goals, *cell) for cell in CELLS],
        )  # fmt: skip
    except (OSError, KeyError, ValueError, BadRows) as error:
        raise Problem(f"{folder}, {judged}: no figures of scripts/peers: {error!r}") from None


def _cell(
    rows: dict[tuple[str, str], Row], goals: dict[tuple[str, str, str], Row], words: str, cell: str,
    backends: tuple[str, str, str],
) -> Cell:  # fmt: skip
    own, base, peer = backends
    engine = rows[cell, own]
    if engine["ratio_to"] != base:
        raise ValueError(f"the ratio of {cell} is not to {base}")
    functions = None if base == "dispatch:notify" else measured(rows.get((cell, "dispatch:function")))
    return Cell(
        words, measured(engine), measured(rows[cell, base]), functions, measured(rows[cell, peer]),
        _ratio(engine, "time_ratio", "time_ratio_"), _ratio(goals[cell, own, peer], "ratio", ""),
    )  # fmt: skip


def _ratio(row: Row, value: str, interval: str) -> Ratio:
    low, high = row[f"{interval}ci_low"], row[f"{interval}ci_high"]
    return Ratio(float(row[value]), (float(low), float(high)) if low else None)
