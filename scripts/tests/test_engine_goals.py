"""What scripts/engine-goals keeps of runs, how it asks `opbench gate`, and how it ends."""

import csv
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import OPBENCH
from opbench_goals import command, keeping
from opbench_plots.run import SAMPLE_COLUMNS, _sample_values
from opbench_plots.tables import read_table
from opbench_rows import read

ROOT = Path(__file__).resolve().parents[2]
POLICY = command.POLICIES / "engine-goals-jemalloc.json"
needs_opbench = pytest.mark.skipif(not OPBENCH.exists(), reason=f"{OPBENCH} is not built")
SAMPLE_NAMES = (
    "schema_version,run_id,sample_id,timestamp_utc,workload,cell_id,backend,side,block,position,phase,iteration,operation_class,"
    "status,sample_flags,metric,stat,value,unit,direction,deterministic,operations,notes,param_form,param_unused"
).split(",")
UNITS = {"time": "ns", "cpu_time": "ns", "load": "1", "start_latency": "ns", "rounds": "count", "inversions": "count"}
DIRECTIONS = {"load": "neutral", "rounds": "neutral", "status": "neutral"}


def sample(**fields: Any) -> dict[str, Any]:
    """A row of samples.csv of one cell of the workload `tiny`, as opbench reads it."""
    metric = fields["metric"]
    row = {
        "schema_version": 2, "run_id": "r", "workload": "tiny", "cell_id": "tiny work_ns=0", "backend": "engine",
        "status": "ok", "block": 0, "position": 0, "sample_id": "0-throughput", "operations": 10, "param_form": "closure",
        "unit": UNITS.get(metric, "count"), "direction": DIRECTIONS.get(metric, "lower"), "deterministic": "false",
    }  # fmt: skip
    return row | fields


def write_samples(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A run with glibc's malloc, by the description of a kept one."""
    folder.mkdir(parents=True)
    with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, SAMPLE_NAMES, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    shutil.copyfile(ROOT / "results" / "baseline" / "engine-system" / "run.json", folder / "run.json")
    return folder


def times(backend: str, seconds: list[float]) -> list[dict[str, Any]]:
    return [
        sample(
            backend=backend, block=block, sample_id=f"{backend}{block}-throughput", metric=metric, stat="total",
            phase="total", value=value * 1e9,
        )
        for block, value in enumerate(seconds)
        for metric in ("time", "cpu_time")
    ]  # fmt: skip


# MARK: Kept runs


def test_a_reduced_run_has_what_is_printed_and_nothing_else(tmp_path: Path) -> None:
    total = {"metric": "time", "stat": "total", "phase": "total", "value": "0.12345678901234567"}
    run = write_samples(
        tmp_path / "run",
        [
            sample(**total),
            sample(**(total | {"phase": "warmup"})),
            sample(**(total | {"phase": "drain"})),
            sample(metric="load", stat="mean", value=3),
            sample(metric="start_latency", stat="p99", operation_class="priority=low", value="1000"),
            sample(metric="rounds", stat="total", value=2),
            sample(metric="status", status="crashed", backend="dispatch"),
        ],
    )
    keeping.reduce(run, POLICY)
    assert sorted(path.name for path in run.iterdir()) == ["figures.csv", "run.json"]
    with open(run / "figures.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kept = [(row["metric"], row["phase"], row["operation_class"], row["status"]) for row in rows]
    assert kept == [
        ("time", "total", "", "ok"), ("start_latency", "", "priority=low", "ok"), ("status", "", "", "crashed"),
    ]  # fmt: skip
    assert rows[0]["value"] == "0.12345678901234567" and list(rows[0]) == [*keeping.COLUMNS, "param_form"]


def test_rounds_are_kept_where_the_plots_divide_by_them(tmp_path: Path) -> None:
    counted = sample(metric="inversions", stat="total", value=4)
    run = write_samples(tmp_path / "run", [counted, sample(metric="rounds", stat="total", value=2)])
    before = _sample_values(read_table(run / "samples.csv", SAMPLE_COLUMNS))
    keeping.reduce(run, POLICY)
    after = _sample_values(read_table(run / "figures.csv", SAMPLE_COLUMNS))
    of_inversions = [values for (_, metric, _), values in after.items() if metric == "inversions"]
    assert of_inversions == [[2]] and before.keys() - after.keys() == set()


# MARK: The verdicts


def judge(arguments: list[str], output: Path) -> dict[str, list[dict[str, str]]]:
    """The rows of the files that are written, by allocator."""
    assert command.main([*arguments, "--output", str(output), "--opbench", str(OPBENCH)]) == 0
    found = {}
    for path in output.glob("goals-*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            found[path.stem.rpartition("-")[2]] = list(csv.DictReader(file))
    return found


def places(row: dict[str, str]) -> list[str]:
    """All but the figures."""
    names = ("run_id", "cell_id", "backend", "phase", "operation_class", "metric", "stat", "against", "blocks", "verdict")
    return [row[name] for name in names]


@needs_opbench
def test_the_shipped_verdicts_are_those_of_the_shipped_runs(tmp_path: Path) -> None:
    runs = sorted(str(path) for path in (ROOT / "results" / "baseline").glob("engine-*"))
    assert len(runs) == 4
    made = judge(["--from", *runs], tmp_path)
    assert set(made) == {"system", "jemalloc"}
    for allocator, rows in made.items():
        stored = read(ROOT / f"results/reference/engine-goals-{allocator}.csv")
        assert [places(row) for row in rows] == [places(row) for row in stored]
        for row, former in zip(rows, stored, strict=True):
            for name in ("value", "base_value", "ratio", "ci_low", "ci_high", "at_most"):
                assert (row[name] == "") == (former[name] == "")
                assert not row[name] or float(row[name]) == pytest.approx(float(former[name]), rel=1e-12)
        assert {row["verdict"] for row in rows} <= {"met", "missed", "inconclusive"}


@needs_opbench
def test_a_reduced_run_is_judged_as_before(tmp_path: Path) -> None:
    engine, dispatch = [0.3, 0.31, 0.29, 0.3, 0.32, 0.28, 0.3], [1.0] * 7
    run = write_samples(tmp_path / "run", times("engine", engine) + times("dispatch", dispatch))
    whole = judge(["--from", str(run)], tmp_path / "whole")
    keeping.reduce(run, POLICY)
    assert judge(["--from", str(run)], tmp_path / "reduced") == whole
    verdicts = {(row["metric"], row["against"]): row["verdict"] for row in whole["system"] if row["value"]}
    # Against Foundation nothing was measured, and is left out.
    assert verdicts == {("time", "dispatch"): "inconclusive", ("cpu_time", "dispatch"): "met"}


@needs_opbench
def test_only_some_workloads_of_earlier_runs(tmp_path: Path) -> None:
    kept = str(ROOT / "results" / "baseline" / "engine-system")
    rows = judge(["--from", kept, "--only", "storm,tiny"], tmp_path)["system"]
    assert {row["cell_id"].partition(" ")[0] for row in rows} == {"storm", "tiny"}


# MARK: The command


@pytest.mark.parametrize(
    "words",
    [["--blocks", "0"], ["--only", "tinny"], ["--allocator", "tcmalloc"], ["--keep", "x", "--quick"], ["--from", "nowhere"]],
)
def test_misuse_ends_with_64_and_writes_nothing(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = command.main([*words, "--output", str(tmp_path / "out")])
    except SystemExit as ended:
        status = ended.code
    printed = capsys.readouterr()
    assert status == 64 and printed.err.startswith("engine-goals: ") and printed.out == ""
    assert not (tmp_path / "out").exists()


@needs_opbench
def test_a_run_that_cannot_be_judged_ends_with_64(tmp_path: Path) -> None:
    run = write_samples(tmp_path / "run", times("engine", [1.0]))
    (run / "samples.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    arguments = ["--from", str(run), "--output", str(tmp_path / "out"), "--opbench", str(OPBENCH)]
    assert command.main(arguments) == 64


def test_what_is_measured_are_the_workloads_of_the_goals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[list[str]] = []

    def opbench(allocator: str, words: list[str], *_: Any, **__: Any) -> int:
        calls.append([allocator, *words])
        return {"run": 3, "gate": 7}[words[0]]

    monkeypatch.setattr("opbench_goals.measuring.opbench", opbench)
    assert command.main(["--output", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("With ") == 2
    kinds = [(call[0], call[1], "--blocks" in call) for call in calls]
    assert kinds[:4] == [
        ("system", "run", False), ("system", "run", True), ("jemalloc", "run", False), ("jemalloc", "run", True),
    ]  # fmt: skip
    assert "workloads/engine/pending.json" in calls[3] and "workloads/engine/pending.json" not in calls[1]
    gates = [call for call in calls if call[1] == "gate"]
    assert [call.count("--candidate") for call in gates] == [2, 2]


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_what_is_kept_is_not_ignored_by_git() -> None:
    for path in ("results/reference/engine-goals-system.csv", "results/baseline/engine-system/run.json"):
        ignored = subprocess.run(["git", "-C", ROOT, "check-ignore", "-q", path], check=False, env=os.environ)
        assert ignored.returncode != 0
