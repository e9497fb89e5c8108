"""The table of the engine's goals, as the kept runs of scripts/engine-goals have measured them."""

import csv
from itertools import zip_longest
from pathlib import Path

from engine_docs.articles import Maker
from engine_docs.errors import Problem

ALLOCATORS = ("system", "jemalloc")
Row = dict[str, str]


def maker(folder: Path) -> Maker:
    """Makes the parts `goals NAME` from the table NAME-goals.csv of a folder."""

    def make(name: str) -> str:
        path = folder / f"{name}-goals.csv"
        try:
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            return _table(rows)
        except (OSError, KeyError, ValueError) as error:
            raise Problem(f"{path}: no table of scripts/engine-goals: {error}") from None

    return make


def _table(rows: list[Row]) -> str:
    lines = [
        "| work, cell | figure | glibc: goal | measured | jemalloc: goal | measured |",
        "| --- | --- | ---: | --- | ---: | --- |",
    ]
    # A goal's rows stand at the same place for both allocators; what is open may be against another backend.
    for pair in zip_longest(*([row for row in rows if row["allocator"] == name] for name in ALLOCATORS)):
        found = [row for row in pair if row is not None]
        first = next((row for row in found if row["value"]), found[0])
        against = f" ÷ {_name(first['against'])}" if first["against"] else ""
        cells = [cell for row in pair for cell in _cells(row)]
        figure = first["figure"].replace("_", " ")
        lines.append(f"| {first['row']}: `{first['cell_id']}` | {figure}{against} | {' | '.join(cells)} |")
    met = sum(row["verdict"].startswith("met") for row in rows)
    judged = sum(row["verdict"].startswith(("met", "missed")) for row in rows)
    return "\n".join([*lines, "", f"{met} of {judged} goals are met."]) + "\n"


def _name(against: str) -> str:
    return against.capitalize() if against in ("dispatch", "foundation") else f"`{against}`"


def _cells(row: Row | None) -> tuple[str, str]:
    if row is None or not row["limit"]:
        return "–", "–"
    limit, value = float(row["limit"]), row["value"]
    if not value:
        return f"≤ {limit:.3g}", row["verdict"]
    spread = f"{float(row['low']):.3g}–{float(row['high']):.3g}" if row["low"] else ""
    # Of too few samples for an interval these are the least and the greatest.
    spread = f" ({spread})" if row["is_interval"] == "true" else f" ({spread}, all)" if spread else ""
    return f"≤ {limit:.3g}", f"{float(value):.3g}{spread} {row['verdict']}"
