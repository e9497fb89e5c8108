"""Drawing one panel: a measure over an axis, one series a backend: lines where three numbers or classes at least stand in an
order, else bars with their figures."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from opbench_plots import style
from opbench_plots.layout import FEWEST_OF_A_LINE, Axis, Panel, Series
from opbench_plots.measures import Interval, Measure, Unit
from opbench_plots.style import SeriesStyle

# How much of the room of a category its points take, and its bars.
SPREAD_OF_CATEGORY = 0.6
WIDTH_OF_BARS = 0.84
# How much of a logarithmic axis the points of one value take.
SPREAD_ON_LOGARITHMIC_AXIS = 0.03
STATUS_LINE_POINTS = 10
# The least that a logarithmic axis spans, so that it always has two labelled ticks.
LEAST_FACTOR = 6
# Where the figures at all bars would take more letters than this in an inch of the panel, they stand upright.
MOST_FLAT_LETTERS_AN_INCH = 11.4

_FORMAT = {
    Unit.NANOSECONDS: style.duration,
    Unit.RATE: style.amount,
    Unit.RATIO: style.ratio,
    Unit.COUNT: style.amount,
    Unit.NUMBER: style.amount,
    Unit.BYTES: style.memory,
    Unit.SHARE: lambda value: f"{value:.4g} %",
    Unit.NICE: style.amount,
}


def draw_panel(axes: Axes, panel: Panel, extent: list[float], styles: dict[str, SeriesStyle], title: str) -> None:
    """Draws a panel. The lines or bars that hold figures are labelled with the backend's name.

    `extent` holds the values of the same measure in all facets, so that they stand on one scale.
    """
    is_by_backend = panel.axis.label == "backend"
    _set_horizontal_axis(axes, panel.axis)
    if panel.has_lines:
        _set_vertical_axis(axes, panel.measure, extent)
        for rank, series in enumerate(panel.series):
            # Side by side, so that the intervals of one do not hide those of another.
            offset = (rank - (len(panel.series) - 1) / 2) / len(panel.series)
            _draw_line(axes, panel, series, styles[series.backend], offset)
    else:
        _draw_bars(axes, panel, extent, styles, is_by_backend)
    lines = _draw_statuses(axes, panel, styles, names_backends=not is_by_backend)
    axes.set_title(title, loc="left", pad=6 + lines * STATUS_LINE_POINTS, fontweight="bold")
    if not panel.has_points:
        axes.set_yticks([])
        axes.text(0.5, 0.5, "no figures", transform=axes.transAxes, ha="center", va="center", color=style.MUTED)


# Lines


def _draw_line(axes: Axes, panel: Panel, series: Series, look: SeriesStyle, offset: float) -> None:
    axis = panel.axis
    places = [_beside(axis, value, offset) for value in axis.values]
    points = [series.points.get(value) for value in axis.values]
    # A missing figure is a gap in the line.
    heights = [math.nan if point is None else point.value for point in points]
    axes.plot(
        places,
        heights,
        label=series.backend,
        color=look.colour,
        marker=look.marker,
        markersize=5.5,
        markeredgecolor=look.colour if look.marker == "x" else "white",
        markeredgewidth=1.5 if look.marker == "x" else 0.6,
        linestyle=look.line if len(series.points) >= FEWEST_OF_A_LINE else "none",
        linewidth=1.2,
        zorder=3,
    )
    noisy = [(place, height) for place, height, value in zip(places, heights, axis.values, strict=True) if value in series.noisy]
    if noisy:
        hollow = {"markerfacecolor": "white", "markeredgecolor": look.colour, "markeredgewidth": 1.2}
        marker = "o" if look.marker == "x" else look.marker
        axes.plot(*zip(*noisy, strict=True), linestyle="none", marker=marker, markersize=6, zorder=4, **hollow)
    _draw_intervals(axes, series.backend, list(zip(places, points, strict=True)), look.colour)


def _draw_intervals(
    axes: Axes, backend: str, points: Sequence[tuple[float, Interval | None]], colour: str, zorder: float = 2
) -> None:
    bars = [(place, point.low, point.high) for place, point in points if point is not None and point.has_bar]
    if not bars:
        return
    at, low, high = zip(*bars, strict=True)
    axes.vlines(at, low, high, label=f"{backend} interval", color=colour, linewidth=1.4, zorder=zorder)
    for ends in (low, high):
        axes.plot(at, ends, linestyle="none", marker="_", markersize=7, color=colour, zorder=zorder)


def _beside(axis: Axis, value: str, offset: float) -> float:
    """The place of a series at a value of the axis; `offset` goes from -0.5 to 0.5."""
    if not axis.is_logarithmic:
        return axis.position(value) + offset * SPREAD_OF_CATEGORY
    whole = axis.position(axis.values[-1]) / axis.position(axis.values[0])
    return axis.position(value) * whole ** (offset * SPREAD_ON_LOGARITHMIC_AXIS)


# Bars


def _draw_bars(
    axes: Axes, panel: Panel, extent: list[float], styles: dict[str, SeriesStyle], is_by_backend: bool
) -> None:
    """Bars from 0, or of ratios from 1 on a logarithmic axis: the length is the figure."""
    is_ratio = panel.measure.unit is Unit.RATIO
    # A backend without any figure takes no room.
    shown = [series for series in panel.series if series.points]
    width = WIDTH_OF_BARS / (1 if is_by_backend else max(1, len(shown)))
    labels = [_label(panel.measure, point) for series in shown for point in series.points.values()]
    slots = len(panel.axis.values) * (1 if is_by_backend else len(shown))
    inches = axes.get_figure(root=True).get_figwidth() / axes.get_subplotspec().get_gridspec().ncols
    upright = slots * max(map(len, labels), default=0) > inches * MOST_FLAT_LETTERS_AN_INCH
    _set_axis_of_bars(axes, panel.measure, extent, upright)
    for rank, series in enumerate(shown):
        look = styles[series.backend]
        offset = 0.0 if is_by_backend else (rank - (len(shown) - 1) / 2) * width
        places = [(panel.axis.position(value) + offset, value) for value in panel.axis.values if value in series.points]
        points = [(place, series.points[value]) for place, value in places]
        base = 1.0 if is_ratio else 0.0
        bars = axes.bar(
            [place for place, _ in points],
            [point.value - base for _, point in points],
            width * 0.92,
            base,
            label=series.backend,
            color=look.colour,
            edgecolor="white",
            linewidth=0.5,
            zorder=2,
        )
        for bar, (_, value) in zip(bars, places, strict=True):
            if value in series.noisy:
                bar.set(facecolor="white", edgecolor=look.colour, hatch="////", linewidth=1.0)
        _draw_intervals(axes, series.backend, points, style.DARK, zorder=3)
        for place, point in points:
            _write_figure(axes, panel.measure, place, point, base, upright)


def _write_figure(axes: Axes, measure: Measure, place: float, point: Interval, base: float, upright: bool) -> None:
    """The figure at the end of its bar, beyond its interval."""
    is_down = point.value < base
    ends = [end for end in point if end is not None]
    axes.annotate(
        _label(measure, point),
        (place, min(ends) if is_down else max(ends)),
        xytext=(0, -3 if is_down else 3),
        textcoords="offset points",
        ha="center",
        va="top" if is_down else "bottom",
        rotation=90 if upright else 0,
        fontsize=6.5 if upright else 7,
        color=style.DARK,
        annotation_clip=False,
        zorder=5,
    )


def _label(measure: Measure, point: Interval) -> str:
    return style.short(_FORMAT[measure.unit], point.value)


def _set_axis_of_bars(axes: Axes, measure: Measure, values: list[float], upright: bool) -> None:
    axes.set_ylabel(measure.axis_label)
    # Room for what is written at the ends.
    room = 0.3 if upright else 0.12
    if measure.unit is Unit.RATIO:
        positive = [value for value in values if value > 0]
        # Of counts near zero a logarithmic axis has no end: what is smaller ends at its border.
        low, high = min(1.0, *positive, 1.0), max(1.0, *positive, 1.0)
        span = max(math.log(high / low), math.log(LEAST_FACTOR) / 2)
        below = math.exp(span * (room if low < 1 else 0.04))
        axes.set_yscale("log")
        axes.set_ylim(low / below, high * math.exp(span * (room if high > 1 else 0.04) + span * 0.04))
        axes.axhline(1, color=style.MUTED, linewidth=0.8, zorder=4)
        decades = math.log10(high / low)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,), numticks=9))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        low, high = min([0.0, *values]), max([0.0, *values])
        span = (high - low) or 1.0
        axes.set_ylim(low - span * room if low < 0 else 0, high + span * room)
        axes.axhline(0, color=style.MUTED, linewidth=0.8, zorder=4)
        if measure.unit is Unit.BYTES:
            axes.yaxis.set_major_locator(FixedLocator(style.steps_of_memory(high)))
        else:
            axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=measure.unit is Unit.NICE))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _FORMAT[measure.unit](value)))


# Statuses and axes


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
    labels = [style.amount(float(value)) if axis.has_order else value for value in axis.values]
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
