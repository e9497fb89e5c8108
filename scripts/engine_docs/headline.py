"""The README's table of the engine, Dispatch and Foundation, from the summary of a kept run."""

from pathlib import Path

from engine_docs.articles import Maker
from engine_docs.errors import Problem
from opbench_rows import BadRows, read

Row = dict[str, str]

CHAIN = "chain depth=2000 work_ns=0"
GRAPH = "layered degree=4 kind=layered_random layers=100 width=500 work_ns=0"
PLAIN = ("engine", "dispatch", "foundation")
DECLARED = ("engine", "dispatch:notify", "foundation")
BY_HAND = ("engine:within", "dispatch", "")
CELLS = [
    ("closures, added one by one", "tiny work_ns=0", PLAIN),
    ("BlockOperations, added one by one", "tiny form=block work_ns=0", PLAIN),
    ("the same, at limit 1", "tiny form=block max_concurrent=1 work_ns=0", PLAIN),
    ("the same, added by four threads", "producers form=block producers=4 work_ns=0", PLAIN),
    ("five priorities, mixed", "priorities operations=100000 work_ns=0", PLAIN),
    ("enqueued, then all cancelled", "cancel-all call=all operations=100000 work_ns=0", PLAIN),
    ("a chain of 2,000, declared", CHAIN, DECLARED),
    ("the same, by hand", CHAIN, BY_HAND),
    ("a graph, four dependencies each, declared", GRAPH, DECLARED),
    ("the same, by hand", GRAPH, BY_HAND),
]
"""Words for a cell, its cell_id, and the backends for the engine, Dispatch and Foundation on its axis. Cells in which the
engine loses belong here as much as those in which it wins."""


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
        "| time per operation | engine | Dispatch | – by C functions | Foundation | engine ÷ Dispatch (95 %) |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for words, cell, (own, base, other) in CELLS:
        function = "" if base == "dispatch:notify" else "dispatch:function"
        times = [_time(rows.get((cell, backend))) for backend in (own, base, function, other)]
        engine = rows[cell, own]
        ratio, low, high = (float(engine[f"time_ratio{part}"]) for part in ("", "_ci_low", "_ci_high"))
        if engine["ratio_to"] != base:
            raise ValueError(f"the ratio of {cell} is not to {base}")
        lines.append(f"| {words} | {' | '.join(times)} | {ratio:.2f} ({low:.2f}–{high:.2f}) |")
    return "\n".join(lines) + "\n"


def _time(row: Row | None) -> str:
    """The time of one operation, or a dash if the backend has no such cell."""
    if row is None or not row["time_ns_per_op"]:
        return "–"
    nanoseconds = float(row["time_ns_per_op"])
    return f"{nanoseconds:,.0f} ns" if nanoseconds < 100_000 else f"{nanoseconds / 1000:,.0f} µs"
