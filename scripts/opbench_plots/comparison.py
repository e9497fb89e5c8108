"""The figure of a comparison: a compare.csv, head ÷ base of each figure with its interval, one below the other."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from opbench_plots import style
from opbench_plots.errors import BadInput
from opbench_plots.sheet import DrawnPanel, Sheet, draw_pages, draw_sheet
from opbench_plots.tables import Table, figure_words, read_table

COLUMNS = (
    "cell_id", "backend", "phase", "operation_class", "metric", "stat", "base_value", "head_value", "ratio", "ci_low",
    "ci_high", "threshold", "verdict",
)  # fmt: skip
HEADLINES = {("time", "total"), ("time_ratio", "total"), ("cpu_time", "total"), ("allocations", "total")}
"""What is drawn of a comparison that judged nothing: metric and phase."""
LINES_A_PAGE = 30
LINE_INCHES = 0.27


class Look(NamedTuple):
    colour: str
    marker: str
    is_hollow: bool = False


LOOKS = {
    "regression": Look("#D55E00", "s"),
    "improved": Look("#009E73", "D"),
    "pass": Look("#0072B2", "o"),
    "inconclusive": Look("#555555", "o", is_hollow=True),
    "missing": Look("#555555", "x"),
    "": Look("#0072B2", "o"),
}
WORDS = {"": "not judged"}


class Line(NamedTuple):
    """One figure on two sides."""

    cell_id: str
    name: str
    verdict: str
    ratio: float
    low: float
    high: float
    threshold: float


def comparison_figures(path: Path) -> dict[str, Figure]:
    """The pages of a compare.csv."""
    table = read_table(path, COLUMNS)
    lines = _lines(table)
    if not lines:
        raise BadInput(f"{path}: no figure that both sides have")
    # The scale of one page is that of all.
    return draw_pages("comparison", lines, LINES_A_PAGE, lambda numbering, part: _page(path, numbering, part, lines))


def _lines(table: Table) -> list[Line]:
    figures = {name: table.numbers(name) for name in ("ratio", "ci_low", "ci_high", "threshold")}
    is_judged = (table.frame["verdict"] != "").any()
    found = []
    for index, row in enumerate(table.rows):
        is_drawn = row["verdict"] != "" if is_judged else (row["metric"], row["phase"] or "total") in HEADLINES
        ratio, low, high, threshold = (float(values[index]) for values in figures.values())
        if is_drawn and not math.isnan(ratio) and ratio > 0:
            name = f"{row['backend']}: {figure_words(row)}"
            found.append(Line(row["cell_id"], name, row["verdict"], ratio, low, high, threshold))
    # By cell, in the order of the file.
    order = {cell: rank for rank, cell in enumerate(dict.fromkeys(line.cell_id for line in found))}
    return sorted(found, key=lambda line: order[line.cell_id])


def _page(path: Path, numbering: str, lines: Sequence[Line], everything: Sequence[Line]) -> Figure:
    used = [verdict for verdict in LOOKS if any(line.verdict == verdict for line in everything)]
    heads = len(dict.fromkeys(line.cell_id for line in lines))
    footer = [
        "Head ÷ base: left of 1 is less. Lines are 95 % intervals. A pale band is what the rule allows, or the noise of this "
        "host, if that is more."
    ]
    return draw_sheet(
        Sheet(
            title=f"Head against base{numbering}",
            under_title=[str(path)],
            panels=[DrawnPanel("", lambda axes: _draw(axes, lines, everything))],
            columns=1,
            panel_height=(len(lines) + heads) * LINE_INCHES + 0.6,
            legend=[_legend_entry(verdict) for verdict in used],
            footer=footer,
        )
    )


def _legend_entry(verdict: str) -> Artist:
    look = LOOKS[verdict]
    return Line2D(
        [], [], label=WORDS.get(verdict, verdict), color=look.colour, marker=look.marker,
        markerfacecolor="white" if look.is_hollow else look.colour, linewidth=1.4,
    )  # fmt: skip


def _draw(axes: Axes, lines: Sequence[Line], everything: Sequence[Line]) -> None:
    low, high = _extent(everything)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.axvline(1, color=style.MUTED, linewidth=0.9, zorder=1)
    labels: list[tuple[float, str]] = []
    height = 0.0
    cell = None
    for line in lines:
        if line.cell_id != cell:
            cell = line.cell_id
            axes.annotate(
                cell, (0, height), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points", va="center",
                fontsize=8, fontweight="bold", color=style.MUTED, zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
            )  # fmt: skip
            height -= 1
        labels.append((height, line.name))
        _draw_line(axes, line, height)
        height -= 1
    axes.set_ylim(height + 0.4, 0.6)
    axes.set_yticks([place for place, _ in labels], [label for _, label in labels])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    if high / low < 20:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: style.short(style.ratio, value)))
    axes.set_xlabel("head ÷ base")


def _draw_line(axes: Axes, line: Line, height: float) -> None:
    look = LOOKS.get(line.verdict, LOOKS[""])
    has_interval = not (math.isnan(line.low) or math.isnan(line.high))
    if not math.isnan(line.threshold) and line.threshold > 0:
        margin = 1 + line.threshold
        axes.barh(height, margin - 1 / margin, 0.82, 1 / margin, color="#0072B2", alpha=0.1, linewidth=0, zorder=0)
    if has_interval:
        axes.hlines(height, line.low, line.high, color=look.colour, linewidth=1.6, zorder=2)
        axes.plot([line.low, line.high], [height] * 2, linestyle="none", marker="|", markersize=6, color=look.colour)
    axes.plot(
        [line.ratio], [height], marker=look.marker, markersize=6, color=look.colour, zorder=3,
        markerfacecolor="white" if look.is_hollow else look.colour,
    )  # fmt: skip
    text = _change(line.ratio)
    if has_interval:
        text += f"  ({_change(line.low)} … {_change(line.high)})"
    axes.annotate(
        text, (1, height), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points", va="center",
        fontsize=7.5, color=style.DARK, annotation_clip=False,
    )  # fmt: skip


def _extent(lines: Sequence[Line]) -> tuple[float, float]:
    """Around 1, and as far as any interval reaches."""
    values = [value for line in lines for value in (line.ratio, line.low, line.high) if value > 0]
    low, high = min(0.98, *values), max(1.02, *values)
    margin = (high / low) ** 0.05
    return low / margin, high * margin


def _change(ratio: float) -> str:
    """`+3.1 %`, `−40 %`, and large ones as a factor: `12.5×`."""
    if ratio >= 2:
        return style.short(style.ratio, ratio)
    percent = round((ratio - 1) * 100, 1)
    text = f"{abs(percent):.1f}" if abs(percent) < 10 else f"{abs(percent):.0f}"
    return f"{'' if float(text) == 0 else '+' if percent > 0 else '−'}{text} %"
