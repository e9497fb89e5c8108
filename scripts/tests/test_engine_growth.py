"""Points, verdicts and curves of scripts/engine-growth."""

import csv
import json
import subprocess
from pathlib import Path

import pytest
from conftest import OPBENCH
from opbench_goals import curves, growth
from opbench_goals.growth import AXES, Axis
from opbench_goals.growth_command import POLICY, main
from opbench_plots.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "workloads" / "engine" / "growth"
AXIS = Axis("grown", "items", "operations")


def write_run(folder: Path, times: dict[tuple[str, int], tuple[float, float | None, float | None]]) -> Path:
    """A run of the workload `grown`, with the nanoseconds an operation, and their interval, by backend and items."""
    folder.mkdir(parents=True)
    with open(folder / "summary.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*growth.READ, "param_items"])
        for (backend, items), figures in times.items():
            values = ["" if value is None else value for value in figures]
            writer.writerow([2, "r", "grown", f"grown items={items}", backend, "", 7, *values, items])
        writer.writerow([2, "r", "grown", "grown items=10", "engine", "priority=low", 7, 1e3, "", "", 10])
        writer.writerow([2, "r", "grown", "grown items=10", "foundation", "", 0, "", "", "", 10])
        writer.writerow([2, "r", "other", "other", "engine", "", 7, 1e3, "", "", ""])
    return folder


def test_the_axes_are_the_lists_of_the_shipped_workloads() -> None:
    assert {axis.workload for axis in AXES} == {path.stem for path in WORKLOADS.glob("*.json")}
    for axis in AXES:
        parameters = json.loads((WORKLOADS / f"{axis.workload}.json").read_text(encoding="utf-8"))["parameters"]
        lists = [name for name, value in parameters.items() if isinstance(value, list)]
        assert lists == [axis.parameter] and parameters[axis.parameter] == sorted(parameters[axis.parameter])


def test_what_is_proportional_to_the_parameter_may_grow_with_it() -> None:
    """A linear cost: that of an operation stays within the same bound, or within that times its dependencies."""
    for rule in json.loads(POLICY.read_text(encoding="utf-8"))["rules"]:
        x = [word.partition("=")[2] for word in rule["cell"].split() if word.startswith("degree=")]
        if rule["cell"].startswith("growth-dependencies"):
            degree = int(x[0]) if x else 2
            assert rule["at_most"] == 1.5 * degree
        else:
            assert rule["at_most"] in (1.5, 2)


def test_points_are_the_times_of_the_summary_in_the_order_of_the_axis(tmp_path: Path) -> None:
    times = {("engine", 100): (250, 200, 500), ("engine", 10): (100, None, None), ("dispatch", 10): (1e3, 900, 2e3)}
    run_id, points = growth.points(write_run(tmp_path / "run", times), [AXIS])
    assert run_id == "r"
    assert [(point.x, point.backend) for point in points] == [(10, "engine"), (10, "dispatch"), (100, "engine")]
    assert points[0].time == (100, None, None) and not points[0].time.has_bar
    assert points[2].time == (250, 200, 500)


def test_points_are_read_back_and_drawn_the_same_again(tmp_path: Path) -> None:
    times = {(backend, items): (100, 50, 110) for backend in ("engine", "dispatch") for items in (10, 100)}
    times["engine", 1000] = (100, None, None)
    _, points = growth.points(write_run(tmp_path / "run", times), [AXIS])
    growth.write(points, "r", "jemalloc", tmp_path / "growth-jemalloc.csv")
    run_id, allocator, again = growth.read(tmp_path / "growth-jemalloc.csv")
    assert (run_id, allocator) == ("r", "jemalloc")
    assert [(p.cell_id, p.x, p.backend, p.time.value, p.time.has_bar, p.samples) for p in again] == [
        (p.cell_id, p.x, p.backend, pytest.approx(p.time.value, rel=1e-3), p.time.has_bar, 7) for p in points
    ]
    drawings = []
    for name in ("first.svg", "second.svg"):
        curves.draw(again, [AXIS], "a title", tmp_path / name)
        drawings.append((tmp_path / name).read_text(encoding="utf-8"))
    assert drawings[0] == drawings[1]
    assert all(word in drawings[0] for word in ("a title", "operations", "engine", "dispatch"))


def test_the_stored_curves_are_those_of_the_stored_points(tmp_path: Path) -> None:
    stored = ROOT / "results" / "reference"
    (tmp_path / "growth-system.csv").write_bytes((stored / "growth-system.csv").read_bytes())
    assert main(["--redraw", "--output", str(tmp_path)]) == 0
    assert (tmp_path / "growth-system.svg").read_bytes() == (stored / "growth-system.svg").read_bytes()


@pytest.mark.skipif(not OPBENCH.exists(), reason=f"{OPBENCH} is not built")
@pytest.mark.parametrize(("last", "verdict"), [(1.1, "met"), (3.0, "missed")])
def test_growth_is_judged_by_goals(tmp_path: Path, last: float, verdict: str, capfd: pytest.CaptureFixture[str]) -> None:
    """One cell a hundred times as large: linear, or three times as much an operation."""
    from test_engine_goals import sample, write_samples

    name = "growth-queues chains=10 depth=10000"
    cells = {f"{name} work_ns=0": (1, 1.0), f"{name} queues=100 work_ns=0": (100, last)}
    rows = [
        sample(
            workload="growth-queues", cell_id=cell, metric="time", stat="total", phase="total", block=block,
            sample_id=f"{queues}{block}-throughput", value=1e9 * seconds * (1 + block / 100), param_form=queues,
        )
        for cell, (queues, seconds) in cells.items()
        for block in range(7)
    ]  # fmt: skip
    run = write_samples(tmp_path / "run", rows)
    samples = (run / "samples.csv").read_text(encoding="utf-8").replace("param_form,param_unused", "param_queues,param_unused")
    (run / "samples.csv").write_text(samples, encoding="utf-8")
    with open(run / "summary.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*growth.READ, "param_queues"])
        for cell, (queues, seconds) in cells.items():
            writer.writerow([2, "r", "growth-queues", cell, "engine", "", 7, 1e8 * seconds, "", "", queues])
    assert main(["--from", str(run), "--output", str(tmp_path / "out"), "--opbench", str(OPBENCH)]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert any(line.startswith("growth-queues") for line in lines), lines
    assert any(line.endswith(f"2.00×  {verdict}") for line in lines), lines
    assert (tmp_path / "out" / "growth-system.svg").exists()


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "growth-system.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BadInput, match="growth-system.csv"):
        growth.read(tmp_path / "growth-system.csv")


def test_misuse_ends_with_64(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--redraw", "--output", str(tmp_path)]) == 64
    assert main(["--from", str(tmp_path)]) == 64
    with pytest.raises(SystemExit) as ended:
        main(["--redraw", "--from", str(tmp_path)])
    assert ended.value.code == 64
    assert capsys.readouterr().out == ""


def test_what_is_kept_is_not_ignored_by_git() -> None:
    for path in ("results/reference/growth-system.svg", "results/baseline/engine-system/run.json"):
        ignored = subprocess.run(["git", "-C", ROOT, "check-ignore", "-q", path], check=False).returncode
        assert ignored != 0
