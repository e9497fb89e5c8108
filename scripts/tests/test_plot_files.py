"""scripts/plot on files of comparisons and histories: what is drawn is what they say."""

import csv
import math
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from opbench_plots.command import figures_of_file, figures_of_folder, main
from test_plot import rewrite_summary, summary_rows, texts
from test_plot_bars import assert_nothing_is_clipped

COMPARED = (
    "schema_version,cell_id,backend,phase,operation_class,metric,stat,base_value,head_value,ratio,ci_low,ci_high,p,p_adjusted,"
    "noise_floor,threshold,verdict"
).split(",")
TREND = (
    "host_class,allocator,configuration,cell_id,backend,side,metric,phase,operation_class,stat,unit,direction,started_utc,run_id,"
    "commit,dirty,value,ci_low,ci_high,samples,change"
).split(",")


def write(path: Path, columns: list[str], rows: list[dict[str, object]]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def compared(ratio: float | str, low: float | str = "", high: float | str = "", verdict: str = "pass", **others: object) -> dict[str, object]:
    row = {
        "schema_version": 2, "cell_id": "chain depth=2000 work_ns=0", "backend": "engine", "phase": "total", "metric": "time",
        "stat": "total", "base_value": 100, "head_value": 100, "ratio": ratio, "ci_low": low, "ci_high": high,
        "threshold": 0.02, "verdict": verdict,
    }  # fmt: skip
    return row | others


FIGURES = [
    compared(1.071, 1.051, 1.094, "regression"),
    compared(0.913, 0.9, 0.925, "improved", metric="cpu_time"),
    compared(1.001, 0.985, 1.018, "pass", cell_id="tiny-vs-batched items_per_operation=100 producers=2 submission=refill"),
    compared(1.02, 0.96, 1.31, "inconclusive", cell_id="storm", metric="start_latency", phase="", stat="p99", operation_class="priority=very_low"),
    compared("", "", "", "missing", cell_id="storm"),
]  # fmt: skip


def axes_of(figure: Figure) -> list[Axes]:
    return [axes for part in figure.subfigs for axes in part.axes if axes.axison]


# Comparisons


def test_a_comparison_shows_ratios_with_their_intervals(tmp_path: Path) -> None:
    path = write(tmp_path / "compare.csv", COMPARED, FIGURES)
    figures, _ = figures_of_file(path)
    assert list(figures) == ["comparison"]
    (axes,) = axes_of(figures["comparison"])
    points = sorted(line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 1)
    assert points == [0.913, 1.001, 1.02, 1.071]
    intervals = sorted(tuple(x for x, _ in segment) for item in axes.collections for segment in item.get_segments())
    assert intervals == [(0.9, 0.925), (0.96, 1.31), (0.985, 1.018), (1.051, 1.094)]
    assert axes.get_xscale() == "log" and axes.get_xlim()[0] < 0.9 and axes.get_xlim()[1] > 1.31
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0] == "engine: time" and "engine: start latency priority=very_low p99" in labels
    shown = texts(figures["comparison"])
    assert "+7.1 %  (+5.1 % … +9.4 %)" in shown and "−8.7 %" in shown and "+0.1 %  (−1.5 % … +1.8 %)" in shown
    for word in ("regression", "improved", "pass", "inconclusive", "chain depth=2000 work_ns=0", "head ÷ base"):
        assert word in shown
    assert_nothing_is_clipped(figures["comparison"])


def test_a_comparison_that_judged_nothing_shows_the_headlines(tmp_path: Path) -> None:
    rows = [compared(1.1, 1.0, 1.2, "", metric=metric, phase=phase) for metric, phase in (("time", "total"), ("time", "build"), ("load", ""))]
    (figure,) = figures_of_file(write(tmp_path / "compare.csv", COMPARED, rows))[0].values()
    (axes,) = axes_of(figure)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["engine: time"]
    assert "not judged" in texts(figure)


def test_comparisons_of_version_1_are_drawn(tmp_path: Path) -> None:
    names = {"operation_class": "class", "base_value": "base", "head_value": "head"}
    columns = [names.get(name, name) for name in COMPARED if name != "schema_version"]
    rows = [{names.get(name, name): value for name, value in row.items() if name != "schema_version"} for row in FIGURES]
    (figure,) = figures_of_file(write(tmp_path / "compare.csv", columns, rows))[0].values()
    assert "+7.1 %  (+5.1 % … +9.4 %)" in texts(figure)


def test_many_figures_go_to_further_pages_on_one_scale(tmp_path: Path) -> None:
    rows = [compared(1 + number / 100, 1 + number / 200, 1 + number / 50, cell_id=f"w items={number}") for number in range(70)]
    figures, _ = figures_of_file(write(tmp_path / "compare.csv", COMPARED, rows))
    assert list(figures) == ["comparison", "comparison-2", "comparison-3"]
    scales = {axes.get_xlim() for figure in figures.values() for axes in axes_of(figure)}
    assert len(scales) == 1
    assert_nothing_is_clipped(figures["comparison-2"])


def test_a_run_of_two_builds_is_drawn_by_its_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = summary_rows()
    rewrite_summary(tmp_path, [row | {"side": side} for row in rows for side in ("base", "head")])
    write(tmp_path / "compare.csv", COMPARED, FIGURES)
    assert list(figures_of_folder(tmp_path)[0]) == ["comparison"]
    assert main([str(tmp_path), "--output", str(tmp_path / "out")]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["comparison.png", "comparison.svg"]
    assert capsys.readouterr().err == ""


def test_a_file_s_figures_stand_beside_it(tmp_path: Path) -> None:
    path = write(tmp_path / "ratios.csv", COMPARED, FIGURES)
    assert main([str(path)]) == 0
    assert (tmp_path / "plots" / "comparison.svg").exists()


@pytest.mark.parametrize(("rows", "message"), [([compared("")], "no figure that both sides have"), ([compared("fast")], "ratio")])
def test_comparisons_that_cannot_be_drawn(
    tmp_path: Path, rows: list[dict[str, object]], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(write(tmp_path / "compare.csv", COMPARED, rows))]) == 64
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["compare.csv"]


# Histories


def trend(day: int, value: float, change: float | str = "", **others: object) -> dict[str, object]:
    row = {
        "host_class": "Some CPU x2", "allocator": "jemalloc 5.3.0", "configuration": "release", "cell_id": "chain depth=2000 work_ns=0",
        "backend": "engine", "metric": "time", "phase": "total", "stat": "total", "unit": "ns", "direction": "lower",
        "started_utc": f"2026-11-{day:02}T08:00:00.000Z", "run_id": f"run{day}", "commit": f"c{day}", "dirty": "false",
        "value": value, "ci_low": value * 0.97, "ci_high": value * 1.04, "samples": 7, "change": change,
    }  # fmt: skip
    return row | others


def history_rows() -> list[dict[str, object]]:
    rows = [trend(day, 500 + day % 3 * 5 if day < 9 else 560 + day % 2 * 4, 1.115 if day == 9 else "") for day in range(1, 16)]
    rows += [trend(day, 800 + day % 4 * 9, backend="dispatch") for day in range(1, 16)]
    rows += [trend(day, 2, metric="allocations", unit="count", ci_low="", ci_high="") for day in range(1, 3)]
    return rows + [trend(1, 0.61, metric="time_ratio", unit="1")]


def test_a_history_shows_figures_over_runs(tmp_path: Path) -> None:
    figures, _ = figures_of_file(write(tmp_path / "trend.csv", TREND, list(reversed(history_rows()))))
    assert list(figures) == ["history"]
    panels = {axes.get_title(loc="left").replace("\n", " "): axes for axes in axes_of(figures["history"])}
    times = panels["time: chain depth=2000 work_ns=0"]
    (line,) = [line for line in times.get_lines() if line.get_label() == "engine"]
    assert list(line.get_ydata()) == [row["value"] for row in history_rows()[:15]]
    assert line.get_linestyle() == "-" and times.get_ylim()[0] == 0
    assert "+11.5 %" in [text.get_text() for text in times.texts]
    assert sum(len(item.get_segments()) for item in times.collections) == 30
    assert "2026-11-01" in [label.get_text() for label in times.get_xticklabels()]
    # Two runs are no trend: bars, with their figures.
    few = panels["allocations: chain depth=2000 work_ns=0"]
    assert [bar.get_height() for bar in few.patches] == [2, 2] and not few.get_lines() and few.get_ylim()[0] == 0
    assert [text.get_text() for text in panels["time ratio: chain depth=2000 work_ns=0"].texts] == ["0.61×"]
    shown = texts(figures["history"])
    assert "Some CPU x2 · jemalloc 5.3.0 · release" in shown and "a change point" in shown
    assert_nothing_is_clipped(figures["history"])


def test_hosts_and_sides_are_told_apart(tmp_path: Path) -> None:
    rows = [trend(day, 500) for day in range(1, 5)] + [trend(day, 900, host_class="Other") for day in range(1, 5)]
    rows += [trend(day, 510, side="head") for day in range(1, 5)]
    (figure,) = figures_of_file(write(tmp_path / "trend.csv", TREND, rows))[0].values()
    assert len(axes_of(figure)) == 2
    labels = {line.get_label() for axes in axes_of(figure) for line in axes.get_lines()}
    assert {"engine", "engine head"} <= labels
    assert "(Other · jemalloc 5.3.0 · release)" in texts(figure).replace("\n", " ")


def test_runs_of_one_day_are_told_apart(tmp_path: Path) -> None:
    rows = [trend(1, 500 + hour, started_utc=f"2026-11-01T{hour:02}:30:00.000Z", run_id=f"r{hour}") for hour in range(8, 12)]
    (figure,) = figures_of_file(write(tmp_path / "trend.csv", TREND, rows))[0].values()
    (axes,) = axes_of(figure)
    assert "11-01 08:30" in [label.get_text() for label in axes.get_xticklabels()]


def test_a_history_of_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [trend(1, math.nan) | {"value": "", "ci_low": "", "ci_high": ""}]
    assert main([str(write(tmp_path / "trend.csv", TREND, rows))]) == 64
    assert "no figures" in capsys.readouterr().err
