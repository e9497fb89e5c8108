"""The engine beside Dispatch and oneTBB, from the kept runs and verdicts of scripts/peers."""

import json
from dataclasses import dataclass
from pathlib import Path

from engine_docs.articles import Maker
from engine_docs.layout import Problem
from engine_docs.goals import ALLOCATORS
from engine_docs.headline import GRAPH, Row, measured, summary, time
from opbench_rows import BadRows, read

CHAIN = "chain depth=100000 work_ns=0"
DIAMONDS = "diamonds kind=diamond layers=100 width=1000 work_ns=0"
PLAIN = ("engine", "tbb")
DECLARED = ("engine", "tbb:flow")
IN_ONE_STEP = ("engine:graph", "tbb:flow")
BY_HAND = ("engine:within", "tbb")
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
"""Words for a cell, its cell_id, and the backends for the engine and oneTBB: on a cell's axis, if it has one."""


@dataclass(frozen=True)
class Ratio:
    """A ratio with its interval, which few blocks do not have."""

    value: float
    interval: tuple[float, float] | None

    def __str__(self) -> str:
        return f"{self.value:.2f}" + (" ({:.2f}–{:.2f})".format(*self.interval) if self.interval else "")


@dataclass(frozen=True)
class Cell:
    """The nanoseconds per operation of a cell, and the engine's time ÷ oneTBB's."""

    words: str
    engine: float | None
    onetbb: float | None
    ratio: Ratio


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

    def sentence(self) -> str:
        """Where the engine is faster than oneTBB, and where it is slower, beyond chance."""
        found: dict[str, list[str]] = {"less": [], "more": []}
        for cell in sorted(self.cells, key=lambda cell: cell.ratio.value):
            low, high = cell.ratio.interval or (0, float("inf"))
            if low > 1 or high < 1:
                found["more" if low > 1 else "less"].append(f"{cell.ratio.value:.2f} in {cell.words}")
        parts = [f"{kind}: {'; '.join(cells)}" for kind, cells in found.items() if cells]
        said = ". It takes ".join(parts) or "as much, within chance, everywhere"
        return f"Of oneTBB {self.version}'s time per operation, with {self.allocator}, the engine takes {said}.\n"


def makers(runs: Path, verdicts: Path) -> dict[str, Maker]:
    """Makes parts from the kept runs peers-ALLOCATOR: `peers onetbb`, the table of all allocators, and `onetbb ALLOCATOR`, a
    sentence for the README."""
    return {
        "peers": lambda _: table([kept(runs, verdicts, allocator) for allocator in ALLOCATORS]),
        "onetbb": lambda allocator: kept(runs, verdicts, allocator).sentence(),
    }


def table(of: list[Peers]) -> str:
    """The times with the first allocator, and the ratios with each."""
    first = of[0]
    head = (
        f"| time per operation | engine | oneTBB | {' | '.join(f'engine ÷ oneTBB, {peers.allocator}' for peers in of)} |\n"
        f"| --- | ---: | ---: |{' --- |' * len(of)}\n"
    )
    rows = [
        f"| {cells[0].words} | {time(cells[0].engine)} | {time(cells[0].onetbb)} "
        f"| {' | '.join(str(cell.ratio) for cell in cells)} |\n"
        for cells in zip(*(peers.cells for peers in of), strict=True)
    ]
    kind = "A short trial, not a measurement: medians" if any(peers.is_quick for peers in of) else "Medians"
    about = f"{kind} of {first.blocks} blocks with oneTBB {first.version}, {first.compiler}, {first.processor}"
    return f"{head}{''.join(rows)}\n{about}; times with {first.allocator}.\n"


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
    rows: dict[tuple[str, str], Row], goals: dict[tuple[str, str, str], Row], words: str, cell: str, backends: tuple[str, str]
) -> Cell:
    own, peer = backends
    ratio = _ratio(goals[cell, own, peer])
    return Cell(words, measured(rows[cell, own]), measured(rows[cell, peer]), ratio)


def _ratio(row: Row) -> Ratio:
    low, high = row["ci_low"], row["ci_high"]
    return Ratio(float(row["ratio"]), (float(low), float(high)) if low else None)
