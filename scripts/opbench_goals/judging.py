"""Holds the figures of runs against the goals."""

from dataclasses import dataclass
from statistics import median

from opbench_goals import estimates
from opbench_goals.estimates import Estimate
from opbench_goals.goals import Goal
from opbench_goals.rows import FIGURES, Cell, Figure, Rows

ENGINE = "engine"


@dataclass(frozen=True)
class Found:
    """What a goal's figure came to, and the medians that it is made of."""

    estimate: Estimate
    engine: float
    against: str = ""
    """The backend or the cell that the figure is a ratio to; empty for a figure of its own."""
    base: float | None = None


@dataclass(frozen=True)
class Verdict:
    """One goal and what the runs say of it."""

    goal: Goal
    allocator: str
    run_id: str
    cell_id: str
    found: Found | None
    word: str
    """`met` or `missed`; with a `?` if the interval holds the limit; or why there is no figure."""

    @property
    def is_met(self) -> bool:
        return self.word in ("met", "met?")

    @property
    def is_missed(self) -> bool:
        return self.word in ("missed", "missed?")


def judge(goals: list[Goal], rows: Rows, allocator: str) -> list[Verdict]:
    """A verdict for each goal, in their order."""
    return [_verdict(goal, rows, allocator) for goal in goals]


def _verdict(goal: Goal, rows: Rows, allocator: str) -> Verdict:
    cell = rows.cell(goal.workload, goal.cell)
    limit = goal.at_most.get(allocator)
    if cell is None or limit is None:
        word = "not measured" if limit is not None else f"{' or '.join(goal.at_most)} only"
        return Verdict(goal, allocator, "", "" if cell is None else cell.identity, None, word)
    found = _find(goal, cell, rows)
    if found is None:
        return Verdict(goal, allocator, cell.run_id, cell.identity, None, _why(goal, cell, rows))
    estimate = found.estimate
    word = "met" if estimate.value <= limit.value else "missed"
    is_open = estimate.low <= limit.value < estimate.high
    return Verdict(goal, allocator, cell.run_id, cell.identity, found, word + "?" * is_open)


def _why(goal: Goal, cell: Cell, rows: Rows) -> str:
    for backend in (ENGINE, *goal.against):
        bad = rows.statuses.get((cell.identity, backend), set()) - {"ok"}
        if bad:
            return f"{backend}: {', '.join(sorted(bad))}"
    return "no figure"


def _find(goal: Goal, cell: Cell, rows: Rows) -> Found | None:
    figure = FIGURES[goal.figure]
    own = rows.figures(cell, ENGINE, figure)
    if not own:
        return None
    seed = f"{cell.identity}|{goal.figure}|{goal.against}|{goal.against_cell}"
    engine = median(own.values())
    if not goal.is_ratio:
        return Found(estimates.of_values(list(own.values()), seed), engine)
    if goal.against_cell is not None:
        other = rows.cell(goal.workload, goal.cell | goal.against_cell)
        base = rows.figures(other, ENGINE, figure) if other is not None else {}
        if other is None or not base:
            return None
        estimate = estimates.of_groups(list(base.values()), list(own.values()), seed)
        return Found(estimate, engine, other.identity, median(base.values()))
    name = fastest(rows, cell, figure, goal.against)
    base = rows.figures(cell, name, figure)
    pairs = [(base[block], own[block]) for block in sorted(own.keys() & base.keys()) if own[block] > 0 < base[block]]
    if not pairs:
        return None
    return Found(estimates.of_pairs(pairs, seed), engine, name, median(base.values()))


def fastest(rows: Rows, cell: Cell, figure: Figure, backends: tuple[str, ...]) -> str:
    """The backend with the least median; the first one if none has a figure."""
    medians = {}
    for backend in backends:
        values = rows.figures(cell, backend, figure)
        if values:
            medians[backend] = median(values.values())
    return min(medians, key=medians.__getitem__) if medians else backends[0]
