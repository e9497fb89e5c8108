"""Draws how the cost of an operation grows: a panel a parameter, a curve a backend."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from opbench_goals.growth import Axis, Point
from opbench_plots import style

SETTINGS = style.SETTINGS | {"svg.fonttype": "none"}
"""Letters as text, not as outlines: a third of the size."""


def draw(points: Sequence[Point], axes: Sequence[Axis], title: str, path: Path) -> None:
    """Writes the curves as an SVG, the same for the same points."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        figure = Figure(figsize=(9, 6.2), layout="constrained")
        figure.suptitle(title, fontsize=10)
        panels = list(figure.subplots(2, 3).flat)
        styles = style.series_styles(list(dict.fromkeys(point.backend for point in points)))
        for axis, panel in zip(axes, panels, strict=False):
            _draw_panel(panel, axis, [point for point in points if point.workload == axis.workload], styles)
        for panel in panels[len(axes) :]:
            panel.set_axis_off()
        handles, labels = [], []
        for panel in panels[: len(axes)]:
            for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
                if label not in labels:
                    handles.append(handle)
                    labels.append(label)
        panels[-1].legend(handles, labels, loc="center", frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})


def _draw_panel(panel: Axes, axis: Axis, points: Sequence[Point], styles: dict[str, style.SeriesStyle]) -> None:
    panel.set_title(axis.title)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel(axis.parameter)
    panel.set_ylabel("time of one operation")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(lambda value, _: style.duration(value))
    for backend in dict.fromkeys(point.backend for point in points):
        own = [point for point in points if point.backend == backend]
        values = [point.time.value for point in own]
        below = [max(0, point.time.value - point.time.low) if point.time.has_bar else 0 for point in own]
        above = [max(0, point.time.high - point.time.value) if point.time.has_bar else 0 for point in own]
        how = styles[backend]
        panel.errorbar(
            [point.x for point in own], values, yerr=[below, above], color=how.colour, marker=how.marker,
            linestyle=how.line, markersize=4, linewidth=1.2, capsize=2, label=backend,
        )  # fmt: skip
    xs = sorted({point.x for point in points})
    panel.set_xticks(xs, [style.amount(x) for x in xs])
    panel.minorticks_off()
