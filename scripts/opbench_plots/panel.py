"""Drawing one panel: a measure over an axis, one series a backend."""

import math

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from opbench_plots import style
from opbench_plots.layout import Axis, Panel, Series
from opbench_plots.measures import Measure, Unit
from opbench_plots.style import SeriesStyle

# How much of the room of a category its points take.
SPREAD_OF_CATEGORY = 0.6
# How much of a logarithmic axis the points of one value take.
SPREAD_ON_LOGARITHMIC_AXIS = 0.03
STATUS_LINE_POINTS = 10
# The least that a logarithmic axis spans, so that it always has two labelled ticks.
LEAST_FACTOR = 6

_FORMAT = {
    Unit.NANOSECONDS: style.duration,
    Unit.RATE: style.amount,
    Unit.RATIO: style.ratio,
    Unit.COUNT: style.amount,
    Unit.BYTES: style.amount,
    Unit.SHARE: lambda value: f"{value:.4g} %",
    Unit.NICE: style.amount,
}


def draw_panel(axes: Axes, panel: Panel, extent: list[float], styles: dict[str, SeriesStyle], title: str) -> None:
    """Draws a panel. The lines that hold figures are labelled with the backend's name.

    `extent` holds the values of the same measure in all facets, so that they stand on one scale.
    """
    is_by_backend = panel.axis.label == "backend"
    _set_horizontal_axis(axes, panel.axis)
    _set_vertical_axis(axes, panel.measure, extent)
    for rank, series in enumerate(panel.series):
        # Side by side, so that the bars of one do not hide those of another.
        offset = 0.0 if is_by_backend else (rank - (len(panel.series) - 1) / 2) / len(panel.series)
        _draw_series(axes, panel, series, styles[series.backend], offset)
    lines = _draw_statuses(axes, panel, styles, names_backends=not is_by_backend)
    axes.set_title(title, loc="left", pad=6 + lines * STATUS_LINE_POINTS, fontweight="bold")
    if not panel.has_points:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "no figures", transform=axes.transAxes, ha="center", va="center", color=style.MUTED)


def _draw_series(axes: Axes, panel: Panel, series: Series, look: SeriesStyle, offset: float) -> None:
    axis = panel.axis
    places = [_beside(axis, value, offset) for value in axis.values]
    points = [series.points.get(value) for value in axis.values]
    # A missing figure is a gap in the line.
    heights = [math.nan if point is None else point.value for point in points]
    # Lines join what has an order: numbers, and the classes of one cell.
    joined = axis.is_logarithmic or (panel.measure.by_class and axis.label != "backend")
    axes.plot(
        places,
        heights,
        label=series.backend,
        color=look.colour,
        marker=look.marker,
        markersize=5.5,
        markeredgecolor=look.colour if look.marker == "x" else "white",
        markeredgewidth=1.5 if look.marker == "x" else 0.6,
        linestyle=look.line if joined else "none",
        linewidth=1.2,
        zorder=3,
    )
    bars = [
        (place, point.low, point.high)
        for place, point in zip(places, points, strict=True)
        if point is not None and point.has_bar
    ]
    if bars:
        at, low, high = zip(*bars, strict=True)
        label = f"{series.backend} interval"
        axes.vlines(at, low, high, label=label, color=look.colour, linewidth=1.4, zorder=2)
        for ends in (low, high):
            axes.plot(at, ends, linestyle="none", marker="_", markersize=7, color=look.colour, zorder=2)


def _beside(axis: Axis, value: str, offset: float) -> float:
    """The place of a series at a value of the axis; `offset` goes from -0.5 to 0.5."""
    if not axis.is_logarithmic:
        return axis.position(value) + offset * SPREAD_OF_CATEGORY
    whole = axis.position(axis.values[-1]) / axis.position(axis.values[0])
    return axis.position(value) * whole ** (offset * SPREAD_ON_LOGARITHMIC_AXIS)


def _draw_statuses(axes: Axes, panel: Panel, styles: dict[str, SeriesStyle], names_backends: bool) -> int:
    """Writes a letter for each status other than ok above the panel, one line a backend; returns the lines used."""
    marked = [series for series in panel.series if series.statuses]
    for line, series in enumerate(marked):
        look = {
            "color": styles[series.backend].colour,
            "fontsize": 7.5,
            "va": "bottom",
            "annotation_clip": False,
            "textcoords": "offset points",
        }
        height = 2 + (line * STATUS_LINE_POINTS if names_backends else 0)
        for value, status in series.statuses.items():
            place = (panel.axis.position(value), 1)
            axes.annotate(
                style.status_letter(status),
                place,
                xycoords=("data", "axes fraction"),
                xytext=(0, height),
                ha="center",
                fontweight="bold",
                **look,
            )
        if names_backends:
            axes.annotate(series.backend, (1, 1), xycoords="axes fraction", xytext=(3, height), ha="left", **look)
    if not marked:
        return 0
    return len(marked) if names_backends else 1


def _set_horizontal_axis(axes: Axes, axis: Axis) -> None:
    positions = [axis.position(value) for value in axis.values]
    labels = [style.amount(float(value)) if axis.is_logarithmic else value for value in axis.values]
    if axis.is_logarithmic:
        axes.set_xscale("log")
        margin = (positions[-1] / positions[0]) ** 0.08
        axes.set_xlim(positions[0] / margin, positions[-1] * margin)
        positions, labels = _thinned(positions, labels)
    else:
        axes.set_xlim(-0.5, len(positions) - 0.5)
    axes.xaxis.set_minor_locator(NullLocator())
    # Long labels are slanted so that they do not run into each other.
    is_crowded = sum(len(label) + 2 for label in labels) > 50
    slant = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if is_crowded else {}
    axes.set_xticks(positions, labels, **slant)
    axes.set_xlabel("" if axis.label == "backend" else axis.label)


def _thinned(positions: list[float], labels: list[str]) -> tuple[list[float], list[str]]:
    """Leaves out ticks of a logarithmic axis that stand too close to the one before."""
    if len(positions) < 3:
        return positions, labels
    nearest = math.log(positions[-1] / positions[0]) / 12
    kept = [0]
    for index in range(1, len(positions)):
        if math.log(positions[index] / positions[kept[-1]]) >= nearest:
            kept.append(index)
    return [positions[index] for index in kept], [labels[index] for index in kept]


def _set_vertical_axis(axes: Axes, measure: Measure, values: list[float]) -> None:
    axes.set_ylabel(measure.axis_label)
    if measure.unit is Unit.RATIO:
        axes.axhline(1, color=style.MUTED, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
        values = [*values, 1]
    if not values:
        return
    if measure.unit in (Unit.SHARE, Unit.NICE):
        _set_linear(axes, measure, values)
    elif min(values) > 0 and measure.unit is not Unit.COUNT:
        _set_logarithmic(axes, values)
    else:
        _set_logarithmic_from_zero(axes, values)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _FORMAT[measure.unit](value)))


def _set_linear(axes: Axes, measure: Measure, values: list[float]) -> None:
    low, high = min(0.0, *values), max(1.0, *values)
    margin = (high - low) * 0.06
    axes.set_ylim(low - margin, high + margin)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=measure.unit is Unit.NICE))


def _set_logarithmic(axes: Axes, values: list[float]) -> None:
    low, high = min(values), max(values)
    widening = max(1.15, (high / low) ** 0.06, math.sqrt(LEAST_FACTOR * low / high))
    axes.set_yscale("log")
    axes.set_ylim(low / widening, high * widening)
    decades = math.log10(high / low)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,), numticks=9))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _set_logarithmic_from_zero(axes: Axes, values: list[float]) -> None:
    """Logarithmic with a true zero: linear between zero and the first power of ten."""
    positive = [abs(value) for value in values if value != 0]
    first = 10.0 ** math.floor(math.log10(min(positive))) if positive else 1.0
    last = max(0, math.ceil(math.log10(max(positive) / first) - 1e-9)) if positive else 0
    axes.set_yscale("symlog", linthresh=first)
    axes.set_ylim(min(0, *values) - 0.3 * first, first * 10.0**last * 1.5)
    step = max(1, math.ceil(last / 6))
    axes.yaxis.set_major_locator(FixedLocator([0.0, *(first * 10.0**power for power in range(0, last + 1, step))]))
    axes.yaxis.set_minor_locator(NullLocator())
