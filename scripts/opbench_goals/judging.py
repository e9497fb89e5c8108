"""Holds the figures of a run against the goals."""

from dataclasses import dataclass
from statistics import median

from opbench_goals import estimates
from opbench_goals.estimates import Estimate
from opbench_goals.goals import Goal
from opbench_goals.rows import FIGURES, Cell, Figure, Rows

ENGINE = "engine"


@dataclass(frozen=True)
class Verdict:
    """One goal and what a run says of it."""

    goal: Goal
    allocator: str
    run_id: str
    cell_id: str
    against: str
    """The backend or the cell that the figure is a ratio to; empty for a figure of its own."""
    estimate: Estimate | None
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
    if cell is None:
        return Verdict(goal, allocator, rows.run_id, "", "", None, "not measured")
    limit = goal.at_most.get(allocator)
    against, estimate = ("", None) if limit is None else _estimate(goal, cell, rows)
    if estimate is None or limit is None:
        return Verdict(goal, allocator, rows.run_id, cell.identity, against, None, _why(goal, cell, rows, allocator))
    word = "met" if estimate.value <= limit.value else "missed"
    is_open = estimate.low <= limit.value < estimate.high
    return Verdict(goal, allocator, rows.run_id, cell.identity, against, estimate, word + "?" * is_open)


def _why(goal: Goal, cell: Cell, rows: Rows, allocator: str) -> str:
    if allocator not in goal.at_most:
        return "not with this allocator"
    for backend in (ENGINE, *goal.against):
        bad = rows.statuses.get((cell.identity, backend), set()) - {"ok"}
        if bad:
            return f"{backend}: {', '.join(sorted(bad))}"
    return "no figure"


def _estimate(goal: Goal, cell: Cell, rows: Rows) -> tuple[str, Estimate | None]:
    figure = FIGURES[goal.figure]
    own = rows.figures(cell, ENGINE, figure)
    seed = f"{cell.identity}|{goal.figure}|{goal.against}|{goal.against_cell}"
    if goal.against_cell is not None:
        other = rows.cell(goal.workload, goal.cell | goal.against_cell)
        base = rows.figures(other, ENGINE, figure) if other is not None else {}
        name = other.identity if other is not None else ""
        if not own or not base:
            return name, None
        return name, estimates.of_groups(list(base.values()), list(own.values()), seed)
    if not goal.against:
        return "", estimates.of_values(list(own.values()), seed) if own else None
    name = fastest(rows, cell, figure, goal.against)
    base = rows.figures(cell, name, figure)
    pairs = [(base[block], own[block]) for block in sorted(own.keys() & base.keys()) if own[block] > 0 < base[block]]
    return name, estimates.of_pairs(pairs, seed) if pairs else None


def fastest(rows: Rows, cell: Cell, figure: Figure, backends: tuple[str, ...]) -> str:
    """The backend with the least median; the first one if none has a figure."""
    medians = {}
    for backend in backends:
        values = rows.figures(cell, backend, figure)
        if values:
            medians[backend] = median(values.values())
    return min(medians, key=medians.__getitem__) if medians else backends[0]
