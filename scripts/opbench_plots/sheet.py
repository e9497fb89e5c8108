"""A page of panels that are not about one shape: title, legend, panels in a grid, a footer."""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from opbench_plots import style
from opbench_plots.figure import (
    CHARACTERS_AN_INCH,
    DOTS_PER_INCH,
    FOOTER_LINE_HEIGHT,
    LEFT_MARGIN,
    LINE_HEIGHT,
    TITLE_CHARACTERS_AN_INCH,
    freeze_layout,
)


@dataclass(frozen=True)
class DrawnPanel:
    """One panel of a page: its title, and what draws it."""

    title: str
    draw: Callable[[Axes], None]


@dataclass
class Sheet:
    """What stands on a page."""

    title: str
    under_title: Sequence[str]
    panels: Sequence[DrawnPanel]
    columns: int = 2
    # Inches.
    width: float = 10.0
    panel_height: float = 3.0
    legend: Sequence[Artist] = ()
    footer: Sequence[str] = field(default_factory=list)


def draw_sheet(sheet: Sheet) -> Figure:
    """The page as a figure, the same for the same content."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style.SETTINGS)
        return _draw(sheet)


def _draw(sheet: Sheet) -> Figure:
    line, left = int(sheet.width * CHARACTERS_AN_INCH), LEFT_MARGIN / sheet.width
    under_title = [part for text in sheet.under_title for part in textwrap.wrap(text, line)]
    footer = [part for text in sheet.footer for part in textwrap.wrap(text, int(line * 1.3))]
    legend_columns = _legend_columns([str(handle.get_label()) for handle in sheet.legend], line)
    legend_lines = -(-len(sheet.legend) // legend_columns)
    rows = -(-len(sheet.panels) // sheet.columns)
    heights = [
        0.5 + LINE_HEIGHT * len(under_title) + 0.25 * legend_lines,
        rows * sheet.panel_height,
        FOOTER_LINE_HEIGHT * len(footer) + 0.15,
    ]
    engine = ConstrainedLayoutEngine(w_pad=0.1)
    figure = Figure(figsize=(sheet.width, sum(heights)), dpi=DOTS_PER_INCH, layout=engine, facecolor="white")
    header, body, bottom = figure.subfigures(3, 1, height_ratios=heights, hspace=0)
    title = textwrap.shorten(sheet.title, int(sheet.width * 8), placeholder=" …")
    header.text(left, 1 - 0.1 / heights[0], title, va="top", fontsize=14, fontweight="bold")
    header.text(
        left, 1 - 0.4 / heights[0], "\n".join(under_title), va="top", fontsize=8.5, color=style.MUTED, linespacing=1.3
    )
    if sheet.legend:
        place = {"loc": "lower left", "bbox_to_anchor": (left / 2, 0)}
        header.legend(handles=list(sheet.legend), ncols=legend_columns, frameon=False, borderaxespad=0.2, **place)
    grid = body.subplots(rows, sheet.columns, squeeze=False)
    wrapped = int(sheet.width / sheet.columns * TITLE_CHARACTERS_AN_INCH)
    for axes, panel in zip(grid.flat, sheet.panels, strict=False):
        panel.draw(axes)
        axes.set_title("\n".join(textwrap.wrap(panel.title, wrapped)), loc="left", fontweight="bold")
    for axes in grid.flat[len(sheet.panels) :]:
        axes.set_axis_off()
    bottom.text(left, 1, "\n".join(footer), va="top", fontsize=7.5, color=style.MUTED, linespacing=1.35)
    freeze_layout(figure)
    return figure


def _legend_columns(labels: Sequence[str], line: int) -> int:
    widths = [len(label) + 9 for label in labels]
    return max(1, len(widths) if sum(widths) <= line else line // max(widths))


def draw_pages(
    stem: str, items: Sequence, most: int, draw: Callable[[str, Sequence], Figure], most_pages: int = 10
) -> dict[str, Figure]:
    """Pages of so many items, by the names of their files: NAME, NAME-2, …

    `draw` is given what the title says of the page, and its items."""
    parts = [items[start : start + most] for start in range(0, len(items), most)]
    figures = {}
    for number, part in enumerate(parts[:most_pages], 1):
        numbering = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
        figures[stem if number == 1 else f"{stem}-{number}"] = draw(numbering, part)
    return figures
