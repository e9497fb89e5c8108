"""The figure of a history: what `opbench history trend --format csv` prints, figures over runs."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from opbench_plots import style
from opbench_plots.errors import BadInput
from opbench_plots.figure import legend_entry
from opbench_plots.layout import BACKEND_ORDER, FEWEST_OF_A_LINE
from opbench_plots.sheet import DrawnPanel, Sheet, draw_pages, draw_sheet
from opbench_plots.style import SeriesStyle
from opbench_plots.tables import Table, figure_words, read_table

COLUMNS = (
    "host_class", "allocator", "configuration", "cell_id", "backend", "side", "metric", "phase", "operation_class", "stat",
    "unit", "direction", "started_utc", "run_id", "value", "ci_low", "ci_high", "change",
)  # fmt: skip
PANELS_A_PAGE = 8
# From this factor between the least and the greatest on, a scale is logarithmic.
WIDE = 20
_WRITE = {"ns": style.duration, "B": style.memory, "1": style.ratio}


class Place(NamedTuple):
    """What one panel is about; it has a curve for each backend."""

    host: str
    cell_id: str
    figure: str
    unit: str
    direction: str


class Point(NamedTuple):
    started: str
    run_id: str
    value: float
    low: float
    high: float
    # From here on, the mean ÷ the mean before; NaN where the series did not change.
    change: float


def history_figures(path: Path) -> dict[str, Figure]:
    """The pages of a file of trends."""
    table = read_table(path, COLUMNS)
    panels = _panels(table)
    if not panels:
        raise BadInput(f"{path}: no figures")
    backends = sorted({backend for series in panels.values() for backend in series}, key=_backend_key)
    styles = style.series_styles(backends)
    hosts = list(dict.fromkeys(place.host for place in panels))
    return draw_pages(
        "history", list(panels), PANELS_A_PAGE, lambda numbering, part: _page(path, numbering, part, panels, styles, hosts)
    )


def _panels(table: Table) -> dict[Place, dict[str, list[Point]]]:
    figures = [table.numbers(name) for name in ("value", "ci_low", "ci_high", "change")]
    panels: dict[Place, dict[str, list[Point]]] = {}
    for index, row in enumerate(table.rows):
        value, low, high, change = (float(values[index]) for values in figures)
        if math.isnan(value):
            continue
        host = " · ".join(row[name] for name in ("host_class", "allocator", "configuration") if row[name])
        place = Place(host, row["cell_id"], figure_words(row), row["unit"], row["direction"])
        backend = f"{row['backend']} {row['side']}".rstrip()
        series = panels.setdefault(place, {}).setdefault(backend, [])
        series.append(Point(row["started_utc"], row["run_id"], value, low, high, change))
    for curves in panels.values():
        for points in curves.values():
            points.sort()
    return panels


def _page(
    path: Path, numbering: str, places: Sequence[Place], panels: dict[Place, dict[str, list[Point]]],
    styles: dict[str, SeriesStyle], hosts: Sequence[str],
) -> Figure:  # fmt: skip
    def panel(place: Place) -> DrawnPanel:
        title = f"{place.figure}: {place.cell_id}" + (f" ({place.host})" if len(hosts) > 1 else "")
        return DrawnPanel(title, lambda axes: _draw(axes, place, panels[place], styles))

    has_changes = any(not math.isnan(point.change) for place in places for points in panels[place].values() for point in points)
    footer = ["One point a run, in the order of time. Vertical lines at points: 95 % intervals over the samples of the run."]
    if has_changes:
        footer.append("Dashed lines with a figure: a change point, and the mean from there on against the mean before.")
    return draw_sheet(
        Sheet(
            title=f"Figures over runs{numbering}",
            under_title=[str(path), *hosts[:1]] if len(hosts) == 1 else [str(path)],
            panels=[panel(place) for place in places],
            columns=min(2, len(panels)),
            width=10.0 if len(panels) > 1 else 7.0,
            legend=[legend_entry(backend, look) for backend, look in styles.items()],
            footer=footer,
        )
    )


def _draw(axes: Axes, place: Place, curves: dict[str, list[Point]], styles: dict[str, SeriesStyle]) -> None:
    runs = sorted({(point.started, point.run_id) for points in curves.values() for point in points})
    number = {run: rank for rank, run in enumerate(runs)}
    write = _WRITE.get(place.unit, style.amount)
    # Two runs are no trend: bars with their figures.
    has_bars = len(runs) < FEWEST_OF_A_LINE
    width = 0.7 / len(curves) if has_bars else 0.05
    for rank, (backend, points) in enumerate(sorted(curves.items(), key=lambda entry: _backend_key(entry[0]))):
        look = styles[backend]
        at = [number[point.started, point.run_id] + width * (rank - (len(curves) - 1) / 2) for point in points]
        if has_bars:
            axes.bar(at, [point.value for point in points], width * 0.9, label=backend, color=look.colour, zorder=2)
            for place_of_bar, point in zip(at, points, strict=True):
                has_interval = not (math.isnan(point.low) or math.isnan(point.high))
                if has_interval:
                    axes.vlines(place_of_bar, point.low, point.high, color=style.DARK, linewidth=1.4, zorder=3)
                axes.annotate(
                    style.short(write, point.value), (place_of_bar, max(point.value, point.high if has_interval else 0)),
                    xytext=(0, 3), textcoords="offset points", ha="center", va="bottom", fontsize=7.5, color=style.DARK,
                )  # fmt: skip
            continue
        axes.plot(
            at, [point.value for point in points], label=backend, color=look.colour, marker=look.marker, markersize=4.5,
            linewidth=1.2, linestyle=look.line if len(points) >= FEWEST_OF_A_LINE else "none", zorder=3,
        )  # fmt: skip
        for place_of_point, point in zip(at, points, strict=True):
            if not (math.isnan(point.low) or math.isnan(point.high)):
                axes.vlines(place_of_point, point.low, point.high, color=look.colour, linewidth=1.1, alpha=0.7, zorder=2)
            if not math.isnan(point.change):
                _mark_change(axes, place, place_of_point, point, look)
    _set_axes(axes, place, curves, [started for started, _ in runs], write)


def _mark_change(axes: Axes, place: Place, at: float, point: Point, look: SeriesStyle) -> None:
    axes.axvline(at - 0.5, color=look.colour, linewidth=1, linestyle=(0, (4, 2)), zorder=1)
    percent = (point.change - 1) * 100
    sign = "+" if percent > 0 else "−"
    is_worse = percent > 0 if place.direction == "lower" else percent < 0
    axes.annotate(
        f"{sign}{abs(percent):.3g} %", (at - 0.5, 1), xycoords=("data", "axes fraction"), xytext=(3, -9),
        textcoords="offset points", fontsize=7.5, color=look.colour, fontweight="bold" if is_worse else "normal",
    )  # fmt: skip


def _set_axes(axes: Axes, place: Place, curves: dict[str, list[Point]], starts: Sequence[str], write) -> None:
    every = [end for points in curves.values() for point in points for end in (point.value, point.low, point.high)]
    values = [value for value in every if not math.isnan(value)]
    low, high = min(values), max(values)
    if low > 0 and high / low > WIDE and len(starts) >= FEWEST_OF_A_LINE:
        axes.set_yscale("log")
        margin = (high / low) ** 0.1
        axes.set_ylim(low / margin, high * margin)
        axes.yaxis.set_major_locator(LogLocator(numticks=7))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        # From 0, so that a step looks as large as it is.
        axes.set_ylim(min(0.0, low * 1.1), (high * 1.18) or 1.0)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))
    axes.set_ylabel({"lower": "lower is better", "higher": "higher is better"}.get(place.direction, ""))
    axes.set_xlim(-0.6, len(starts) - 0.4)
    step = max(1, math.ceil(len(starts) / 6))
    ticks = range(0, len(starts), step)
    # The day, and where several runs are of one the time of day as well.
    is_of_days = len({start[:10] for start in starts}) == len(starts)
    axes.set_xticks(list(ticks), [starts[tick][:10] if is_of_days else starts[tick][5:16].replace("T", " ") for tick in ticks])
    axes.tick_params(axis="x", labelrotation=20)


def _backend_key(backend: str) -> tuple[int, str]:
    family = backend.partition(" ")[0].partition(":")[0]
    return (BACKEND_ORDER.index(family) if family in BACKEND_ORDER else len(BACKEND_ORDER), backend)
