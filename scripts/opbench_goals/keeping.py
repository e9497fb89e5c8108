"""Which of a run's samples are kept with it: those that goals and plots are made of."""

import json
from pathlib import Path

from opbench_plots import kept, run, shapes
from opbench_plots.kept import Row
from opbench_plots.measures import FROM_SAMPLES

COLUMNS = (*run.SAMPLE_COLUMNS, "operations")
"""Those that `opbench gate` reads of a figures.csv, in its order."""


def reduce(folder: Path, policy: Path) -> None:
    """Puts figures.csv in the place of a run's samples.csv. What the goals and the plots say is the same afterwards."""
    assert shapes.PLANS, "the plans have told what they read"
    rules = json.loads(policy.read_text(encoding="utf-8"))["rules"]
    kept.reduce(folder, COLUMNS, lambda rows: _printed(rows, rules))


def _printed(found: list[Row], rules: list[dict]) -> list[Row]:
    bounded = {(rule["metric"], rule.get("stat"), rule.get("phase")) for rule in rules}
    # The plots and goals divide what is counted by the sample's rounds.
    by_round = {row["cell_id"] for row in found if row["metric"] in run.COUNTED_BY_ROUND}

    def is_bounded(row: Row) -> bool:
        return row["class"] == "" and any(
            row["metric"] == metric and stat in (None, row["stat"]) and phase in (None, row["phase"])
            for metric, stat, phase in bounded
        )

    def is_printed(row: Row) -> bool:
        if not run.counts(row):
            return False
        if row["metric"] == "rounds":
            return row["cell_id"] in by_round
        return is_bounded(row) or (row["metric"], row["stat"]) in FROM_SAMPLES

    return [row for row in found if is_printed(row)]
