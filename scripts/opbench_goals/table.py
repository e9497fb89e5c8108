"""Prints verdicts, and writes them as CSV."""

import csv
from collections.abc import Sequence
from pathlib import Path

from opbench_goals.judging import Verdict
from opbench_goals.rows import FIGURES

FOLDER = "workloads/engine"
NAMES = {"system": "glibc's malloc", "jemalloc": "jemalloc"}
COLUMNS = (
    "schema_version", "row", "allocator", "workload_file", "cell_id", "figure", "against", "limit", "value", "low",
    "high", "is_interval", "samples", "engine", "other", "verdict", "run_id",
)  # fmt: skip


def text(verdicts: Sequence[Verdict], allocator: str) -> str:
    """A table of the goals with one allocator, and how many are met."""
    heading = ("", "goal", "figure", "95 % interval", "", "engine, other", "workload, cell")
    lines = [heading]
    row = workload = ""
    for verdict in verdicts:
        goal, where = verdict.goal, f"{FOLDER}/{verdict.goal.workload}.json: {verdict.cell_id}"
        lines.append(
            (
                goal.row if goal.row != row else "",
                goal.text(allocator),
                _value(verdict),
                _spread(verdict),
                verdict.word,
                _parts(verdict),
                where if where != workload else "″",
            )
        )
        row, workload = goal.row, where
    widths = [max(len(line[column]) for line in lines) for column in range(len(heading))]
    printed = ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    met, missed = sum(v.is_met for v in verdicts), sum(v.is_missed for v in verdicts)
    rest = len(verdicts) - met - missed
    summary = f"{met} of {met + missed} goals met" + (f", {rest} without a figure" if rest else "")
    runs = ", ".join(dict.fromkeys(verdict.run_id for verdict in verdicts if verdict.run_id))
    title = f"With {NAMES[allocator]} ({runs or 'no run'}):"
    return "\n".join([title, printed[0], "-" * len(printed[0]), *printed[1:], "", f"{summary}.", ""])


def write(verdicts: Sequence[Verdict], path: Path) -> None:
    """Writes all verdicts, one row a goal and allocator."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for verdict in verdicts:
            goal, found = verdict.goal, verdict.found
            limit = goal.at_most.get(verdict.allocator)
            against, figures = "", [""] * 7
            if found is not None:
                estimate, against = found.estimate, found.against
                figures = [estimate.value, estimate.low, estimate.high, str(estimate.is_interval).lower()]
                figures += [estimate.values, found.engine, "" if found.base is None else found.base]
            where = [f"{FOLDER}/{goal.workload}.json", verdict.cell_id]
            asked = [goal.figure, against, "" if limit is None else limit.value]
            writer.writerow([1, goal.row, verdict.allocator, *where, *asked, *figures, verdict.word, verdict.run_id])


def _value(verdict: Verdict) -> str:
    return "-" if verdict.found is None else _number(verdict, verdict.found.estimate.value)


def _parts(verdict: Verdict) -> str:
    """What a ratio is made of, and the name of the other part where the goal leaves it open."""
    found, figure = verdict.found, FIGURES[verdict.goal.figure]
    if found is None or found.base is None:
        return ""
    name = f" ({found.against})" if len(verdict.goal.against) > 1 else ""
    return f"{figure.text(found.engine)}, {figure.text(found.base)}{name}"


def _number(verdict: Verdict, value: float) -> str:
    goal = verdict.goal
    if not goal.is_ratio:
        return FIGURES[goal.figure].text(value)
    # A ratio far below 1 reads better as the fraction in which its goal is written.
    if "/" in goal.at_most[verdict.allocator].text:
        return f"1/{1 / value:.3g}"
    return f"{value:.3f}"


def _spread(verdict: Verdict) -> str:
    if verdict.found is None:
        return "-"
    estimate = verdict.found.estimate
    interval = f"{_number(verdict, estimate.low)} – {_number(verdict, estimate.high)}"
    return interval if estimate.is_interval else f"({interval})"
