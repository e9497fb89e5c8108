"""opbench_rows: files of both versions are the same rows, newer ones are refused; and what opbench writes suits pandas."""

import csv
import json
import keyword
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
from conftest import OPBENCH
from opbench_rows import BadRows, histograms, parse, read
from opbench_rows.versions import nanoseconds

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).parent / "data"
CELL = "nices competitors=1 operations=40"
needs_opbench = pytest.mark.skipif(not OPBENCH.exists(), reason=f"{OPBENCH} is not built")


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# Version 1


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ("0.000123457", "123457"), ("1.5e-10", "0.15"), ("2", "2000000000"), ("0", "0"), ("3.01", "3010000000"),
        ("-5e-09", "-5"), ("", ""), ("nan", "nan"), ("fast", "fast"), ("12.345678901234567", "12345678901.234567"),
    ],
)  # fmt: skip
def test_seconds_become_nanoseconds_digit_by_digit(seconds: str, expected: str) -> None:
    assert nanoseconds(seconds) == expected


@pytest.mark.parametrize("name", ["samples.csv", "summary.csv"])
def test_a_file_of_version_1_is_the_same_as_one_of_today(name: str) -> None:
    """`run-1` is one cell of `run-small` as it was written."""
    former = read(DATA / "run-1" / name)
    ids = {row.get("sample_id") for row in former}
    today = [row for row in read(DATA / "run-small" / name) if row["cell_id"] == CELL and row.get("sample_id") in ids]
    assert former == today and len(former) >= 8
    assert former[0]["schema_version"] == "3"
    with open(DATA / "run-1" / name, newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert written[0]["schema_version"] == "1" and "class" in written[0]


def test_samples_of_version_1_are_in_the_units_of_today() -> None:
    rows = read(DATA / "run-1" / "samples.csv")
    with open(DATA / "run-1" / "samples.csv", newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    times = 0
    for row, former in zip(rows, written, strict=True):
        assert row["operation_class"] == former["class"] and row["sample_flags"] == former["flags"]
        assert row["param_competitors"] == former["param.competitors"]
        if former["unit"] == "s":
            times += 1
            assert row["unit"] == "ns" and (not row["value"] or float(row["value"]) == pytest.approx(float(former["value"]) * 1e9))
        else:
            assert (row["unit"], row["value"]) == (former["unit"], former["value"])
    assert times > 100


def test_the_summary_of_version_1_has_the_time_per_operation() -> None:
    rows = read(DATA / "summary-1.csv")
    timed = [row for row in rows if row["throughput_ops_per_s"]]
    assert len(timed) > 50
    for row in timed:
        assert float(row["time_ns_per_op"]) == pytest.approx(1e9 / float(row["throughput_ops_per_s"]))
        low, high = row["time_ns_per_op_ci_low"], row["time_ns_per_op_ci_high"]
        assert not low or float(low) <= float(row["time_ns_per_op"]) <= float(high)
    assert all(float(row["makespan_ns"]) > 1000 for row in timed if row["makespan_ns"])


def test_verdicts_of_version_1(tmp_path: Path) -> None:
    compared = read(
        write(
            tmp_path / "compare.csv",
            "cell_id,backend,phase,class,metric,stat,base,head,ratio,ci_low,ci_high,p,p_adjusted,noise_floor,threshold,verdict\n"
            "w,engine,total,,time,total,1e-06,2e-06,2,1.9,2.1,,,,0.1,regression\n"
            "w,engine,total,,time_ratio,total,0.5,1,2,1.9,2.1,,,,0.1,regression\n",
        )
    )
    assert [(row["base_value"], row["head_value"], row["ratio"], row["ci_low"]) for row in compared] == [
        ("1000", "2000", "2", "1.9"), ("0.5", "1", "2", "1.9"),
    ]  # fmt: skip
    goals = read(
        write(
            tmp_path / "goals.csv",
            "schema_version,run_id,cell_id,backend,phase,class,metric,stat,against,value,base,ratio,ci_low,ci_high,blocks,at_most,"
            "verdict\n"
            "1,r,w,engine,total,,time,total,dispatch,2.5e-07,5e-07,0.5,0.4,0.6,7,0.7,met\n"
            "1,r,w,engine,,,start_latency,p99,,2.5e-06,,,2e-06,3e-06,7,5e-06,met\n",
        )
    )
    names = ("value", "base_value", "ci_low", "at_most")
    assert [goals[0][name] for name in names] == ["250", "500", "0.4", "0.7"]
    assert [goals[1][name] for name in names] == ["2500", "", "2000", "5000"]


def test_histograms_of_both_versions_add_up_to_the_same() -> None:
    former, today = histograms(DATA / "run-1"), histograms(DATA / "run-small")
    assert [item[:7] for item in former] == [item[:7] for item in today] and len(former) > 10
    assert {item.cell_id for item in today} == {CELL}
    for old, new in zip(former, today, strict=True):
        assert sum(old.counts) == sum(new.counts) > 0
        assert new.upper_bounds == sorted(set(new.upper_bounds))
        assert max(new.upper_bounds) <= max(old.upper_bounds) * (1 + 1 / 32)


# Refusals


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema_version,run_id\n4,r\n", "schema_version 4 is newer than these scripts know, which is 3"),
        ("schema_version,what\n4,r,x,y\n", "schema_version 4 is newer"),
        ("schema_version,run_id\nx,r\n", "schema_version is 'x'"),
        ("schema_version,run_id\n2,r\n1,r\n", "of the versions '2' and '1' in one file"),
        ("a,b\n1\n", "line 2: 1 fields where the header has 2"),
        ("a,b\n1,2", "the last line has no end"),
        ("", "is empty"),
    ],
)
def test_what_is_no_file_of_a_known_version_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadRows, match=message):
        parse(text, "x.csv")


def test_histograms_that_do_not_match_are_refused(tmp_path: Path) -> None:
    header = "schema_version,workload,cell_id,backend,side,sample_id,stage,operation_class,upper_bounds_ns,counts\n"
    for lists in ("1 2,3", "1 x,3 4"):
        write(tmp_path / "histograms.csv", f"{header}2,w,w,engine,,0,start,,{lists}\n")
        with pytest.raises(BadRows, match="of 0"):
            histograms(tmp_path)


# What opbench writes


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not OPBENCH.exists():
        pytest.skip(f"{OPBENCH} is not built")
    folder = tmp_path_factory.mktemp("rows")
    workload = {
        "name": "mix", "summary": "five levels", "shape": "priority_mix", "parameters": {"operations": 200},
        "backends": ["engine", "dispatch"], "metrics": ["throughput", "latency"],
    }  # fmt: skip
    write(folder / "mix.json", json.dumps(workload))
    command = [OPBENCH, "run", "--quick", "--blocks", "2", "--run-id", "r", "--no-progress", "mix.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "results" / "r"


def compared(run: Path) -> Path:
    """What two tools write of runs: compare.csv and goals.csv."""
    goals = {"version": 2, "rules": [{"metric": "time", "phase": "total", "at_most": 1e9}]}
    write(run / "goals.json", json.dumps(goals))
    for words in (["compare", run, run, "--all", "--csv", run / "compare.csv"],
                  ["gate", "--candidate", run, "--policy", run / "goals.json", "--csv", run / "goals.csv"]):  # fmt: skip
        subprocess.run([OPBENCH, *words], cwd=run, capture_output=True, timeout=60, check=False)
    return run


@pytest.mark.parametrize("name", ["samples.csv", "summary.csv", "histograms.csv", "compare.csv", "goals.csv"])
def test_names_need_no_quoting_in_pandas(run_folder: Path, name: str) -> None:
    frame = pandas.read_csv(compared(run_folder) / name)
    assert len(frame.columns) > 5 and len(frame) > 0
    for column in frame.columns:
        assert column.isidentifier() and not keyword.iskeyword(column)
        assert not hasattr(pandas.DataFrame, column), f"{column} is a method of every table"
        assert getattr(frame, column) is not None
        frame.query(f"{column} == {column}")
    assert set(frame.schema_version) == {3}


def test_one_unit_for_each_quantity(run_folder: Path) -> None:
    samples = read(run_folder / "samples.csv")
    assert {row["unit"] for row in samples} <= {"ns", "B", "1/s", "1", "count"}
    times = [row["value"] for row in samples if row["metric"] == "time"]
    assert times and all(value.isdecimal() for value in times), "the clock gives whole nanoseconds"
    for name in ("summary.csv", "compare.csv", "goals.csv"):
        columns = list(read(compared(run_folder) / name)[0])
        assert not [column for column in columns if column.endswith(("_s", "_us", "_ms")) and not column.endswith("_per_s")]
    summary = {row["backend"]: row for row in read(run_folder / "summary.csv") if not row["operation_class"]}
    bounded = {row["backend"]: row for row in read(run_folder / "goals.csv")}
    for backend, row in summary.items():
        assert float(row["time_ns_per_op"]) == pytest.approx(1e9 / float(row["throughput_ops_per_s"]), rel=0.5)
        assert float(bounded[backend]["value"]) == pytest.approx(float(row["time_ns_per_op"]))
    description = json.loads((run_folder / "run.json").read_text(encoding="utf-8"))
    assert description["timeout_ns"] == 30_000_000_000 and description["schema_version"] == "3"
    assert not [key for key in description if key.endswith("_s")]


def test_an_example_of_ten_lines_reads_a_run(run_folder: Path) -> None:
    printed = ran("read_run.py", run_folder)
    for word in ("time_ratio", "mean", "mix", "engine", "dispatch"):
        assert word in printed
    samples = {row["sample_id"] for row in read(run_folder / "samples.csv") if row["metric"] == "time" and row["phase"] == "total"}
    assert re.findall(r"mix.* engine +(\d)\.0 ", printed.replace("\n", " mix ")) == [str(len(samples) // 2)]


def test_an_example_of_ten_lines_reads_histograms(run_folder: Path) -> None:
    """It finds the summary's percentile, within the width of a bucket: for one histogram, that of a sample."""
    printed = {line.split()[-2]: float(line.split()[-1]) for line in ran("read_histograms.py", run_folder).splitlines()[2:]}
    wanted = {row["backend"]: float(row["start_latency_p99_ns"]) for row in read(run_folder / "summary.csv") if not row["operation_class"]}
    assert set(printed) == set(wanted) == {"engine", "dispatch"}
    for backend, latency in wanted.items():
        assert latency - 1 <= printed[backend] * (1 + 1e-3) and printed[backend] <= latency * (1 + 1 / 31) + 1


def ran(name: str, run: Path) -> str:
    """What an example prints of a run."""
    script = ROOT / "scripts" / "examples" / name
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 10, "it is to be read at a glance"
    done = subprocess.run(
        [sys.executable, "-W", "error", script, run], capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_percentiles_from_the_buckets_are_those_of_the_samples(run_folder: Path) -> None:
    """Within the width of a bucket: samples.csv has them from the fine histogram."""
    samples = {
        (row["sample_id"], row["operation_class"]): float(row["value"])
        for row in read(run_folder / "samples.csv")
        if (row["metric"], row["stat"]) == ("start_latency", "p90")
    }
    found = 0
    for item in histograms(run_folder):
        if item.stage == "start":
            rank, seen = 0.9 * sum(item.counts), 0
            for bound, count in zip(item.upper_bounds, item.counts, strict=True):
                seen += count
                if seen >= rank:
                    break
            exact = samples[item.sample_id, item.operation_class]
            assert exact - 1 <= bound * (1 + 1e-3) and bound <= exact * (1 + 1 / 31) + 1
            found += 1
    assert found >= 4
