"""scripts/plot.py: pictures agree with the rows, and bad input writes nothing."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pandas
import plot
import pytest
from conftest import OPBENCH
from matplotlib.axes import Axes

HEAD = "schema_version,run_id,workload,cell_id,backend,operation_class,side,status,sample_flags,ratio_to"
FIGURES = "time_ns_per_op,time_ns_per_op_ci_low,time_ns_per_op_ci_high,time_ratio,allocated_bytes_per_op,param_n"
SUMMARY = f"""{HEAD},{FIGURES}
1,r,w,w n=1,engine,,,ok,,dispatch,100,90,120,0.5,64,1
1,r,w,w n=1,dispatch,,,ok,noisy,dispatch,200,,,1,128,1
1,r,w,w n=10,engine,,,crashed,,dispatch,,,,,,10
1,r,w,w n=10,dispatch,,,ok,,dispatch,210,,,1,128,10
1,r,w,w n=100,engine,,,ok,,dispatch,110,100,130,0.5,64,100
1,r,w,w n=100,dispatch,,,skipped,,dispatch,,,,,,100
1,r,w,w n=1,engine,priority=high,,ok,,dispatch,7,,,,,1
"""
COMPARED = """schema_version,cell_id,backend,phase,operation_class,metric,stat,against,base_value,head_value,ratio,ci_low,ci_high,verdict
1,w,engine,total,,time,total,v1,100,90,0.9,0.8,0.95,improved
1,w,dispatch,total,,time,total,,0,5,,,,inconclusive
1,w,serial,total,,time,total,,10,10,1,,,
"""

GOALS = """schema_version,cell_id,backend,phase,operation_class,metric,stat,against,base_value,head_value,ratio,ci_low,ci_high,at_most,verdict
1,w,engine,total,,time,total,dispatch,100,30,0.3,0.28,0.35,0.4,met
1,w,engine,,,retained_bytes,total,,,180,,170,190,160,missed
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def points(axes: Axes, label: str) -> list[float | None]:
    """The figures of a series, None for a gap, along the axis that has them."""
    line = next(line for line in axes.lines if line.get_label() == label)
    return [None if pandas.isna(x) else float(x) for x in line.get_xdata()]


def test_cells_with_gaps_and_failures(tmp_path: Path) -> None:
    figures = plot.draw(write(tmp_path / "summary.csv", SUMMARY))
    assert set(figures) == {"time-w", "memory-w", "sweep"}
    time, ratio = figures["time-w"].axes
    assert points(time, "engine") == [100, None, 110] and points(time, "dispatch") == [200, 210]
    assert points(ratio, "engine") == [0.5, None, 0.5] and ratio.get_xscale() == "log"
    assert [text.get_text() for text in time.texts if text.get_text()] == ["crashed"]
    ends = [tuple(float(x) for x in segment[:, 0]) for segment in time.collections[0].get_segments() if len(segment) == 2]
    assert ends == [(90, 120), (100, 130)]
    hollow = [line.get_xdata() for line in time.lines if line.get_markerfacecolor() == "white"]
    assert sum(int(pandas.notna(x).sum()) for x in hollow) == 1
    assert points(figures["memory-w"].axes[0], "dispatch") == [128, 128]


def test_failed_samples(tmp_path: Path) -> None:
    write(tmp_path / "summary.csv", SUMMARY)
    samples = "schema_version,cell_id,backend,side,metric,status\n" + "1,w n=1,engine,,status,timeout\n" * 2
    write(tmp_path / "samples.csv", samples + "1,w n=1,engine,,status,ok\n1,w n=1,engine,,time,timeout\n")
    texts = plot.draw(tmp_path)["time-w"].axes[0].texts
    assert [text.get_text() for text in texts if text.get_text()] == ["2 timeout", "crashed"]


def test_a_swept_parameter(tmp_path: Path) -> None:
    (axes,) = plot.draw(write(tmp_path / "summary.csv", SUMMARY))["sweep"].axes
    assert (axes.get_xlabel(), axes.get_xscale(), axes.get_yscale()) == ("n", "log", "log")
    lines = {line.get_label(): line for line in axes.lines}
    assert list(lines["engine"].get_xdata()) == [1, 10, 100]
    assert [None if pandas.isna(y) else y for y in lines["engine"].get_ydata()] == [100, None, 110]


def test_a_comparison(tmp_path: Path) -> None:
    (axes,) = plot.draw(write(tmp_path / "c.csv", COMPARED))["c"].axes
    assert points(axes, "improved") == [0.9] and points(axes, "inconclusive") == [None]
    assert next(line for line in axes.lines if line.get_label() == "improved").get_color() == plot.VERDICTS["improved"]


def test_goals(tmp_path: Path) -> None:
    (axes,) = plot.draw(write(tmp_path / "c.csv", GOALS))["c"].axes
    assert points(axes, "met") == [0.3] and points(axes, "missed") == [None]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "w engine total time total ÷ dispatch", "w engine retained_bytes total",
    ]  # fmt: skip
    assert axes.get_xlim()[1] < 170, "the interval of a figure is not one of a ratio"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "CSV"),
        (SUMMARY.replace("1,r", "2,r"), "schema_version 2"),
        (SUMMARY.splitlines()[0] + "\n", "no rows"),
        (SUMMARY.rstrip(), "incomplete"),
        (SUMMARY.replace(",210,", ",fast,"), "time_ns_per_op"),
        (SUMMARY.replace("time_ns_per_op,", "time,"), "no column time_ns_per_op"),
        (SUMMARY + SUMMARY.splitlines()[1] + "\n", "two rows"),
    ],
)
def test_bad_input_writes_nothing(text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "summary.csv", text)
    with pytest.raises(SystemExit) as ended:
        plot.main([str(path), "--output", str(tmp_path / "out")])
    assert ended.value.code == 64 and not (tmp_path / "out").exists()
    said = capsys.readouterr().err
    assert str(path) in said and words in said


@pytest.mark.parametrize("kinds", [["throughput", "latency", "memory"], ["throughput"]])
def test_a_run_of_opbench(kinds: list[str], tmp_path: Path) -> None:
    if not OPBENCH.exists():
        pytest.skip(f"{OPBENCH} is not built")
    workload = {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": [20, 40, 80]}, "backends": ["engine", "serial"],
                "sample_kinds": kinds}  # fmt: skip
    write(tmp_path / "w.json", json.dumps(workload))
    command = [OPBENCH, "run", "--quick", "--blocks", "1", "--run-id", "r", "--no-progress", "w.json"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=True)
    done = subprocess.run([sys.executable, "-W", "error", plot.__file__, "r"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    written = {path.name for path in (tmp_path / "results/r/plots").iterdir()}
    figures = ["time-w", "sweep"] + ["latency-w", "percentiles-w"] * ("latency" in kinds) + ["memory-w"] * ("memory" in kinds)
    assert written == {f"{name}.{kind}" for name in figures for kind in ("svg", "png")}
    if "latency" not in kinds:
        return
    axes = plot.draw(tmp_path / "results/r")["percentiles-w"].axes[0]
    buckets = plot.read_histograms(tmp_path / "results/r/histograms.csv").query("stage == 'start' and cell_id == 'w items=20'")
    # As far as the number of operations allows.
    assert axes.get_xlim()[1] == pytest.approx(math.log10(buckets.groupby("series")["counts"].sum().max() + 1))
