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
    "high", "is_interval", "samples", "verdict", "run_id",
)  # fmt: skip


def text(verdicts: Sequence[Verdict], allocator: str) -> str:
    """A table of the goals with one allocator, and how many are met."""
    heading = ("", "goal", "figure", "95 % interval", "", "workload, cell")
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
                where if where != workload else "″",
            )
        )
        row, workload = goal.row, where
    widths = [max(len(line[column]) for line in lines) for column in range(len(heading))]
    printed = ["  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    met, missed = sum(v.is_met for v in verdicts), sum(v.is_missed for v in verdicts)
    rest = len(verdicts) - met - missed
    summary = f"{met} of {met + missed} goals met" + (f", {rest} without a figure" if rest else "")
    title = f"With {NAMES[allocator]}, run {verdicts[0].run_id}:"
    return "\n".join([title, printed[0], "-" * len(printed[0]), *printed[1:], "", f"{summary}.", ""])


def write(verdicts: Sequence[Verdict], path: Path) -> None:
    """Writes all verdicts, one row a goal and allocator."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for verdict in verdicts:
            goal, found = verdict.goal, verdict.estimate
            limit = goal.at_most.get(verdict.allocator)
            figures = ["", "", "", "", ""]
            if found is not None:
                figures = [found.value, found.low, found.high, str(found.is_interval).lower(), found.values]
            where = [f"{FOLDER}/{goal.workload}.json", verdict.cell_id]
            asked = [goal.figure, verdict.against, limit.value if limit is not None else ""]
            writer.writerow([1, goal.row, verdict.allocator, *where, *asked, *figures, verdict.word, verdict.run_id])


def _value(verdict: Verdict) -> str:
    return "-" if verdict.estimate is None else _number(verdict, verdict.estimate.value)


def _number(verdict: Verdict, value: float) -> str:
    goal = verdict.goal
    if not goal.is_ratio:
        return FIGURES[goal.figure].text(value)
    # A ratio far below 1 reads better as the fraction in which its goal is written.
    if "/" in goal.at_most[verdict.allocator].text:
        return f"1/{1 / value:.3g}"
    return f"{value:.3f}"


def _spread(verdict: Verdict) -> str:
    found = verdict.estimate
    if found is None:
        return "-"
    interval = f"{_number(verdict, found.low)} – {_number(verdict, found.high)}"
    return interval if found.is_interval else f"({interval})"
