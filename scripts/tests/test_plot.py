"""scripts/plot on a small stored run: what is drawn is what the CSV says, and bad input writes nothing."""

import csv
import errno
import io
import json
import math
import re
import shutil
import xml.etree.ElementTree as ElementTree
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from opbench_plots.command import figures_of, find_run, main
from opbench_plots.errors import BadInput
from opbench_plots.run import COUNTED_BY_ROUND, load_run
from opbench_plots.shapes import plan_of

ROOT = Path(__file__).resolve().parents[2]
STORED = Path(__file__).parent / "data" / "run-small"
SHAPES = {"independent", "chain", "priority_mix", "thread_priority", "suspend_resume"}
PERCENTILES = "percentiles-nices"
BACKENDS = ("engine", "dispatch", "foundation")


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A copy of the stored run that a test may spoil."""
    return Path(shutil.copytree(STORED, tmp_path / "run"))


@pytest.fixture(scope="module")
def drawn_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """All figures of the stored run, in a folder that was not there, and what was printed."""
    folder = tmp_path_factory.mktemp("drawn") / "new" / "plots"
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        assert main([str(STORED), "--output", str(folder)]) == 0
    return folder, out.getvalue(), err.getvalue()


def summary_rows(folder: Path = STORED) -> list[dict[str, str]]:
    with open(folder / "summary.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows_of_chains() -> list[dict[str, str]]:
    return [row for row in summary_rows() if row["param_depth"]]


def rows_of_suspensions() -> list[dict[str, str]]:
    return [row for row in summary_rows() if row["param_toggles"]]


def rewrite_summary(folder: Path, rows: list[dict[str, str]]) -> None:
    with open(folder / "summary.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@cache
def stored_figures() -> dict[str, Figure]:
    return figures_of(load_run(STORED))


def figure_of(folder: Path) -> Figure:
    """The figure of a run of one shape."""
    (figure,) = figures_of(load_run(folder)).values()
    return figure


def panels(figure: Figure, title: str) -> list[Axes]:
    return [axes for part in figure.subfigs for axes in part.axes if axes.get_title(loc="left").replace("\n", " ") == title]


def drawn(axes: Axes, backend: str) -> list[float]:
    """The figures of a backend in a panel, from left to right, without the gaps: the points of its line, or the ends of its
    bars."""
    lines = [line for line in axes.get_lines() if line.get_label() == backend]
    bars = [bar for container in axes.containers if container.get_label() == backend for bar in container]
    assert len(lines) <= 1 and not (lines and bars)
    if lines:
        return [value for value in lines[0].get_ydata() if not math.isnan(value)]
    return [bar.get_y() + bar.get_height() for bar in bars]


def bars(axes: Axes, backend: str) -> list[tuple[float, float]]:
    found = [item for item in axes.collections if item.get_label() == f"{backend} interval"]
    assert all(isinstance(item, LineCollection) for item in found)
    return [(segment[0][1], segment[1][1]) for item in found for segment in item.get_segments()]


def texts(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(lambda item: hasattr(item, "get_text")))


def expected(shape: str, backend: str, column: str, in_class: bool) -> list[float]:
    """The figures of a column in the workloads of a shape, sorted."""
    document = json.loads((STORED / "run.json").read_text(encoding="utf-8"))
    workloads = [json.loads(entry["text"]) for entry in document["workloads"]]
    names = {workload["name"] for workload in workloads if workload["shape"] == shape}
    return sorted(
        float(row[column])
        for row in summary_rows()
        if row["workload"] in names and row["backend"] == backend and bool(row["operation_class"]) == in_class and row[column]
    )


# What is drawn


def test_one_figure_a_shape_as_svg_and_png(drawn_files: tuple[Path, str, str]) -> None:
    folder, out, err = drawn_files
    files = sorted(path.name for path in folder.iterdir())
    assert files == sorted(f"{name}.{suffix}" for name in {*SHAPES, PERCENTILES} for suffix in ("svg", "png"))
    for path in folder.iterdir():
        if path.suffix == ".svg":
            ElementTree.parse(path)
        else:
            assert path.read_bytes().startswith(b"\x89PNG")
    assert sorted(Path(line).name for line in out.splitlines()) == files
    assert err == ""
    assert [path.name for path in folder.parents[1].iterdir()] == ["new"]


def test_svg_tells_title_run_host_units_and_backends(drawn_files: tuple[Path, str, str]) -> None:
    run_id = summary_rows()[0]["run_id"]
    svg = {shape: (drawn_files[0] / f"{shape}.svg").read_text(encoding="utf-8") for shape in SHAPES}
    for text in svg.values():
        assert run_id in text
        assert "allocator jemalloc" in text
        assert "engine" in text
        assert "dispatch" in text
    assert "Time per operation" in svg["independent"] and "items_per_operation" in svg["independent"]
    assert " µs" in svg["chain"] and "depth" in svg["chain"]
    assert "Start latency, 99th percentile" in svg["priority_mix"] and "very_high" in svg["priority_mix"]
    assert "CPU share while running" in svg["thread_priority"] and " %" in svg["thread_priority"]
    assert "operations/s" in svg["suspend_resume"] and "Starts of one round after suspend returned" in svg["suspend_resume"]


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        ({"cpu": "Some CPU", "host_class": "Some CPU x8 Linux 6.1", "state": "finished"}, ["Some CPU x8 Linux 6.1"]),
        ({"cpu": "Some CPU"}, ["Some CPU"]),
        ({"allocator": "jemalloc 5.3.0-0-g54eaed1"}, ["allocator jemalloc 5.3.0"]),
        (
            {"configuration": "debug", "quick": True, "state": "cancelled"},
            ["debug build", "quick", "not complete (cancelled)"],
        ),
        ({}, []),
    ],
)
def test_where_and_how_a_run_was_measured(run_folder: Path, facts: dict[str, object], shown: list[str]) -> None:
    workloads = json.loads((run_folder / "run.json").read_text(encoding="utf-8"))["workloads"]
    (run_folder / "run.json").write_text(json.dumps({"workloads": workloads, **facts}), encoding="utf-8")
    assert load_run(run_folder).conditions == shown


@pytest.mark.parametrize("shape", ["independent", "chain"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_time_per_operation_is_the_summary_s(shape: str, backend: str) -> None:
    shown = [value for axes in panels(stored_figures()[shape], "Time per operation") for value in drawn(axes, backend)]
    times = expected(shape, backend, "time_ns_per_op", in_class=False)
    assert times
    assert sorted(shown) == pytest.approx(times)
    intervals = [bar for axes in panels(stored_figures()[shape], "Time per operation") for bar in bars(axes, backend)]
    lows = expected(shape, backend, "time_ns_per_op_ci_low", in_class=False)
    highs = expected(shape, backend, "time_ns_per_op_ci_high", in_class=False)
    assert sorted(low for low, _ in intervals) == pytest.approx(lows)
    assert sorted(high for _, high in intervals) == pytest.approx(highs)


@pytest.mark.parametrize(
    ("shape", "title", "column", "in_class"),
    [
        ("chain", "Time per operation ÷ that of dispatch", "time_ratio", False),
        ("priority_mix", "Start latency, median", "start_latency_p50_ns", True),
        ("priority_mix", "Start latency, 99th percentile", "start_latency_p99_ns", True),
        ("priority_mix", "Inversions of one round", "inversions", True),
        ("thread_priority", "Start latency, 99th percentile", "start_latency_p99_ns", True),
        ("suspend_resume", "Throughput", "throughput_ops_per_s", False),
        ("suspend_resume", "Starts of one round after suspend returned", "starts_after_suspend", False),
        ("suspend_resume", "Suspend returned → last start, 99th percentile", "quiesce_p99_ns", False),
        ("suspend_resume", "Resume → first start, 99th percentile", "resume_to_start_p99_ns", False),
    ],
)
def test_panels_show_the_summary_s_columns(shape: str, title: str, column: str, in_class: bool) -> None:
    figure = stored_figures()[shape]
    backends = [backend for backend in BACKENDS if expected(shape, backend, column, in_class)]
    assert len(backends) > 1
    for backend in backends:
        shown = [value for axes in panels(figure, title) for value in drawn(axes, backend)]
        assert sorted(shown) == pytest.approx(expected(shape, backend, column, in_class))


def test_cpu_share_is_the_median_of_the_samples() -> None:
    by_class: dict[str, list[float]] = {}
    with open(STORED / "samples.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            sound = row["status"] == "ok" and row["phase"] != "warmup"
            if sound and row["metric"] == "cpu_share" and row["backend"] == "engine" and row["operation_class"]:
                by_class.setdefault(row["param_competitors"] + row["operation_class"], []).append(float(row["value"]))
    middles = [sorted(values)[len(values) // 2] for values in by_class.values() if len(values) % 2]
    assert len(middles) == len(by_class) > 0
    shown = [
        value
        for axes in panels(stored_figures()["thread_priority"], "CPU share while running")
        for value in drawn(axes, "engine")
    ]
    assert sorted(shown) == pytest.approx(sorted(100 * middle for middle in middles))


# Bars and figures are of one quantity


def rewrite_samples(folder: Path, rows: list[dict[str, str]]) -> None:
    with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def sample_rows(folder: Path = STORED) -> list[dict[str, str]]:
    with open(folder / "samples.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# Metric of the samples → column of the summary, panel, and the rows of the summary that show it.
COUNTS_OF_ROUNDS = [
    ("inversions", "Inversions of one round", "priority=high"),
    ("starts_after_suspend", "Starts of one round after suspend returned", ""),
]


def run_of_counts(
    folder: Path, metric: str, operation_class: str, totals: list[float], rounds: float, marker: float
) -> None:
    """Makes a run in which five samples of the engine, of so many rounds each, counted `totals`."""
    shown = [
        row | {metric: str(marker)}
        for row in summary_rows(folder)
        if row[metric] and row["backend"] == "engine" and row["operation_class"] in ("", operation_class)
    ]
    cell = shown[0]["cell_id"]
    rewrite_summary(folder, [row for row in shown if row["cell_id"] == cell])
    (example,) = [
        row
        for row in sample_rows(folder)
        if (row["cell_id"], row["backend"], row["metric"], row["operation_class"], row["block"])
        == (cell, "engine", metric, operation_class, "0")
    ]
    rows = []
    for block, total in enumerate(totals):
        of_sample = example | {"sample_id": f"{block:05}-latency", "block": str(block), "sample_flags": ""}
        rows.append(of_sample | {"value": str(total)})
        rows.append(of_sample | {"metric": "rounds", "operation_class": "", "value": str(rounds)})
    rewrite_samples(folder, rows)


@pytest.mark.parametrize(("metric", "title", "operation_class"), COUNTS_OF_ROUNDS)
def test_bars_of_counts_are_of_one_round_as_their_figure_is(
    run_folder: Path, metric: str, title: str, operation_class: str
) -> None:
    run_of_counts(run_folder, metric, operation_class, totals=[1, 1, 3, 3, 3], rounds=5, marker=0.6)
    (axes,) = panels(figure_of(run_folder), title)
    assert drawn(axes, "engine") == [0.6]
    (bar,) = bars(axes, "engine")
    assert bar == pytest.approx((0.2, 0.6))


def test_what_is_counted_by_rounds_is_what_opbench_says() -> None:
    text = (ROOT / "Sources/OpBenchModel/Results/MetricCatalogue.swift").read_text(encoding="utf-8")
    metrics = re.findall(r"= Metric\((.*?)\)\n", text, re.DOTALL)
    assert len(metrics) > 40
    names = {re.search(r'name: "(\w+)"', metric)[1] for metric in metrics if "per: .round" in metric}
    assert names == COUNTED_BY_ROUND


def test_a_sample_that_was_taken_again_counts_once(run_folder: Path) -> None:
    """As in the summary: what was measured in a storm is kept in the file, and not drawn."""
    run_of_counts(run_folder, "inversions", "priority=high", totals=[1, 1, 3, 3, 3], rounds=1, marker=3)
    rows = sample_rows(run_folder)
    stormy = [row | {"value": "500" if row["metric"] == "inversions" else row["value"]} for row in rows[:2]]
    again = [row | {"sample_id": "00000r-latency", "sample_flags": "rerun"} for row in rows[:2]]
    warm = [rows[2] | {"iteration": "1", "value": "700"}]
    rewrite_samples(run_folder, [*stormy, *rows[2:], *again, *warm])
    (axes,) = panels(figure_of(run_folder), "Inversions of one round")
    assert bars(axes, "engine") == [(1, 3)]


def test_no_figure_stands_outside_its_bar(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the files contradict each other, the bar is left out, and said to be."""
    run_of_counts(run_folder, "inversions", "priority=high", totals=[1, 1, 3, 3, 3], rounds=5, marker=3)
    assert main([str(run_folder)]) == 0
    (axes,) = panels(figure_of(run_folder), "Inversions of one round")
    assert drawn(axes, "engine") == [3]
    assert bars(axes, "engine") == []
    errors = capsys.readouterr().err
    assert errors.count("outside") == 1
    assert "inversions" in errors and "engine" in errors


def test_all_figures_of_the_stored_run_are_within_their_bars() -> None:
    run = load_run(STORED)
    found = 0
    for row in run.rows:
        for measure in plan_of(run, row.slot.cell).measures:
            point = measure.read(run, row)
            if point is not None and point.has_bar:
                found += 1
                nearly = 1e-9 * abs(point.value)
                assert point.low - nearly <= point.value <= point.high + nearly, (row.slot, measure.title)
    assert found > 100
    assert run.notes == []


def test_graphs_show_how_well_they_are_scheduled(run_folder: Path) -> None:
    """The stored chains, as if they were graphs."""
    document = json.loads((run_folder / "run.json").read_text(encoding="utf-8"))
    for workload in document["workloads"]:
        workload["text"] = workload["text"].replace('"shape": "chain"', '"shape": "graph"')
    (run_folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
    rewrite_summary(run_folder, rows_of_chains())
    with open(run_folder / "samples.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rates = [row for row in rows if row["metric"] == "throughput_ops" and row["status"] == "ok"]
    for row in rates:
        row.update(metric="scheduling_efficiency", stat="mean", value="0.25")
    with open(run_folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    figure = figure_of(run_folder)
    title = "Scheduling efficiency: max(work ÷ processors, span) ÷ makespan"
    assert {value for axes in panels(figure, title) for value in drawn(axes, "engine")} == {25}


def test_levels_stand_in_order() -> None:
    (axes, *_) = panels(stored_figures()["priority_mix"], "Start latency, median")
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["very_low", "low", "normal", "high", "very_high"]


def test_the_same_run_makes_the_same_files(drawn_files: tuple[Path, str, str], tmp_path: Path) -> None:
    assert main([str(STORED), "--output", str(tmp_path)]) == 0
    for path in drawn_files[0].iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


# What is not there


@pytest.mark.parametrize(
    ("status", "letter"), [("timeout", "T"), ("crashed", "C"), ("skipped", "S"), ("unsupported", "U")]
)
def test_a_status_is_a_letter_and_never_a_figure(run_folder: Path, status: str, letter: str) -> None:
    rows = rows_of_chains()
    columns = list(rows[0])
    figure_columns = columns[columns.index("time_ns_per_op") : columns.index("resume_to_start_p99_ns") + 1]
    for row in rows:
        row["status"] = status if row["backend"] == "engine" else "ok"
        if row["backend"] == "engine":
            row.update(dict.fromkeys(figure_columns, ""))
    rewrite_summary(run_folder, rows)
    figure = figure_of(run_folder)
    for axes in panels(figure, "Time per operation"):
        assert drawn(axes, "engine") == []
        assert bars(axes, "engine") == []
        marks = [text.get_text() for text in axes.texts]
        assert marks.count(letter) == len(axes.get_xticks())
        assert "engine" in marks
    assert f"{letter} {status}" in texts(figure)


def test_an_absent_figure_is_a_gap(run_folder: Path) -> None:
    rows = rows_of_chains()
    depths = sorted({int(row["param_depth"]) for row in rows})
    for row in rows:
        if row["param_depth"] == str(depths[0]) and row["backend"] == "engine":
            row["time_ns_per_op"] = ""
    rewrite_summary(run_folder, rows)
    before = panels(stored_figures()["chain"], "Time per operation")
    after = panels(figure_of(run_folder), "Time per operation")
    assert sum(len(drawn(axes, "engine")) for axes in after) < sum(len(drawn(axes, "engine")) for axes in before)
    assert all(value > 0 for axes in after for value in drawn(axes, "engine"))


def test_what_was_never_measured_is_named(run_folder: Path) -> None:
    rows = rows_of_suspensions()
    for row in rows:
        row["quiesce_p99_ns"] = ""
    rewrite_summary(run_folder, rows)
    figure = figure_of(run_folder)
    title = "Suspend returned → last start, 99th percentile"
    assert panels(figure, title) == []
    assert f"Not measured: {title}." in texts(figure)


def test_a_measured_zero_is_drawn(run_folder: Path) -> None:
    rows = rows_of_suspensions()
    for row in rows:
        row["starts_after_suspend"] = row["starts_after_suspend"] and "0"
    rewrite_summary(run_folder, rows)
    for axes in panels(figure_of(run_folder), "Starts of one round after suspend returned"):
        shown = drawn(axes, "engine")
        assert shown and set(shown) == {0.0}
        assert "0" in [text.get_text() for text in axes.texts], "the figure of a bar of no length"


def test_a_start_that_the_clock_cannot_tell_from_none_is_explained(run_folder: Path) -> None:
    rows = [row for row in summary_rows() if row["param_enqueue"]]
    rewrite_summary(run_folder, rows)
    told = "it started before its submitting call had returned"
    assert told not in texts(figure_of(run_folder))
    for row in rows:
        row["start_latency_p50_ns"] = row["start_latency_p50_ns"] and "0"
    rewrite_summary(run_folder, rows)
    (run_folder / "samples.csv").unlink()
    figure = figure_of(run_folder)
    assert texts(figure).count(told) == 1
    assert "the wait behind other ready operations included" in texts(figure)


def test_ratios_are_said_to_be_no_quotients() -> None:
    assert "not the quotients of the times" in texts(stored_figures()["chain"])
    assert "not the quotients of the times" not in texts(stored_figures()["priority_mix"])


def test_only_the_summary_is_needed(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("samples.csv", "histograms.csv", "run.json"):
        (run_folder / name).unlink()
    assert main([str(run_folder)]) == 0
    assert {path.stem for path in (run_folder / "plots").iterdir()} == SHAPES
    assert "no CPU share" in capsys.readouterr().err


def test_a_run_without_one_shape_has_no_figure_of_it(run_folder: Path) -> None:
    rewrite_summary(run_folder, rows_of_suspensions())
    assert main([str(run_folder)]) == 0
    assert {path.stem for path in (run_folder / "plots").iterdir()} == {"suspend_resume", PERCENTILES}


def test_cells_that_differ_in_any_parameter_are_told_apart(run_folder: Path) -> None:
    rows = rows_of_chains()
    rewrite_summary(run_folder, rows + [{**row, "param_order": "reverse", "param_seed": "9"} for row in rows])
    figure = figure_of(run_folder)
    assert "order = forward · seed = 1" in texts(figure)
    assert "order = reverse · seed = 9" in texts(figure)


def test_many_cells_go_to_further_pages(run_folder: Path) -> None:
    cells = [{**row, "param_seed": str(seed)} for seed in range(20) for row in rows_of_chains()]
    rewrite_summary(run_folder, cells)
    assert list(figures_of(load_run(run_folder))) == ["chain", "chain-2", "chain-3"]


# Names


def test_a_run_is_found_by_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "results" / "mine"
    shutil.copytree(STORED, folder)
    monkeypatch.chdir(tmp_path)
    assert find_run("mine").resolve() == folder
    assert find_run(str(folder)) == folder


# Bad input: exit code 64, one line on stderr, nothing written


def assert_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str], folder: Path, *fragments: str, code: int = 64
) -> None:
    before = sorted(folder.rglob("*"))
    assert main(arguments) == code
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("plot: ")
    assert output.err.count("\n") == 1
    for fragment in fragments:
        assert fragment in output.err
    assert sorted(folder.rglob("*")) == before


def test_no_such_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert_refused([str(tmp_path / "nothing")], capsys, tmp_path, "no such run")


def test_a_file_that_is_no_figure_of_its_own(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert_refused([str(run_folder / "summary.csv")], capsys, run_folder, "of a run, name its folder")
    assert_refused([str(run_folder / "run.json")], capsys, run_folder, "run.json")


def test_no_summary(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run_folder / "summary.csv").unlink()
    assert_refused([str(run_folder)], capsys, run_folder, "summary.csv", "no such file")


def lines_of(folder: Path, name: str) -> list[str]:
    return (folder / name).read_text(encoding="utf-8").splitlines(keepends=True)


@pytest.mark.parametrize("name", ["summary.csv", "samples.csv"])
@pytest.mark.parametrize(
    ("spoil", "fragment"),
    [
        (lambda lines: "", "is empty"),
        (lambda lines: lines[0], "no rows"),
        (lambda lines: "".join(lines)[:-20], "cut short"),
        (lambda lines: "".join(lines)[:-1], "cut short"),
        (lambda lines: "".join(lines) + '2,"open', "cut short"),
        (lambda lines: "".join(lines) + "2,2,3\n", "3 fields where the header has"),
        (lambda lines: "".join(lines).replace("\n2,", "\n4,"), "schema_version 4 is newer"),
        (lambda lines: "".join(lines).replace("backend,", "back,", 1), "no column backend"),
        (
            lambda lines: "\n".join(line + "," + (line.split(",")[1]) for line in "".join(lines).splitlines()) + "\n",
            "more than one column run_id",
        ),
    ],
    ids=["empty", "header-only", "cut", "no-last-newline", "open-quote", "short-row", "version", "column", "twice"],
)
def test_spoilt_tables(run_folder: Path, capsys: pytest.CaptureFixture[str], name: str, spoil, fragment: str) -> None:
    (run_folder / name).write_text(spoil(lines_of(run_folder, name)), encoding="utf-8")
    assert_refused([str(run_folder)], capsys, run_folder, name, fragment)


@pytest.mark.parametrize("value", ["nan", "inf", "many", "1_000", "0", "-5"])
def test_figures_that_cannot_be(run_folder: Path, capsys: pytest.CaptureFixture[str], value: str) -> None:
    rows = summary_rows()
    rows[0]["time_ns_per_op"] = value
    rewrite_summary(run_folder, rows)
    assert_refused([str(run_folder)], capsys, run_folder, "time_ns_per_op", rows[0]["cell_id"], value)


def test_text_that_is_not_utf8(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run_folder / "summary.csv").write_bytes(b"\xff\xfe" + (run_folder / "summary.csv").read_bytes())
    assert_refused([str(run_folder)], capsys, run_folder, "not UTF-8")


def test_two_rows_for_one_thing(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = summary_rows()
    rewrite_summary(run_folder, [*rows, rows[0]])
    assert_refused([str(run_folder)], capsys, run_folder, "two rows")


def test_a_run_of_two_builds(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = summary_rows()
    rewrite_summary(run_folder, [row | {"side": side} for row in rows for side in ("base", "head")])
    assert_refused([str(run_folder)], capsys, run_folder, "compare.csv")


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("{", "not JSON"),
        ("[]", "no JSON object"),
        ('{"workloads": [{"text": "?"}]}', "$.workloads[0].text"),
    ],
)
def test_spoilt_description(run_folder: Path, capsys: pytest.CaptureFixture[str], text: str, fragment: str) -> None:
    (run_folder / "run.json").write_text(text, encoding="utf-8")
    assert_refused([str(run_folder)], capsys, run_folder, "run.json", fragment)


def test_output_that_is_a_file(run_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewrite_summary(run_folder, rows_of_chains())
    (run_folder / "taken").write_text("x", encoding="utf-8")
    assert_refused([str(run_folder), "--output", str(run_folder / "taken")], capsys, run_folder, "cannot write")


def test_a_full_disk(run_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", fail)
    assert_refused([str(run_folder)], capsys, run_folder, "No space left", code=1)


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--outptu", "x"], [str(STORED), "--output"]])
def test_bad_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == BadInput.exit_code
    assert "--help" in capsys.readouterr().err


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    assert "examples:" in capsys.readouterr().out


def test_a_ratio_to_a_backend_that_does_not_promise_what_the_shape_is_about_is_not_drawn(run_folder: Path) -> None:
    rows = summary_rows(run_folder)
    for row in rows:
        unlike = row["backend"] == "dispatch" and row["param_toggles"]
        row["sample_flags"] = "noisy;unpromised" if unlike else "noisy"
    rewrite_summary(run_folder, rows)
    drawn_rows = load_run(run_folder).rows
    storms = {"time_ratio" in row.figures for row in drawn_rows if row.slot.cell.value("toggles")}
    others = {"time_ratio" in row.figures for row in drawn_rows if not row.slot.cell.value("toggles")}
    assert storms == {False}
    assert True in others
