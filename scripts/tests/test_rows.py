"""opbench_rows refuses files of other versions; opbench's files suit pandas."""

import csv
import json
import keyword
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas
import pytest
from conftest import OPBENCH
from opbench_rows import BadRows, parse, read

ROOT = Path(__file__).resolve().parents[2]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# Refusals


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema_version,what\n2,r,x,y\n", "line 2: schema_version is '2', not '1'"), ("a,b\n1\n", "line 2: 1 fields"),
        ("schema_version,run_id\n1,r\n3,r\n", "line 3: schema_version is '3'"), ("a,b\n1,2", "incomplete"), ("", "is empty"),
    ],
)  # fmt: skip
def test_files_of_other_versions_are_rejected(text: str, message: str) -> None:
    with pytest.raises(BadRows, match=message):
        parse(text, "x.csv")


# Files that opbench writes


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not OPBENCH.exists():
        pytest.skip(f"{OPBENCH} is not built")
    folder = tmp_path_factory.mktemp("rows")
    workload = {
        "name": "mix", "summary": "five levels", "shape": "priority_mix", "parameters": {"operations": 200},
        "backends": ["engine", "dispatch"], "sample_kinds": ["throughput", "latency"],
    }  # fmt: skip
    write(folder / "mix.json", json.dumps(workload))
    command = [OPBENCH, "run", "--quick", "--blocks", "2", "--run-id", "r", "--no-progress", "mix.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "results" / "r"


@pytest.fixture(scope="module")
def compared(run_folder: Path) -> Path:
    """The run, with compare.csv and goals.csv beside its files."""
    goals = {"version": 1, "rules": [{"metric": "time", "phase": "total", "at_most": 1e9}]}
    write(run_folder / "goals.json", json.dumps(goals))
    for words in (["compare", run_folder, run_folder, "--all", "--csv", "compare.csv"],
                  ["gate", "--candidate", run_folder, "--policy", "goals.json", "--csv", "goals.csv"]):  # fmt: skip
        subprocess.run([OPBENCH, *words], cwd=run_folder, capture_output=True, timeout=60, check=False)
    return run_folder


@pytest.mark.parametrize("name", ["samples.csv", "summary.csv", "histograms.csv", "compare.csv", "goals.csv"])
def test_names_need_no_quoting_in_pandas_and_imply_no_other_unit(compared: Path, name: str) -> None:
    frame = pandas.read_csv(compared / name)
    assert len(frame.columns) > 5 and len(frame) > 0
    for column in frame.columns:
        assert column.isidentifier() and not keyword.iskeyword(column)
        assert not hasattr(pandas.DataFrame, column), f"{column} is a method of every table"
        frame.query(f"{column} == {column}")
        assert not column.endswith(("_s", "_us", "_ms")) or column.endswith("_per_s")
    assert set(frame.schema_version) == {1}


def test_an_example_of_ten_lines_reads_a_run(run_folder: Path, tmp_path: Path) -> None:
    printed = ran("read_run.py", run_folder)
    for word in ("time_ratio", "mean", "mix", "engine", "dispatch"):
        assert word in printed
    # A rerun replaces its sample.
    again = tmp_path / "again"
    shutil.copytree(run_folder, again)
    text = (again / "samples.csv").read_text(encoding="utf-8")
    line = next(line for line in reversed(text.splitlines(keepends=True)) if ",engine," in line and ",total,,,ok," in line and ",time,total," in line)
    sample, figure = line.split(",")[2], re.search(r",time,total,([^,]+),", line)
    assert figure
    slower = line.replace(sample, sample.replace("-", "r-")).replace(figure[0], f",time,total,{float(figure[1]) * 1000},")
    write(again / "samples.csv", text + slower)
    rerun = ran("read_run.py", again)
    assert _counted(rerun) == _counted(printed) == [2] and rerun != printed


def _counted(printed: str) -> list[int]:
    """The number of the engine's samples."""
    return [int(count) for count in re.findall(r"mix.* engine +(\d)\.0 ", printed.replace("\n", " mix "))]


def test_an_example_of_ten_lines_reads_histograms(run_folder: Path) -> None:
    """It finds the summary's percentile, within the width of a bucket: with one histogram, that of a sample."""
    printed = {line.split()[-2]: float(line.split()[-1]) for line in ran("read_histograms.py", run_folder).splitlines()[2:]}
    wanted = {row["backend"]: float(row["start_latency_p99_ns"]) for row in read(run_folder / "summary.csv") if not row["operation_class"]}
    assert set(printed) == set(wanted) == {"engine", "dispatch"}
    for backend, latency in wanted.items():
        assert latency - 1 <= printed[backend] * (1 + 1e-3) and printed[backend] <= latency * (1 + 1 / 31) + 1


def ran(name: str, run: Path) -> str:
    """The output of an example for a run."""
    script = ROOT / "scripts" / "examples" / name
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 10, "it is to be read at a glance"
    done = subprocess.run(
        [sys.executable, "-W", "error", script, run], capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_guides_lines_for_prometheus_escape_labels(tmp_path: Path) -> None:
    guide = (ROOT / "Sources/opbench/opbench.docc/SharingResults.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^python3 -c .*?summary\.csv$", guide, re.DOTALL | re.MULTILINE)
    (tmp_path / "results/main").mkdir(parents=True)
    names = ["cell_id", "backend", "side", "operation_class", "time_ns_per_op"]
    rows = [['a "b" \\c', "engine", "head", "", "12.5"], ["é", "dispatch", "", "group=A", "7"], ["x", "serial", "", "", ""]]
    with (tmp_path / "results/main/summary.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [
        r'opbench_time_ns{cell_id="a \"b\" \\c",backend="engine",side="head",operation_class=""} 12.5',
        'opbench_time_ns{cell_id="é",backend="dispatch",side="",operation_class="group=A"} 7',
    ]
