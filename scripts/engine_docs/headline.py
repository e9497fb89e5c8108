"""The README's table of the engine beside Dispatch and Foundation, from the summary of a run that is kept."""

from pathlib import Path

from engine_docs.articles import Maker
from engine_docs.errors import Problem
from opbench_rows import BadRows, read

Row = dict[str, str]

# Words for a cell, and its cell_id. Cells in which the engine loses belong here as much as those in which it wins.
CELLS = [
    ("closures, added one by one", "tiny work_ns=0"),
    ("BlockOperations, added one by one", "tiny form=block work_ns=0"),
    ("the same, at limit 1", "tiny form=block max_concurrent=1 work_ns=0"),
    ("the same, added by four threads", "producers form=block producers=4 work_ns=0"),
    ("five priorities, mixed", "priorities operations=100000 work_ns=0"),
    ("enqueued, then all cancelled", "cancel-all call=all operations=100000 work_ns=0"),
    ("a chain of 2,000 dependencies", "chain depth=2000 work_ns=0"),
    ("a graph, four dependencies each", "layered degree=4 kind=layered_random layers=100 width=500 work_ns=0"),
]


def maker(folder: Path) -> Maker:
    """Makes the parts `headline NAME` from the summary.csv of the run NAME in a folder."""

    def make(name: str) -> str:
        path = folder / name / "summary.csv"
        try:
            rows = {(row["cell_id"], row["backend"]): row for row in read(path) if not row["operation_class"]}
            return _table(rows)
        except (OSError, KeyError, ValueError, BadRows) as error:
            raise Problem(f"{path}: no figures of these cells: {error}") from None

    return make


def _table(rows: dict[tuple[str, str], Row]) -> str:
    lines = [
        "| time per operation | engine | Dispatch | Foundation | engine ÷ Dispatch (95 %) |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for words, cell in CELLS:
        times = [_time(rows.get((cell, backend))) for backend in ("engine", "dispatch", "foundation")]
        engine = rows[cell, "engine"]
        ratio, low, high = (float(engine[f"time_ratio{part}"]) for part in ("", "_ci_low", "_ci_high"))
        if engine["ratio_to"] != "dispatch":
            raise ValueError(f"the ratio of {cell} is not to dispatch")
        lines.append(f"| {words} | {' | '.join(times)} | {ratio:.2f} ({low:.2f}–{high:.2f}) |")
    return "\n".join(lines) + "\n"


def _time(row: Row | None) -> str:
    """The time of one operation, or a dash where the backend has no such cell."""
    if row is None or not row["time_ns_per_op"]:
        return "–"
    nanoseconds = float(row["time_ns_per_op"])
    return f"{nanoseconds:,.0f} ns" if nanoseconds < 100_000 else f"{nanoseconds / 1000:,.0f} µs"
