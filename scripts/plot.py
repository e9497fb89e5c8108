"""Draws opbench's measurements from its CSV files, for scripts/plot. An example: copy it and change what you need.

The drawing functions take rows as pandas data frames, and return matplotlib figures. `main` reads the files, calls the
functions and writes the pictures.
"""

import argparse
import io
import math
import sys
import textwrap
from pathlib import Path

import matplotlib
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = "1"
WIDTH = 8
# A picture with more cells is too large to view: filter the rows to see the others.
MOST_CELLS, MOST_RATIOS = 60, 300
SETTINGS = {
    "font.size": 9, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": "#dddddd", "legend.frameon": False, "savefig.dpi": 120,
    # Letters as text, dollar signs in names unchanged, and the same file for the same rows.
    "svg.fonttype": "none", "text.parse_math": False, "svg.hashsalt": "opbench",
}  # fmt: skip
# Colours of Okabe and Ito, and a mark that distinguishes them without colour.
LOOKS = {
    "engine": ("#0072B2", "o"), "dispatch": ("#D55E00", "s"), "foundation": ("#009E73", "^"),
    "concurrency": ("#CC79A7", "D"), "serial": ("#000000", "X"),
}  # fmt: skip
OTHER_LOOKS = [("#E69F00", "v"), ("#56B4E9", "P"), ("#999999", "<"), ("#882255", ">"), ("#44AA99", "*"), ("#661100", "p")]
VERDICTS = {
    "pass": "#009E73", "improved": "#0072B2", "regression": "#D55E00", "inconclusive": "#E69F00", "missing": "#000000",
    "met": "#009E73", "missed": "#D55E00", "": "#777777",
}  # fmt: skip
TIMES = {"time_ns_per_op": "time per operation", "time_ratio": "time ÷ that of {ratio_to}"}
MEMORY = {
    "allocated_bytes_per_op": "allocated per operation", "retained_bytes_per_pending_op": "held by a pending operation",
    "peak_resident_bytes": "peak memory in use",
}  # fmt: skip
LATENCIES = {
    "start_latency_p50_ns": "ready to start, median", "start_latency_p99_ns": "ready to start, 99th percentile",
    "intended_latency_p50_ns": "planned arrival to end, median", "intended_latency_p99_ns": "planned arrival to end, 99th percentile",
}  # fmt: skip
# The latencies whose histograms are drawn: the first of these stages that a workload has.
STAGES = {"intended": "planned arrival to end", "start": "ready to start", "service": "submitted to end", "end": "ready to end"}


class BadInput(Exception):
    """A file or a run is not usable; the message includes the remedy."""


# Reading


def read(path: Path, needed: list[str], only: list[str] | None = None, may_be_empty: bool = False) -> pandas.DataFrame:
    """The rows of a file as strings; an absent figure is an empty string."""
    try:
        is_whole = path.read_bytes().endswith(b"\n")
        rows = pandas.read_csv(path, dtype=str, keep_default_na=False, usecols=only and (lambda name: name in only))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not a CSV file of opbench: {error}") from error
    if missing := [name for name in needed if name not in rows]:
        raise BadInput(f"{path}: no column {missing[0]}; give a summary.csv, a compare.csv, or the folder of a run")
    if rows.empty and not may_be_empty:
        raise BadInput(f"{path}: no rows; `opbench run --resume` continues an interrupted run")
    if not is_whole:
        raise BadInput(f"{path}: the last line is incomplete; `opbench run --resume` repairs its run")
    if other := set(rows.get("schema_version", [])) - {SCHEMA}:
        raise BadInput(f"{path}: schema_version {min(other)}, not {SCHEMA}: use the scripts of the opbench that wrote it")
    return rows


def numbers(rows: pandas.DataFrame, names: list[str], path: Path) -> None:
    """Converts these columns to numbers, absent figures to NaN, which is a gap in every picture."""
    for name in names:
        try:
            rows[name] = pandas.to_numeric(rows[name].mask(rows[name] == "")) if name in rows else math.nan
        except ValueError as error:
            raise BadInput(f"{path}: {name}: {error}; `opbench show --format csv RUN` prints a new file") from error


def read_summary(path: Path) -> pandas.DataFrame:
    """A row for each cell and backend, and `series`: the backend, with its side in a run of two builds."""
    rows = read(path, ["schema_version", "run_id", "workload", "cell_id", "backend", "operation_class", "status", "time_ns_per_op"])
    rows = rows[rows["operation_class"] == ""].copy()
    numbers(rows, [name + end for name in [*TIMES, *LATENCIES, *MEMORY] for end in ("", "_ci_low", "_ci_high")], path)
    # What was not to be measured is no gap.
    rows = rows[~rows["status"].isin(["skipped", "unsupported"])].copy()
    rows["series"] = (rows["backend"] + " " + rows.get("side", "")).str.strip()
    rows["mark"] = rows["status"].where(rows["status"] != "ok", "")
    if rows.empty:
        raise BadInput(f"{path}: no row of a whole cell, with an empty operation_class; `opbench show --format csv RUN` prints them")
    if rows.duplicated(["cell_id", "series"]).any():
        raise BadInput(f"{path}: a backend has two rows for one cell; `opbench show --format csv RUN` prints a new file")
    return rows


def mark_failures(rows: pandas.DataFrame, path: Path) -> None:
    """Annotates each row with its failed samples, from samples.csv."""
    columns = ["schema_version", "cell_id", "backend", "side", "metric", "status"]
    samples = read(path, columns, columns)
    ended = samples[(samples["metric"] == "status") & ~samples["status"].isin(["ok", "skipped", "unsupported"])]
    for (cell, backend, side), failed in ended.groupby(["cell_id", "backend", "side"])["status"]:
        words = ", ".join(f"{count} {status}" for status, count in failed.value_counts().items())
        rows.loc[(rows["cell_id"] == cell) & (rows["series"] == f"{backend} {side}".strip()), "mark"] = words


def read_histograms(path: Path) -> pandas.DataFrame:
    """The numbers of operations by latency: a row for each bucket of a cell, backend and stage, over all samples."""
    whose = ["schema_version", "workload", "cell_id", "backend", "side", "stage", "operation_class"]
    rows = read(path, [*whose, "upper_bounds_ns", "counts"], may_be_empty=True)
    rows = rows[(rows["operation_class"] == "") & rows["stage"].isin(STAGES)].copy()
    rows["series"] = (rows["backend"] + " " + rows["side"]).str.strip()
    for name in ("upper_bounds_ns", "counts"):
        rows[name] = rows[name].str.split()
    try:
        rows = rows.explode(["upper_bounds_ns", "counts"])
    except ValueError as error:
        raise BadInput(f"{path}: a histogram has different numbers of counts and bounds; measure the run again") from error
    numbers(rows, ["upper_bounds_ns", "counts"], path)
    return rows.groupby(["workload", "cell_id", "series", "stage", "upper_bounds_ns"], sort=False, as_index=False)["counts"].sum()


# Drawing


def labels(rows: pandas.DataFrame) -> tuple[str, dict[str, str]]:
    """The common part of the cells' ids, and each cell's name by the parameters in which the cells differ, as in opbench's tables."""
    words = {cell: cell.split(" ") for cell in dict.fromkeys(rows["cell_id"])}
    common = [word for word in next(iter(words.values())) if all(word in other for other in words.values())]
    varied = sorted(name for name in rows if name.startswith("param_") and name != "param_seed" and rows[name].nunique() > 1)
    cells = rows.drop_duplicates("cell_id").set_index("cell_id")
    names = {cell: ", ".join(f"{name.removeprefix('param_')}={cells.at[cell, name]}" for name in varied) for cell in words}
    if len(set(names.values())) < len(words):
        names = {cell: " ".join(word for word in own if word not in common) for cell, own in words.items()}
    return " ".join(common), names


def merged(rows: pandas.DataFrame) -> pandas.DataFrame:
    """The rows with forms of a backend as one series, such as dispatch and dispatch:notify, if no cell has two of them."""
    families = rows["series"].str.replace(r":\S+", "", regex=True)
    forms = rows["series"].groupby([rows["cell_id"], families]).transform("nunique")
    return rows.assign(series=families.where(forms.groupby(families).transform("max") == 1, rows["series"]))


def looks(rows: pandas.DataFrame) -> dict[str, tuple[str, str]]:
    """The colour and the mark of each series."""
    series = list(dict.fromkeys([*rows["series"], *merged(rows)["series"]]))
    others = [name for name in series if name not in LOOKS]
    return {name: LOOKS.get(name) or OTHER_LOOKS[others.index(name) % len(OTHER_LOOKS)] for name in series}


def unit_of(name: str) -> EngFormatter | FuncFormatter:
    """The format of a column's figures on an axis."""
    if "bytes" in name:
        return EngFormatter("B", sep=" ")
    seconds = EngFormatter("s", sep=" ")
    return FuncFormatter((lambda value, _: f"{value:.3g}×") if "ratio" in name else (lambda value, _: seconds(value / 1e9)))


def scale(axes: Axes, side: str, values: pandas.Series, unit: EngFormatter | FuncFormatter, is_log: bool | None = None) -> None:
    """Scales an axis from 0, or logarithmically if the figures differ thirtyfold."""
    axis = getattr(axes, side + "axis")
    if values.min() > 0 and (values.max() > 30 * values.min() if is_log is None else is_log):
        axes.set(**{side + "scale": "log"})
        spread = values.max() / values.min()
        axis.set_major_locator(MaxNLocator(6) if spread < 5 else LogLocator(subs=(1, 2, 5) if spread < 50 else (1,)))
        axis.set_minor_formatter(NullFormatter())
    elif values.notna().any():
        axes.set(**{side + "lim": (0, values.max() * 1.08 or 1)})
        axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(unit)


def add_legend(figure: Figure) -> None:
    """Adds a legend below the panels, with each name once."""
    names = {name: line for axes in figure.axes for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(names.values(), names.keys(), loc="outside lower center", ncols=max(2, int(figure.get_figwidth() / 1.7)))


def draw_cells(rows: pandas.DataFrame, names: dict[str, str], series: dict[str, tuple[str, str]], title: str) -> Figure:
    """A panel for each figure in `names`, with a line for each cell, and a mark with its interval for each backend."""
    common, named = labels(rows)
    rows = merged(rows)
    cells, backends = list(dict.fromkeys(rows["cell_id"])), list(dict.fromkeys(rows["series"]))
    most = rows["cell_id"].value_counts().max()
    # A cell's backends are next to each other, whichever it has.
    place = rows.groupby("cell_id", sort=False).cumcount()
    count = rows.groupby("cell_id")["cell_id"].transform("size")
    rows = rows.assign(height=rows["cell_id"].map(cells.index) + (place - (count - 1) / 2) * 0.8 / most)
    names = {name: text for name, text in names.items() if rows[name].notna().any()} or dict(list(names.items())[:1])
    figure = Figure((WIDTH, 1.4 + len(cells) * (0.16 + 0.15 * most)), layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, (name, text) in zip(panels, names.items(), strict=True):
        for backend in backends:
            colour, mark = series[backend]
            own = rows[rows["series"] == backend]
            if "ratio" in name and (own[name].dropna() == 1).all():
                continue  # The reference is the line at 1.
            heights = own["height"]
            is_noisy = own["sample_flags"].str.contains("noisy", na=False) if "sample_flags" in own else own[name].isna()
            axes.hlines(heights, own[name + "_ci_low"], own[name + "_ci_high"], color=colour)
            axes.plot(own[name], heights, mark, color=colour, label=backend)
            axes.plot(own[name].where(is_noisy), heights, mark, color="white", markeredgecolor=colour)
            for height, words in zip(heights, own["mark"].fillna(""), strict=True):
                axes.annotate(words, (0.01, height), xycoords=axes.get_yaxis_transform(), va="center", fontsize=6, color=colour)
        ends = pandas.concat([rows[name + end] for end in ("", "_ci_low", "_ci_high")])
        scale(axes, "x", ends, unit_of(name), is_log=True if "ratio" in name else None)
        if "ratio" in name:
            axes.axvline(1, color="black", linewidth=0.8)
        axes.set_xlabel(text.format(ratio_to=" or ".join(filter(None, dict.fromkeys(rows.get("ratio_to", []))))))
    panels[0].set_yticks(range(len(cells)), [textwrap.fill(named[cell], 30) for cell in cells])
    panels[0].set_ylim(len(cells) - 0.5, -0.5)
    figure.suptitle(textwrap.fill(f"{common}, {title}", 100))
    add_legend(figure)
    return figure


def draw_percentiles(
    rows: pandas.DataFrame, cells: dict[str, str], series: dict[str, tuple[str, str]], title: str
) -> Figure:
    """A panel for each cell: the latency by percentile, with equal width for each further nine, as far as there are operations."""
    stage = next(stage for stage in STAGES if stage in set(rows["stage"]))
    rows = merged(rows[rows["stage"] == stage])
    cells = {cell: name for cell, name in cells.items() if (rows["cell_id"] == cell).any()}
    columns = min(2, len(cells))
    lines = math.ceil(len(cells) / columns)
    figure = Figure((WIDTH, 1 + 2.6 * lines), layout="constrained")
    for place, cell in enumerate(cells, 1):
        axes = figure.add_subplot(lines, columns, place)
        own, most = rows[rows["cell_id"] == cell], 0.0
        for backend, buckets in own.groupby("series", sort=False):
            buckets = buckets.sort_values("upper_bounds_ns")
            # With n operations, the greatest latency is the estimate for the percentile n / (n + 1).
            share = buckets["counts"].cumsum() / (buckets["counts"].sum() + 1)
            nines = [-math.log10(1 - part) for part in share]
            bounds = list(buckets["upper_bounds_ns"])
            axes.step([0, *nines], [bounds[0], *bounds], color=series[backend][0], label=backend)
            most = max(most, nines[-1])
        ticks = {0: "0", -math.log10(0.5): "50"} | {n: f"{100 - 100 / 10**n:.{max(0, n - 2)}f}" for n in range(1, int(most) + 1)}
        axes.set_xticks(list(ticks), list(ticks.values()))
        axes.set(title=textwrap.fill(cells[cell], 36), xlabel="percentile", xlim=(0, most))
        scale(axes, "y", own["upper_bounds_ns"], unit_of("ns"))
    figure.suptitle(textwrap.fill(f"{title}: {STAGES[stage]}", 100))
    add_legend(figure)
    return figure


def sweeps(rows: pandas.DataFrame) -> list[tuple[str, str, pandas.DataFrame]]:
    """Each workload and parameter for which some cells differ only in its value, with at least three values, and their rows:
    `x` is the value, `line` the common part."""
    found = []
    for workload, own in rows.groupby("workload", sort=False):
        varied = [name for name in own if name.startswith("param_") and name != "param_seed" and own[name].nunique() > 1]
        for name in varied:
            own = own.assign(x=pandas.to_numeric(own[name], errors="coerce"))
            own["line"] = own[["series", *(other for other in varied if other != name)]].agg(" ".join, axis=1)
            swept = own[own.groupby("line")["x"].transform("nunique") >= 3].dropna(subset="x")
            if swept["time_ns_per_op"].notna().any():
                found.append((workload, name.removeprefix("param_"), swept.sort_values("x")))
    return found


def draw_sweeps(found: list[tuple[str, str, pandas.DataFrame]], series: dict[str, tuple[str, str]], title: str) -> Figure:
    """A panel for each workload and parameter: the time per operation by its value, both logarithmic."""
    columns = min(3, len(found))
    lines = math.ceil(len(found) / columns)
    figure = Figure((max(5, 3.3 * columns), 1 + 2.7 * lines), layout="constrained")
    for place, (workload, parameter, rows) in enumerate(found, 1):
        axes = figure.add_subplot(lines, columns, place)
        places = sorted(set(rows["x"]))
        for _, line in rows.groupby("line", sort=False):
            backend = line["series"].iloc[0]
            colour, mark = series[backend]
            # Missing measurements are gaps in the line.
            own = line.drop_duplicates("x").set_index("x").reindex(places)
            axes.plot(places, own["time_ns_per_op"], mark + "-", color=colour, markersize=4, label=backend)
            axes.vlines(places, own["time_ns_per_op_ci_low"], own["time_ns_per_op_ci_high"], color=colour)
        axes.set(title=workload, xlabel=parameter, ylabel=TIMES["time_ns_per_op"])
        scale(axes, "x", pandas.Series(places), EngFormatter(sep=""), is_log=True)
        axes.set_xticks(places, [EngFormatter(sep="")(place) for place in places], minor=False)
        scale(axes, "y", rows["time_ns_per_op"], unit_of("ns"), is_log=True)
    figure.suptitle(title)
    add_legend(figure)
    return figure


def draw_comparison(path: Path) -> Figure:
    """Head ÷ base of the judged figures, or of times if there are none, with intervals, in the verdicts' colours."""
    what = ["cell_id", "backend", "phase", "operation_class", "metric", "stat", "against"]
    rows = read(path, ["schema_version", *what, "head_value", "ratio", "ci_low", "ci_high", "verdict"])
    judged = rows["verdict"] != ""
    rows = rows[judged if judged.any() else rows["metric"] == "time"].copy()
    word = "÷" if "at_most" in rows and (rows["at_most"] != "").any() else "since"
    rows["against"] = rows["against"].map(lambda name: name and f"{word} {name}")
    numbers(rows, ["ratio", "ci_low", "ci_high"], path)
    # A goal without a reference has the interval of the figure.
    rows.loc[rows["ratio"].isna(), ["ci_low", "ci_high"]] = float("nan")
    if len(rows) > MOST_RATIOS:
        note(f"{path}: the first {MOST_RATIOS} of {len(rows)} figures")
        rows = rows[:MOST_RATIOS]
    figure = Figure((WIDTH, 1.2 + 0.2 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for verdict, own in rows.assign(height=range(len(rows))).groupby("verdict", sort=False):
        colour = VERDICTS.get(verdict, VERDICTS[""])
        axes.hlines(own["height"], own["ci_low"], own["ci_high"], color=colour)
        axes.plot(own["ratio"], own["height"], "o", color=colour, label=verdict or "not judged")
        for height in own["height"][own["ratio"].isna()]:
            axes.annotate("no ratio", (0.01, height), xycoords=axes.get_yaxis_transform(), va="center", fontsize=6, color=colour)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(rows)), rows[what].agg(lambda row: " ".join(filter(None, row)), axis=1))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    scale(axes, "x", pandas.concat([rows["ratio"], rows["ci_low"], rows["ci_high"]]), unit_of("ratio"), is_log=True)
    axes.set_xlabel("head ÷ base, with its 95 % interval")
    add_legend(figure)
    return figure


# The command


def note(text: str) -> None:
    print(f"plot: note: {text}", file=sys.stderr)


def fail(message: str, code: int = 64) -> None:
    print(f"plot: {message}", file=sys.stderr)
    sys.exit(code)


def find(name: str) -> Path:
    """A folder or a file, or a run of this id."""
    for place in (Path(name), *(folder / name for folder in (Path("results"), ROOT / "results", ROOT / "results/baseline"))):
        if place.exists():
            return place
    raise BadInput(f"{name}: no such run or file; `opbench runs` lists the runs")


def draw(place: Path) -> dict[str, Figure]:
    """The pictures of a run's folder, of a summary or of a comparison, by their names."""
    if place.is_file() and "head_value" in read(place, []):
        return {place.stem: draw_comparison(place)}
    summary = place if place.is_file() else place / "summary.csv"
    rows = read_summary(summary)
    samples, histograms, comparison = (summary.parent / name for name in ("samples.csv", "histograms.csv", "compare.csv"))
    latencies = pandas.DataFrame(columns=["workload", "cell_id"])
    if place.is_dir():
        if samples.exists():
            mark_failures(rows, samples)
        else:
            note(f"no {samples}: failed samples are not marked")
        if histograms.exists():
            latencies = read_histograms(histograms)
        else:
            note(f"no {histograms}: no percentiles")
    run, series, figures = rows["run_id"].iloc[0], looks(rows), {}
    if found := sweeps(rows):
        figures["sweep"] = draw_sweeps(found, series, f"run {run}")
    for workload, own in rows.groupby("workload", sort=False):
        cells = list(dict.fromkeys(own["cell_id"]))
        if len(cells) > MOST_CELLS:
            note(f"{workload}: the first {MOST_CELLS} of {len(cells)} cells")
            own = own[own["cell_id"].isin(cells[:MOST_CELLS])]
        title = f"run {run}"
        for kind, names in (("time", TIMES), ("latency", LATENCIES), ("memory", MEMORY)):
            # Cells without figures are drawn once, to show why.
            if own[list(names)].notna().any(axis=None) or (kind == "time" and (own["mark"] != "").all()):
                figures[f"{kind}-{workload}"] = draw_cells(own, names, series, title)
        buckets = latencies[latencies["workload"] == workload]
        if timed := [cell for cell in cells if (buckets["cell_id"] == cell).any()]:
            drawn = buckets[buckets["cell_id"].isin(timed[:MOST_CELLS])]
            common, words = labels(own)
            named = {cell: words[cell] for cell in timed[:MOST_CELLS]}
            figures[f"percentiles-{workload}"] = draw_percentiles(drawn, named, series, f"{common}, {title}")
    if place.is_dir() and comparison.exists():
        figures["compare"] = draw_comparison(comparison)
    return figures


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="plot", add_help=False, allow_abbrev=False)
    parser.error = lambda message: fail(f"{message}; see scripts/plot --help")
    parser.add_argument("run")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args(arguments)
    matplotlib.rcParams.update(SETTINGS)
    try:
        place = find(options.run)
        files = {}
        # All pictures are made before the first is written.
        for name, figure in draw(place).items():
            for kind, metadata in (("svg", {"Date": None}), ("png", None)):
                files[f"{name}.{kind}"] = picture = io.BytesIO()
                figure.savefig(picture, format=kind, metadata=metadata)
    except BadInput as error:
        fail(str(error))
    output = options.output or (place.parent if place.is_file() else place) / "plots"
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name, picture in files.items():
            (output / name).write_bytes(picture.getvalue())
            print(output / name)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}", 1)


if __name__ == "__main__":
    main(sys.argv[1:])
