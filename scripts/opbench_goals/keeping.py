"""Which of a run's samples are kept with it: those that goals and plots are made of."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from opbench_plots import kept, run, shapes
from opbench_plots.measures import FROM_SAMPLES

if TYPE_CHECKING:
    from pandas import DataFrame, Series

COLUMNS = (*run.SAMPLE_COLUMNS, "operations")
"""Those that `opbench gate` reads of a figures.csv, in its order."""


def reduce(folder: Path, policy: Path) -> None:
    """Puts figures.csv in the place of a run's samples.csv. What the goals and the plots say is the same afterwards."""
    assert shapes.PLANS, "the plans have told what they read"
    rules = json.loads(policy.read_text(encoding="utf-8"))["rules"]
    kept.reduce(folder, COLUMNS, lambda rows: _is_printed(rows, rules))


def _is_printed(rows: "DataFrame", rules: list[dict]) -> "Series":
    is_drawn = rows["metric"].str.cat(rows["stat"], sep=" ").isin({" ".join(figure) for figure in FROM_SAMPLES})
    is_bounded = is_drawn & False
    for rule in rules:
        is_of_rule = rows["operation_class"] == ""
        for column in ("metric", "stat", "phase"):
            if column in rule:
                is_of_rule &= rows[column] == rule[column]
        is_bounded |= is_of_rule
    # The plots and goals divide what is counted by the sample's rounds.
    by_round = rows["cell_id"][rows["metric"].isin(run.COUNTED_BY_ROUND)]
    is_divisor = (rows["metric"] == "rounds") & rows["cell_id"].isin(by_round)
    return run.counts(rows) & (is_drawn | is_bounded | is_divisor)
