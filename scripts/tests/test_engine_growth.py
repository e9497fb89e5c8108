"""Points, verdicts and curves of scripts/engine-growth."""

import csv
import json
import subprocess
from pathlib import Path

import pytest
from opbench_goals import curves, growth
from opbench_goals.growth import Axis
from opbench_goals.growth_command import AXES, main
from opbench_goals.rows import Rows
from opbench_plots.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "workloads" / "engine" / "growth"
AXIS = Axis("grown", "items", "operations", False, 1.5)


def write_run(folder: Path, times: dict[tuple[str, int], list[float]]) -> Path:
    """A run of the workload `grown`, with the time of one operation in nanoseconds by backend and items."""
    folder.mkdir(parents=True)
    columns = "schema_version,run_id,workload,cell_id,backend,side,block,phase,class,status,metric,stat,value,operations"
    with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*columns.split(","), "param.items"])
        for (backend, items), values in times.items():
            for block, value in enumerate(values):
                row = [1, "r", "grown", f"grown items={items}", backend, "", block, "total", "", "ok", "time", "total"]
                writer.writerow([*row, value * items / 1e9, items, items])
    (folder / "run.json").write_text(json.dumps({"allocator": "jemalloc 5.3"}), encoding="utf-8")
    return folder


def judged(tmp_path: Path, axis: Axis, times: dict[int, list[float]]) -> growth.Growth:
    rows = Rows(write_run(tmp_path / "run", {("engine", items): values for items, values in times.items()}))
    return growth.judge(growth.points(rows, [axis]), [axis])[0]


def test_the_axes_are_the_lists_of_the_shipped_workloads() -> None:
    axes = growth.load_axes(AXES)
    assert {axis.workload for axis in axes} == {path.stem for path in WORKLOADS.glob("*.json")}
    for axis in axes:
        parameters = json.loads((WORKLOADS / f"{axis.workload}.json").read_text(encoding="utf-8"))["parameters"]
        lists = [name for name, value in parameters.items() if isinstance(value, list)]
        assert lists == [axis.parameter] and parameters[axis.parameter] == sorted(parameters[axis.parameter])


@pytest.mark.parametrize(("last", "word"), [(110.0, "linear"), (300.0, "worse than linear")])
def test_the_worst_ratio_to_the_smallest_value_is_judged(tmp_path: Path, last: float, word: str) -> None:
    found = judged(tmp_path, AXIS, {10: [100.0] * 7, 100: [105.0] * 7, 1000: [last] * 7})
    assert (found.word, found.worst, found.smallest) == (word, 1000, 10)
    assert found.estimate is not None and found.estimate.value == pytest.approx(last / 100)


def test_an_interval_that_holds_the_bound_leaves_it_open(tmp_path: Path) -> None:
    found = judged(tmp_path, AXIS, {10: [100.0] * 7, 100: [120, 130, 140, 150, 160, 170, 180]})
    assert found.word == "open"


def test_the_hump_in_the_middle_is_seen(tmp_path: Path) -> None:
    found = judged(tmp_path, AXIS, {10: [100.0] * 7, 100: [400.0] * 7, 1000: [90.0] * 7})
    assert (found.worst, found.word) == (100, "worse than linear")


def test_what_is_proportional_is_divided(tmp_path: Path) -> None:
    axis = Axis("grown", "items", "dependencies", True, 1.5)
    found = judged(tmp_path, axis, {1: [100.0] * 7, 16: [1600.0] * 7})
    assert found.word == "linear" and found.estimate is not None and found.estimate.value == pytest.approx(1)


def test_one_point_is_no_growth(tmp_path: Path) -> None:
    assert judged(tmp_path, AXIS, {10: [100.0] * 7}).word == "not measured"


def test_points_are_read_back_and_drawn_the_same_again(tmp_path: Path) -> None:
    times = {(backend, items): [100.0, 101, 99] for backend in ("engine", "dispatch") for items in (10, 100)}
    rows = Rows(write_run(tmp_path / "run", times))
    points = growth.points(rows, [AXIS])
    growth.write(points, "r", "jemalloc", tmp_path / "growth-jemalloc.csv")
    run_id, allocator, again = growth.read(tmp_path / "growth-jemalloc.csv")
    assert (run_id, allocator) == ("r", "jemalloc")
    assert [(p.cell_id, p.x, p.backend, p.time.value) for p in again] == [
        (p.cell_id, p.x, p.backend, pytest.approx(p.time.value, rel=1e-3)) for p in points
    ]
    drawings = []
    for name in ("first.svg", "second.svg"):
        curves.draw(again, [AXIS], "a title", tmp_path / name)
        drawings.append((tmp_path / name).read_text(encoding="utf-8"))
    assert drawings[0] == drawings[1]
    assert all(word in drawings[0] for word in ("a title", "operations", "engine", "dispatch"))


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "growth-system.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BadInput, match="growth-system.csv"):
        growth.read(tmp_path / "growth-system.csv")
    (tmp_path / "axes.json").write_text('{"axes": [{"workload": "x"}]}', encoding="utf-8")
    with pytest.raises(BadInput, match="axes.json"):
        growth.load_axes(tmp_path / "axes.json")


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
