"""The goals' file, the estimates, the verdicts and the table of scripts/engine-goals."""

import csv
import json
import math
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from opbench_goals import command, estimates, goals, keeping, table
from opbench_goals.judging import judge
from opbench_goals.rows import FIGURES, Rows
from opbench_plots.errors import BadInput
from opbench_plots.run import SAMPLE_COLUMNS, _sample_values
from opbench_plots.tables import read_table

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "workloads" / "engine"
COLUMNS = (
    "schema_version,run_id,workload,cell_id,backend,side,block,phase,class,status,metric,stat,value,operations,param.form"
).split(",")


def write_run(
    folder: Path, rows: list[tuple[Any, ...]], allocator: str = "glibc 2.36", run_id: str = "r"
) -> Path:
    """A run of workload `tiny`, from (form, backend, block, metric, stat, phase, value, operations)."""
    folder.mkdir(parents=True)
    with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for form, backend, block, metric, stat, phase, value, operations in rows:
            row = [1, run_id, "tiny", f"tiny form={form}", backend, "", block, phase, "", "ok", metric, stat]
            writer.writerow([*row, value, operations, form])
    (folder / "run.json").write_text(json.dumps({"allocator": allocator}), encoding="utf-8")
    return folder


def times(form: str, backend: str, seconds: list[float], operations: int = 1000) -> list[tuple[Any, ...]]:
    return [
        (form, backend, block, "time", "total", "total", value, operations) for block, value in enumerate(seconds)
    ]


def write_goals(path: Path, *asked: dict[str, Any], cell: dict[str, Any] | None = None) -> Path:
    row = {"row": "the row", "workload": "tiny", "cell": cell or {"form": "block"}, "goals": list(asked)}
    path.write_text(json.dumps({"version": 1, "rows": [row]}), encoding="utf-8")
    return path


def only_verdict(tmp_path: Path, rows: list[tuple[Any, ...]], asked: dict[str, Any], allocator: str = "system") -> Any:
    run = write_run(tmp_path / "run", rows)
    found = judge(goals.load(write_goals(tmp_path / "goals.json", asked)), Rows(run), allocator)
    assert len(found) == 1
    return found[0]


# MARK: The shipped goals


def test_every_shipped_goal_is_about_one_cell_of_a_shipped_workload_on_backends_that_run_it() -> None:
    for goal in goals.load(command.GOALS):
        workload = json.loads((WORKLOADS / f"{goal.workload}.json").read_text(encoding="utf-8"))
        parameters = workload["parameters"]
        assert {"engine", *goal.against} <= set(workload["backends"])
        for cell in (goal.cell, goal.cell | (goal.against_cell or {})):
            lists = {name: value for name, value in parameters.items() if isinstance(value, list)}
            assert set(cell) == set(lists), f"{goal.row}: the cell is not one"
            assert all(cell[name] in values for name, values in lists.items())
            for rule in workload.get("skip", []):
                assert rule["backend"] not in goal.against or not _matches(rule["when"], cell), goal.row


def _matches(when: dict[str, Any], cell: dict[str, Any]) -> bool:
    return all(
        cell[name] > value["above"] if isinstance(value, dict) else cell[name] == value for name, value in when.items()
    )


def test_every_shipped_workload_has_a_goal_and_takes_the_samples_that_its_figures_are_made_of() -> None:
    asked = goals.load(command.GOALS)
    files = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in WORKLOADS.glob("*.json")}
    assert {goal.workload for goal in asked} == set(files)
    kinds = {"submit_latency": "latency", "inversions": "latency", "retained_bytes": "memory", "allocations": "memory"}
    for goal in asked:
        assert kinds.get(FIGURES[goal.figure].metric, "throughput") in files[goal.workload]["metrics"]


def test_with_jemalloc_ratios_to_other_backends_may_be_greater_by_two_fifths() -> None:
    for goal in goals.load(command.GOALS):
        both = [goal.at_most[name].value for name in ("system", "jemalloc") if name in goal.at_most]
        if goal.figure == "time" and goal.against and (goal.row, goal.against) != (
            "tiny, closures, one by one", ("dispatch",),
        ):  # fmt: skip
            assert both[1] == pytest.approx(1.4 * both[0])


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"figure": "speed"}, "$.rows[0].goals[0].figure"),
        ({"at_most": {"glibc": 1}}, "$.rows[0].goals[0].at_most.glibc"),
        ({"at_most": {"system": "1/0"}}, "$.rows[0].goals[0].at_most.system"),
        ({"at_most": {"system": True}}, "$.rows[0].goals[0].at_most.system"),
        ({"at_most": {}}, "$.rows[0].goals[0].at_most"),
        ({"at_least": 1}, "$.rows[0].goals[0].at_least"),
        ({"against": "dispatch"}, "$.rows[0].goals[0].against"),
        ({"against": ["dispatch"], "against_cell": {}}, "$.rows[0].goals[0]"),
    ],
)
def test_a_goal_that_cannot_be_read_is_refused_with_its_place(tmp_path: Path, change: dict[str, Any], place: str) -> None:
    path = write_goals(tmp_path / "goals.json", {"figure": "time", "at_most": {"system": 1}} | change)
    with pytest.raises(BadInput, match="goals.json") as refused:
        goals.load(path)
    assert f"{place}:" in str(refused.value)


# MARK: Estimates


def test_the_estimate_is_the_one_of_opbench() -> None:
    # Walsh averages of 1, 2, 6: 1, 1.5, 2, 3.5, 4, 6.
    assert estimates.centre([1, 2, 6]) == pytest.approx(2.75)
    assert estimates.shift([1, 2], [5, 9]) == pytest.approx(5.5)


def test_a_ratio_is_taken_within_pairs_and_its_interval_holds_it() -> None:
    drift = [1, 2, 4, 8, 3, 5, 7]
    noise = [1, 1.1, 0.9, 1, 1, 1.05, 0.95]
    pairs = [(value, value * 0.5 * factor) for value, factor in zip(drift, noise, strict=True)]
    found = estimates.of_pairs(pairs, "seed")
    assert found.is_interval and found.low < 0.5 < found.high and found.high < 0.6
    assert found.value == pytest.approx(0.5, rel=0.03)
    assert estimates.of_pairs([(1, 2), (2, 4)], "seed") == estimates.Estimate(2, 2, 2, False, 2)


def test_groups_need_not_be_paired() -> None:
    found = estimates.of_groups([1.0] * 7, [3.0] * 5, "seed")
    assert (found.value, found.is_interval, found.values) == (pytest.approx(3), False, 5)


# MARK: Verdicts


def test_a_ratio_against_the_fastest_of_the_backends_named(tmp_path: Path) -> None:
    rows = times("block", "engine", [0.4] * 7) + times("block", "dispatch", [1.0] * 7)
    rows += times("block", "dispatch:notify", [0.8] * 7)
    asked = {"figure": "time", "against": ["dispatch", "dispatch:notify"], "at_most": {"system": 0.5}}
    verdict = only_verdict(tmp_path, rows, asked)
    assert (verdict.word, verdict.found.against) == ("met", "dispatch:notify")
    assert verdict.found.estimate.value == pytest.approx(0.5)
    assert "400,000 ns, 800,000 ns (dispatch:notify)" in table.text([verdict], "system")


def test_an_interval_that_holds_the_limit_leaves_a_question(tmp_path: Path) -> None:
    rows = times("block", "engine", [0.9, 0.95, 1.0, 1.0, 1.05, 1.1, 1.1]) + times("block", "dispatch", [1.0] * 7)
    for limit, word in ((0.5, "missed"), (0.99, "missed?"), (1.03, "met?"), (1.5, "met")):
        asked = {"figure": "time", "against": ["dispatch"], "at_most": {"system": limit}}
        assert only_verdict(tmp_path / str(limit), rows, asked).word == word


def test_a_sample_taken_again_stands_for_the_one_before(tmp_path: Path) -> None:
    rows = times("block", "engine", [9.0] * 7) + times("block", "engine", [1.0] * 7) + times("block", "dispatch", [2.0] * 7)
    asked = {"figure": "time", "against": ["dispatch"], "at_most": {"system": 1}}
    assert only_verdict(tmp_path, rows, asked).found.estimate.value == pytest.approx(0.5)


def test_growth_compares_two_cells_per_operation(tmp_path: Path) -> None:
    rows = times("block", "engine", [2.0] * 7, operations=2000) + times("closure", "engine", [1.0] * 7)
    asked = {"figure": "time", "against_cell": {"form": "closure"}, "at_most": {"system": 1.3}}
    verdict = only_verdict(tmp_path, rows, asked)
    assert (verdict.word, verdict.found.against) == ("met", "tiny form=closure")
    assert verdict.found.estimate.value == pytest.approx(1)


def test_a_figure_of_its_own_and_its_allocator(tmp_path: Path) -> None:
    rows = [("block", "engine", 0, "retained_bytes", "total", "mark:pending", 176_000, 1000)]
    asked = {"figure": "retained_bytes", "at_most": {"jemalloc": 180}}
    verdict = only_verdict(tmp_path, rows, asked, "jemalloc")
    assert (verdict.word, verdict.found.estimate.value) == ("met", 176)
    assert "176 B" in table.text([verdict], "jemalloc")
    assert only_verdict(tmp_path / "other", rows, asked).word == "jemalloc only"


def test_allocations_of_the_round_are_none_of_the_operations(tmp_path: Path) -> None:
    for extra, word in ((40, "met"), (1500, "missed")):
        rows = [("block", "engine", 0, "allocations", "total", "total", 200_000 + extra, 100_000)]
        asked = {"figure": "allocations", "at_most": {"jemalloc": 2}}
        assert only_verdict(tmp_path / str(extra), rows, asked, "jemalloc").word == word


def test_what_was_not_measured_says_so_and_counts_neither_way(tmp_path: Path) -> None:
    rows = times("closure", "engine", [1.0])
    verdict = only_verdict(tmp_path, rows, {"figure": "time", "at_most": {"system": 1}})
    assert verdict.word == "not measured" and not verdict.is_met and not verdict.is_missed
    assert "0 of 0 goals met, 1 without a figure." in table.text([verdict], "system")


def test_runs_of_different_cells_are_one_table_and_a_cell_has_one_run(tmp_path: Path) -> None:
    first = write_run(tmp_path / "first", times("block", "engine", [1.0]), run_id="first")
    second = write_run(tmp_path / "second", times("closure", "engine", [2.0]), run_id="second")
    rows = Rows(first, second)
    assert [(cell.identity, cell.run_id) for cell in rows.cells] == [
        ("tiny form=block", "first"), ("tiny form=closure", "second"),
    ]  # fmt: skip
    again = write_run(tmp_path / "again", times("block", "engine", [1.0]), run_id="again")
    with pytest.raises(BadInput, match="tiny form=block is in the run first too"):
        Rows(first, again)


# MARK: Kept runs


def test_the_shipped_table_is_made_from_the_shipped_runs(tmp_path: Path) -> None:
    runs = sorted(str(path) for path in (ROOT / "results" / "baseline").glob("engine-*"))
    # The order in which the command measures them.
    runs.sort(key=lambda run: "jemalloc" in run)
    assert len(runs) == 4 and command.main(["--from", *runs, "--output", str(tmp_path)]) == 0
    made = next(tmp_path.glob("goals-*.csv")).read_text(encoding="utf-8")
    assert made == (ROOT / "results" / "reference" / "engine-goals.csv").read_text(encoding="utf-8")


SAMPLE_NAMES = [*keeping.COLUMNS, "load", "param.form", "param.unused"]


def write_samples(folder: Path, rows: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    common = {"schema_version": 1, "run_id": "r", "workload": "tiny", "cell_id": "tiny form=block", "backend": "engine"}
    common |= {"status": "ok", "block": 0, "sample_id": "0-throughput", "operations": 10, "param.form": "block"}
    with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, SAMPLE_NAMES, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(common | row for row in rows)
    return folder


def test_a_reduced_run_has_what_is_printed_and_nothing_else(tmp_path: Path) -> None:
    total = {"metric": "time", "stat": "total", "phase": "total", "value": "0.12345678901234567"}
    run = write_samples(
        tmp_path / "run",
        [
            total,
            total | {"phase": "warmup"},
            total | {"phase": "drain"},
            {"metric": "load", "stat": "mean", "value": 3},
            {"metric": "start_latency", "stat": "p99", "class": "priority=low", "value": "1e-06"},
            {"metric": "rounds", "stat": "total", "value": 2},
            {"metric": "status", "status": "crashed", "backend": "dispatch"},
        ],
    )
    whole = Rows(run)
    figures = whole.figures(whole.cells[0], "engine", FIGURES["time"])
    keeping.reduce(run)
    assert [path.name for path in run.iterdir()] == ["figures.csv"]
    with open(run / "figures.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kept = [(row["metric"], row["phase"], row["class"], row["status"]) for row in rows]
    assert kept == [
        ("time", "total", "", "ok"), ("start_latency", "", "priority=low", "ok"), ("status", "", "", "crashed"),
    ]  # fmt: skip
    assert rows[0]["value"] == "0.12345678901234567" and list(rows[0]) == [*keeping.COLUMNS, "param.form"]
    reduced = Rows(run)
    assert reduced.cells == whole.cells and reduced.statuses == whole.statuses
    assert reduced.figures(reduced.cells[0], "engine", FIGURES["time"]) == figures


def test_rounds_are_kept_where_the_plots_divide_by_them(tmp_path: Path) -> None:
    counted = {"metric": "inversions", "stat": "total", "value": 4}
    run = write_samples(tmp_path / "run", [counted, {"metric": "rounds", "stat": "total", "value": 2}])
    before = _sample_values(read_table(run / "samples.csv", SAMPLE_COLUMNS))
    keeping.reduce(run)
    after = _sample_values(read_table(run / "figures.csv", SAMPLE_COLUMNS))
    of_inversions = [values for (_, metric, _), values in after.items() if metric == "inversions"]
    assert of_inversions == [[2]] and before == after


# MARK: The command


def test_the_table_of_a_recorded_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "run", times("block", "engine", [0.02] * 7) + times("block", "foundation", [1.0] * 7))
    asked = {"figure": "time", "against": ["foundation"], "at_most": {"system": "1/40", "jemalloc": "1.4/40"}}
    path = write_goals(tmp_path / "goals.json", asked)
    assert command.main(["--from", str(run), "--goals", str(path), "--output", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "With glibc's malloc (r):"
    assert re.split(" {2,}", lines[3]) == [
        "the row", "time ≤ 1/40 of foundation", "1/50", "1/50 – 1/50", "met", "20,000 ns, 1,000,000 ns",
        "workloads/engine/tiny.json: tiny form=block",
    ]  # fmt: skip
    assert "1 of 1 goals met." in lines
    with open(next((tmp_path / "out").glob("goals-*.csv")), newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    assert row["cell_id"] == "tiny form=block" and row["verdict"] == "met" and row["allocator"] == "system"
    assert math.isclose(float(row["value"]), 0.02) and row["limit"] == "0.025"


@pytest.mark.parametrize(
    "words",
    [["--blocks", "0"], ["--only", "tinny"], ["--allocator", "tcmalloc"], ["--keep", "x", "--quick"], ["--from", "nowhere"]],
)
def test_misuse_ends_with_64_and_writes_nothing(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "engine-goals", *words, "--output", tmp_path / "out"],
        capture_output=True, text=True, check=False, env=os.environ, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 64 and done.stderr.startswith("engine-goals: ") and done.stdout == ""
    assert not (tmp_path / "out").exists()
