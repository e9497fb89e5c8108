"""The samples of a run that git keeps: of samples.csv those rows and columns that anything is printed from."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from opbench_plots.tables import PARAMETER_PREFIX, read_table

SAMPLES, FIGURES = "samples.csv", "figures.csv"
Row = dict[str, str]


def samples_of(folder: Path) -> Path:
    """Where a run's samples are: all of them, or where they were reduced, what is left of them."""
    reduced = folder / FIGURES
    return reduced if reduced.exists() and not (folder / SAMPLES).exists() else folder / SAMPLES


def reduce(folder: Path, columns: Sequence[str], printed: Callable[[list[Row]], list[Row]]) -> None:
    """Puts figures.csv in the place of samples.csv: the rows that are printed, and those of samples that did not end
    well, with these columns and the parameters that have a value. Nothing is rounded."""
    table = read_table(folder / SAMPLES, columns)
    wanted = {id(row) for row in printed(table.rows)}
    rows = [row for row in table.rows if row["status"] != "ok" or id(row) in wanted]
    parameters = [PARAMETER_PREFIX + name for name in table.parameters]
    names = [*columns, *(name for name in parameters if any(row[name] for row in rows))]
    with open(folder / FIGURES, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / SAMPLES).unlink()
