"""Drawing the figure of one shape: a header with the legend, the panels by facet, a footer with what is constant."""

import textwrap

import matplotlib
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from opbench_plots import style
from opbench_plots.layout import Arrangement, Facet
from opbench_plots.measures import CONFIDENCE, Measure
from opbench_plots.panel import draw_panel
from opbench_plots.style import SeriesStyle

# Inches.
PANEL_WIDTH = 5.0
NARROW_PANEL_WIDTH = 4.0
PANEL_HEIGHT = 2.9
LEFT_MARGIN = 0.12
LINE_HEIGHT = 0.17
FOOTER_LINE_HEIGHT = 0.15
DOTS_PER_INCH = 150
# What fits under the title of a figure of one inch.
CHARACTERS_AN_INCH = 13.5
# What fits into the title of a panel of one inch.
TITLE_CHARACTERS_AN_INCH = 10
# From this many facets on, each has its panels in one row.
MANY_FACETS = 3
# More facets than this go to a further page, and on many pages nobody sees anything.
FACETS_A_PAGE = 8
MOST_FACETS = 10 * FACETS_A_PAGE


def draw_figures(arrangement: Arrangement) -> list[Figure]:
    """The pages of a shape's figure; one, unless its cells differ in very many ways."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style.SETTINGS)
        facets = arrangement.facets[:MOST_FACETS]
        pages = [facets[start : start + FACETS_A_PAGE] for start in range(0, len(facets), FACETS_A_PAGE)]
        return [_Page(arrangement, page, number + 1, len(pages)).draw() for number, page in enumerate(pages)]


class _Page:
    def __init__(self, arrangement: Arrangement, facets: list[Facet], number: int, pages: int):
        self.arrangement = arrangement
        self.facets = facets
        self.numbering = f" ({number} of {pages})" if pages > 1 else ""
        self.styles = style.series_styles(arrangement.backends)
        self.measures, self.missing = self._measured()
        is_wide = len(facets) >= MANY_FACETS and len(self.measures) > 2
        self.columns = len(self.measures) if is_wide else min(2, len(self.measures))
        self.width = self.columns * NARROW_PANEL_WIDTH if is_wide else 2 * PANEL_WIDTH
        self.line = int(self.width * CHARACTERS_AN_INCH)

    def draw(self) -> Figure:
        under_title, footer = self._under_title(), self._footer()
        legend_lines = -(-len(self.arrangement.backends) // self._legend_columns())
        rows_a_facet = -(-len(self.measures) // self.columns)
        labels = [textwrap.wrap(facet.label, self.line) for facet in self.facets]
        heights = [
            0.42 + LINE_HEIGHT * len(under_title) + 0.25 * legend_lines + 0.1,
            *(rows_a_facet * PANEL_HEIGHT + LINE_HEIGHT * 1.4 * len(label) for label in labels),
            FOOTER_LINE_HEIGHT * len(footer) + 0.15,
        ]
        engine = ConstrainedLayoutEngine(w_pad=0.1)
        figure = Figure(figsize=(self.width, sum(heights)), dpi=DOTS_PER_INCH, layout=engine, facecolor="white")
        header, *bodies, bottom = figure.subfigures(len(heights), 1, height_ratios=heights, hspace=0)
        self._draw_header(header, heights[0], under_title)
        for facet, label, body in zip(self.facets, labels, bodies, strict=True):
            self._draw_facet(body, facet, label, rows_a_facet)
        bottom.text(self._left, 1, "\n".join(footer), va="top", fontsize=7.5, color=style.MUTED, linespacing=1.35)
        freeze_layout(figure)
        return figure

    @property
    def _left(self) -> float:
        """The left margin, as a part of the width."""
        return LEFT_MARGIN / self.width

    def _measured(self) -> tuple[list[Measure], list[Measure]]:
        """The measures that have a figure somewhere in the shape, and those that have none."""
        arrangement = self.arrangement
        measured, missing = [], []
        for measure in arrangement.plan.measures:
            (measured if arrangement.extent(measure) else missing).append(measure)
        # Where nothing was measured at all, one panel still shows the statuses.
        return (measured, missing) if measured else (missing[:1], missing)

    def _under_title(self) -> list[str]:
        run = self.arrangement.run
        return textwrap.wrap(" · ".join([f"run {run.name}", *run.conditions]), self.line)

    def _footer(self) -> list[str]:
        arrangement = self.arrangement
        sentences = []
        if arrangement.constants:
            sentences.append(
                "In all cells: " + ", ".join(f"{name} = {value}" for name, value in arrangement.constants) + "."
            )
        barred = [measure for measure in self.measures if arrangement.has_bars(measure)]
        bars = list(dict.fromkeys(measure.bars for measure in barred))
        for meaning in bars:
            titles = [self._title(measure) for measure in barred if measure.bars == meaning]
            sentences.append(f"Thin lines: {meaning}" + (f" ({'; '.join(titles)})." if len(bars) > 1 else "."))
        meanings = [measure.meaning for measure in self.measures]
        zeros = [measure.zero for measure in self.measures if 0 in arrangement.extent(measure)]
        sentences += [sentence for sentence in dict.fromkeys(meanings + zeros) if sentence]
        if any(arrangement.has_noise(measure) for measure in self.measures):
            sentences.append("Hollow points, hatched bars: something else used the machine during half of the samples or more.")
        if any(measure.bars == CONFIDENCE for measure in self.measures) and CONFIDENCE not in bars:
            sentences.append("No confidence intervals: the run has too few blocks for them.")
        if arrangement.statuses:
            key = ", ".join(f"{style.status_letter(status)} {status}" for status in arrangement.statuses)
            sentences.append(f"Letters above a panel, instead of a figure or with an unsound one: {key}.")
        if self.missing:
            sentences.append("Not measured: " + "; ".join(self._title(measure) for measure in self.missing) + ".")
        return [line for sentence in sentences for line in textwrap.wrap(sentence, int(self.line * 1.3))]

    def _title(self, measure: Measure) -> str:
        bases = sorted({row.ratio_to for row in self.arrangement.rows.values() if row.ratio_to})
        return measure.title.format(ratio_to=" or ".join(bases))

    def _legend_columns(self) -> int:
        """As many as fit beside each other: all, or as many as would if each were the longest."""
        widths = [len(backend) + 9 for backend in self.arrangement.backends]
        return len(widths) if sum(widths) <= self.line else max(1, self.line // max(widths))

    def _draw_header(self, header: SubFigure, height: float, under_title: list[str]) -> None:
        arrangement, left = self.arrangement, self._left
        title = f"{arrangement.plan.title}: {', '.join(arrangement.workloads)}"
        title = textwrap.shorten(title, 80, placeholder=" …") + self.numbering
        header.text(left, 1 - 0.1 / height, title, va="top", fontsize=14, fontweight="bold")
        header.text(
            left, 1 - 0.4 / height, "\n".join(under_title), va="top", fontsize=8.5, color=style.MUTED, linespacing=1.3
        )
        header.legend(
            handles=[legend_entry(backend, self.styles[backend]) for backend in arrangement.backends],
            loc="lower left",
            bbox_to_anchor=(left / 2, 0),
            ncols=self._legend_columns(),
            frameon=False,
            borderaxespad=0.2,
            handlelength=2.4,
            columnspacing=1.8,
        )

    def _draw_facet(self, body: SubFigure, facet: Facet, label: list[str], rows: int) -> None:
        if label:
            body.suptitle("\n".join(label), x=self._left, ha="left", fontsize=10, color=style.MUTED, fontweight="bold")
        grid = body.subplots(rows, self.columns, squeeze=False)
        for axes in grid.flat[len(self.measures) :]:
            axes.set_axis_off()
        for axes, measure in zip(grid.flat, self.measures, strict=False):
            panel = self.arrangement.panel(facet, measure)
            title = "\n".join(textwrap.wrap(self._title(measure), int(self.width / self.columns * TITLE_CHARACTERS_AN_INCH)))
            draw_panel(axes, panel, self.arrangement.extent(measure), self.styles, title)


def freeze_layout(figure: Figure) -> None:
    """Lays the figure out once, and rounds: the solver's last digits are not the same each time, files must be."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for part in figure.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(6))
        for axes in part.axes:
            axes.set_position([round(bound, 6) for bound in axes.get_position().bounds])


def legend_entry(backend: str, look: SeriesStyle) -> Line2D:
    return Line2D(
        [],
        [],
        label=backend,
        color=look.colour,
        marker=look.marker,
        linestyle=look.line,
        markersize=5.5,
        linewidth=1.2,
        markeredgewidth=1.5 if look.marker == "x" else 0.6,
        markeredgecolor=look.colour if look.marker == "x" else "white",
    )
