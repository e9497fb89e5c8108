"""The table of the engine's missed goals, with the verdicts of `opbench gate` on the kept runs of scripts/engine-goals."""

from collections import Counter
from pathlib import Path

from engine_docs.articles import Maker
from engine_docs.layout import Problem
from opbench_rows import BadRows, read

ALLOCATORS = {"system": "glibc's malloc", "jemalloc": "jemalloc"}
VERDICTS = ("met", "missed", "inconclusive", "missing")
Row = dict[str, str]
Place = tuple[str, ...]


def maker(folder: Path) -> Maker:
    """Makes the parts `goals NAME` from the CSV files NAME-goals-….csv of a folder, one per allocator."""

    def make(name: str) -> str:
        try:
            return _table([_read(folder / f"{name}-goals-{allocator}.csv") for allocator in ALLOCATORS])
        except (OSError, KeyError, ValueError, BadRows) as error:
            raise Problem(f"{folder}/{name}-goals-….csv: no verdicts of scripts/engine-goals: {error}") from None

    return make


def _read(path: Path) -> dict[Place, Row]:
    """The goals by the figure that they bound; a ratio's reference may depend on which backend was the fastest."""
    found: dict[Place, Row] = {}
    for row in read(path):
        place = (row["cell_id"], row["backend"], row["metric"], row["stat"])
        number = sum(known[:4] == place for known in found)
        found[*place, str(number) if row["against"] else ""] = row
    return found


def _table(tables: list[dict[Place, Row]]) -> str:
    lines = [
        "| cell | figure | glibc: goal | measured | jemalloc: goal | measured |",
        "| --- | --- | ---: | --- | ---: | --- |",
    ]
    for place in dict.fromkeys(place for table in sorted(tables, key=len, reverse=True) for place in table):
        rows = [table.get(place) for table in tables]
        if not any(row and row["verdict"] in ("missed", "missing") for row in rows):
            continue
        first = next(row for row in rows if row is not None)
        against = f" ÷ {_name(first['against'])}" if first["against"] else ""
        cells = [cell for row in rows for cell in _cells(row)]
        lines.append(f"| `{first['cell_id']}` | {_figure(first)}{against} | {' | '.join(cells)} |")
    counts = [
        f"With {words}: {_counts(table)}." for words, table in zip(ALLOCATORS.values(), tables, strict=True)
    ]
    return "\n".join([*lines, "", *counts]) + "\n"


def _counts(table: dict[Place, Row]) -> str:
    verdicts = Counter(row["verdict"] for row in table.values())
    return ", ".join(f"{verdicts[word]} {word}" for word in VERDICTS if verdicts[word])


def _figure(row: Row) -> str:
    stat = "" if row["stat"] in ("total", "") else f" {row['stat']}"
    form = "" if row["backend"] == "engine" else f" of `{row['backend']}`"
    return row["metric"].replace("_", " ") + stat + form


def _name(against: str) -> str:
    return against.capitalize() if against in ("dispatch", "foundation") else f"`{against}`"


def _cells(row: Row | None) -> tuple[str, str]:
    if row is None:
        return "–", "–"
    value = row["ratio"] or ("" if row["against"] else row["head_value"])
    bound = f"≤ {float(row['at_most']):.4g}"
    if not value:
        return bound, row["verdict"]
    spread = f" ({float(row['ci_low']):.3g}–{float(row['ci_high']):.3g})" if row["ci_low"] else ""
    return bound, f"{float(value):.3g}{spread} {row['verdict']}"
