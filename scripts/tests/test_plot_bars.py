"""scripts/plot on the stored run: which figures are bars and which lines, what noise looks like, that nothing is clipped;
memory, percentiles, and runs of version 1."""

import math
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Text
from opbench_plots.command import figures_of, main
from opbench_plots.percentiles import curve, percentile_figures
from opbench_plots.run import load_run
from test_plot import (
    BACKENDS,
    PERCENTILES,
    ROOT,
    SHAPES,
    STORED,
    assert_refused,
    drawn,
    figure_of,
    panels,
    rewrite_samples,
    rewrite_summary,
    rows_of_chains,
    run_folder,
    sample_rows,
    stored_figures,
    texts,
)

assert run_folder, "the fixture"


# Bars and lines


def only_engine(rows: list[dict[str, str]], **others: str) -> list[dict[str, str]]:
    return [row | others for row in rows if row["backend"] == "engine"]


def test_two_points_are_bars_and_three_a_line(run_folder: Path) -> None:
    """The stored chains are of two depths."""
    two = rows_of_chains()
    for axes in panels(stored_figures()["chain"], "Time per operation"):
        assert axes.containers and not [line for line in axes.get_lines() if line.get_label() in BACKENDS]
        assert axes.get_ylim()[0] == 0 and axes.get_yscale() == "linear"
    third = [row | {"param_depth": "90", "cell_id": "chains depth=90 work_ns=0"} for row in two if row["param_depth"] == "10"]
    rewrite_summary(run_folder, [*two, *third])
    for axes in panels(figure_of(run_folder), "Time per operation"):
        (line,) = [line for line in axes.get_lines() if line.get_label() == "engine"]
        assert line.get_linestyle() == "-" and len(drawn(axes, "engine")) == 3 and not axes.containers
    # One of the three is missing: what is left is no trend.
    for row in third:
        row.update(dict.fromkeys(["time_ns_per_op", "time_ratio", "throughput_ops_per_s"], ""))
    rewrite_summary(run_folder, [*two, *third])
    for axes in panels(figure_of(run_folder), "Time per operation"):
        (line,) = [line for line in axes.get_lines() if line.get_label() == "engine"]
        assert line.get_linestyle() == "None"


def test_a_lone_value_is_a_bar_with_its_figure(run_folder: Path) -> None:
    rows = only_engine([row for row in rows_of_chains() if row["param_depth"] == "10"], time_ns_per_op="1234.5")
    rewrite_summary(run_folder, rows)
    (axes,) = panels(figure_of(run_folder), "Time per operation")
    assert drawn(axes, "engine") == [1234.5]
    assert "1.23 µs" in [text.get_text() for text in axes.texts]


def test_bars_of_ratios_begin_at_1(run_folder: Path) -> None:
    rows = rows_of_chains()
    for row in rows:
        row["time_ratio"] = {"engine": "0.25", "dispatch": "1", "foundation": "8"}[row["backend"]]
        row["time_ratio_ci_low"], row["time_ratio_ci_high"] = "", ""
    rewrite_summary(run_folder, rows)
    for axes in panels(figure_of(run_folder), "Time per operation ÷ that of dispatch"):
        assert axes.get_yscale() == "log"
        bars = {container.get_label(): container[0] for container in axes.containers}
        assert [bars[name].get_y() for name in BACKENDS] == [1, 1, 1]
        assert [bars[name].get_y() + bars[name].get_height() for name in BACKENDS] == [0.25, 1, 8]
        assert axes.get_ylim()[0] < 0.25 and axes.get_ylim()[1] > 8


@pytest.mark.parametrize("depths", [2, 3])
def test_what_was_measured_in_a_storm_looks_it(run_folder: Path, depths: int) -> None:
    rows = rows_of_chains()
    if depths == 3:
        rows += [row | {"param_depth": "90"} for row in rows if row["param_depth"] == "10"]
    rewrite_summary(run_folder, rows)
    told = "something else used the machine"
    samples = sample_rows(run_folder)
    for row in samples:
        row["sample_flags"] = ""
    rewrite_samples(run_folder, samples)
    assert told not in texts(figure_of(run_folder))
    for row in samples:
        if row["backend"] == "engine" and row["param_depth"] == "10" and row["sample_id"].endswith("-throughput"):
            row["sample_flags"] = "noisy"
    rewrite_samples(run_folder, samples)
    figure = figure_of(run_folder)
    assert told in texts(figure)
    hatched, hollow = 0, 0
    for axes in panels(figure, "Time per operation"):
        hatched += sum(bar.get_hatch() is not None for container in axes.containers for bar in container)
        lines = [line for line in axes.get_lines() if line.get_markerfacecolor() == "white"]
        hollow += sum(len(line.get_xdata()) for line in lines)
    # Of three depths, two have the samples of the first cell: they are told apart by cell_id.
    assert (hatched, hollow) == ((1, 0) if depths == 2 else (0, 2))


def test_a_few_noisy_samples_do_not_hatch_a_bar(run_folder: Path) -> None:
    rewrite_summary(run_folder, rows_of_chains())
    samples = sample_rows(run_folder)
    for row in samples:
        row["sample_flags"] = "noisy" if row["block"] == "0" else ""
    rewrite_samples(run_folder, samples)
    assert not [bar for axes in panels(figure_of(run_folder), "Time per operation") for bar in axes.patches if bar.get_hatch()]


def assert_nothing_is_clipped(figure: Figure) -> None:
    """Every text that is drawn lies on the page, and every bar, interval and figure within the scale of its panel."""
    figure.draw_without_rendering()
    page = figure.bbox
    ticks = {id(text) for axes in figure.findobj(Axes) for axis in (axes.xaxis, axes.yaxis) for text in axis.findobj(Text)}
    boxes = [text.get_window_extent() for text in figure.findobj(Text) if text.get_text() and id(text) not in ticks]
    # With the labels of those ticks that are drawn.
    boxes += [axes.get_tightbbox() for axes in figure.findobj(Axes) if axes.axison]
    for box in boxes:
        assert box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1 and box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1, box
    for part in figure.subfigs:
        for axes in part.axes:
            low, high = sorted(axes.get_ylim())
            for line in axes.get_lines():
                if line.get_label() in BACKENDS:
                    assert all(low <= value <= high for value in line.get_ydata() if not math.isnan(value))
            for bar in axes.patches:
                assert low <= min(bar.get_y(), bar.get_y() + bar.get_height()) and bar.get_y() + bar.get_height() <= high
            for item in axes.collections:
                if isinstance(item, LineCollection):
                    assert all(low <= y <= high for segment in item.get_segments() for _, y in segment)


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_nothing_is_clipped(shape: str) -> None:
    assert_nothing_is_clipped(stored_figures()[shape])


# Memory and percentiles


def test_memory_has_a_figure_of_its_own(run_folder: Path) -> None:
    held = {"engine": "153", "dispatch": "2048", "foundation": "900"}
    rows = [row | {"retained_bytes_per_pending_op": held[row["backend"]]} for row in rows_of_chains()]
    rewrite_summary(run_folder, rows)
    figures = figures_of(load_run(run_folder))
    assert list(figures) == ["chain", "memory-chain"]
    for axes in panels(figures["memory-chain"], "Bytes held by an operation that waits"):
        assert drawn(axes, "dispatch") == [2048, 2048]
        shown = [text.get_text() for text in axes.texts]
        assert "2 KiB" in shown and "153 B" in shown
        assert {label.get_text() for label in axes.get_yticklabels()} >= {"0 B", "1 KiB", "2 KiB"}
    assert "Not measured: Mallocs, per operation" in texts(figures["memory-chain"])
    assert_nothing_is_clipped(figures["memory-chain"])


def test_percentiles_are_those_of_the_samples() -> None:
    checked = 0
    figures = percentile_figures(load_run(STORED), STORED)
    assert list(figures) == [PERCENTILES]
    figure = figures[PERCENTILES]
    start = next(axes for part in figure.subfigs for axes in part.axes if axes.get_title(loc="left").startswith("Ready → start"))
    (line,) = [line for line in start.get_lines() if line.get_label() == "engine"]
    places, latencies = line.get_data()
    for row in sample_rows():
        wanted = {"p50": 0.5, "p90": 0.9, "p99": 0.99}.get(row["stat"])
        if row["sample_id"] == "00003-latency" and row["metric"] == "start_latency" and not row["operation_class"] and wanted:
            at = 1 / (1 - wanted)
            # Of fewer operations than that the slowest stands for it.
            found = next((y for x, y in zip(places, latencies, strict=True) if x >= at * (1 - 1e-9)), latencies[-1])
            assert float(row["value"]) * (1 - 1e-3) <= found <= float(row["value"]) * (1 + 1 / 31) + 1
            checked += 1
    assert checked == 3
    labels = [label.get_text() for label in start.get_xticklabels()]
    assert labels[:2] == ["50 %", "90 %"]
    assert_nothing_is_clipped(figure)


def test_percentiles_of_files_of_version_1_are_the_same() -> None:
    (former,), (today,) = (percentile_figures(load_run(STORED.parent / name), STORED.parent / name).values() for name in ("run-1", "run-small"))
    pairs = zip(former.subfigs[1].axes, today.subfigs[1].axes, strict=True)
    for one, other in pairs:
        for line, same in zip(one.get_lines(), other.get_lines(), strict=True):
            # The buckets of then were finer.
            assert max(line.get_ydata()) <= max(same.get_ydata()) <= max(line.get_ydata()) * 1.04


def within(samples: list[dict[int, int]], part: float) -> float:
    """The latency that a curve shows for a part of the operations."""
    places, latencies = curve(samples)
    assert places == sorted(places) and latencies == sorted(latencies)
    return next(latency for place, latency in zip(places, latencies, strict=True) if place >= (1 - 1e-9) / (1 - part))


def test_a_curve_counts_each_operation_once() -> None:
    sample = {100: 50, 1000: 49, 20_000: 1}
    assert [within([sample], part) for part in (0, 0.5, 0.51, 0.98)] == [100, 100, 1000, 1000]
    places, latencies = curve([sample])
    assert (places[0], places[-1], latencies[-1]) == (1, 100, 20_000)


def test_a_curve_is_the_median_of_the_samples_and_ends_at_the_greatest() -> None:
    # Added up, most of the slowest operations would be of the third sample.
    samples = [{10: 990, 100: 10}, {20: 990, 300: 10}, {15: 900, 9000: 100}]
    assert [within(samples, part) for part in (0.5, 0.99)] == [15, 20]
    assert curve(samples)[1][-2:] == [300, 9000]
    assert within([{10: 100}, {20: 100}], 0.5) == 15


def test_percentiles_leave_out_what_was_taken_again_and_what_is_invalid(run_folder: Path) -> None:
    run = load_run(run_folder)
    (before,) = percentile_figures(run, run_folder).values()
    count = len([line for part in before.subfigs for axes in part.axes for line in axes.get_lines()])
    assert count > 0
    run.counted.clear()
    assert percentile_figures(run, run_folder) == {}


def test_spoilt_histograms(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (run_folder / "histograms.csv").read_text(encoding="utf-8")
    (run_folder / "histograms.csv").write_text(text.replace("\n2,", "\n9,"), encoding="utf-8")
    assert_refused([str(run_folder)], capsys, run_folder, "histograms.csv", "schema_version 9 is newer")


# Runs of version 1


def test_a_run_of_version_1_is_drawn_as_one_of_today() -> None:
    """`run-1` is one cell of the stored run, as it was written."""
    former, today = load_run(STORED.parent / "run-1"), load_run(STORED)
    assert former.rows == [row for row in today.rows if row.slot.cell.workload == "nices"] and len(former.rows) > 5
    assert former.noisy == {place for place in today.noisy if place[0].startswith("nices")}
    for key, values in former.samples.items():
        assert values == pytest.approx(today.samples[key])


def test_kept_runs_of_version_1_are_drawn(tmp_path: Path) -> None:
    kept = ROOT / "results" / "baseline" / "engine-system-latency"
    assert main([str(kept), "--output", str(tmp_path)]) == 0
    assert list(tmp_path.glob("*.svg"))
