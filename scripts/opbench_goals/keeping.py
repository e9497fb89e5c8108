"""Which of a run's samples are kept with it: those that the table of goals, the curves and the plots are made of."""

from pathlib import Path

from opbench_goals import rows
from opbench_goals.rows import FIGURES
from opbench_plots import kept, run, shapes
from opbench_plots.kept import Row
from opbench_plots.measures import FROM_SAMPLES

COLUMNS = tuple(dict.fromkeys((*run.SAMPLE_COLUMNS, *rows.COLUMNS)))


def reduce(folder: Path) -> None:
    """Puts figures.csv in the place of a run's samples.csv. Whatever is printed of the run is the same afterwards."""
    assert shapes.PLANS, "the plans have told what they read"
    kept.reduce(folder, COLUMNS, _printed)


def _printed(found: list[Row]) -> list[Row]:
    of_goals = {(figure.metric, figure.stat, figure.phase) for figure in FIGURES.values()}
    # The plots divide what is counted by the sample's rounds.
    by_round = {row["cell_id"] for row in found if row["metric"] in run.COUNTED_BY_ROUND}

    def is_printed(row: Row) -> bool:
        if rows.counts(row) and (row["metric"], row["stat"], row["phase"]) in of_goals:
            return True
        if row["metric"] == "rounds":
            return row["cell_id"] in by_round
        return run.counts(row) and (row["metric"], row["stat"]) in FROM_SAMPLES

    return [row for row in found if is_printed(row)]
