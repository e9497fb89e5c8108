"""The samples of a run that git keeps: of samples.csv those rows and columns that anything is printed from."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opbench_plots.tables import read_table
from opbench_rows import PARAMETER_PREFIX

if TYPE_CHECKING:
    from pandas import DataFrame, Series

SAMPLES, FIGURES = "samples.csv", "figures.csv"


def samples_of(folder: Path) -> Path:
    """Where a run's samples are: all of them, or where they were reduced, what is left of them."""
    reduced = folder / FIGURES
    return reduced if reduced.exists() and not (folder / SAMPLES).exists() else folder / SAMPLES


def reduce(folder: Path, columns: Sequence[str], printed: "Callable[[DataFrame], Series]") -> None:
    """Puts figures.csv in the place of samples.csv: the rows that are printed, and those of samples that did not end
    well, with these columns and the parameters that have a value. Nothing is rounded."""
    frame = read_table(folder / SAMPLES, columns).frame
    rows = frame[(frame["status"] != "ok") | printed(frame)]
    parameters = [name for name in frame if name.startswith(PARAMETER_PREFIX) and (rows[name] != "").any()]
    rows[[*columns, *parameters]].to_csv(folder / FIGURES, index=False, lineterminator="\n")
    (folder / SAMPLES).unlink()
