"""The figures of percentiles: latencies over the part of operations that were as fast, on the scale of HdrHistogram, where
each further nine takes the same room. A percentile is the median over samples of the samples' own, as in summary.csv."""

import bisect
import itertools
import math
import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from opbench_plots import style
from opbench_plots.errors import BadInput
from opbench_plots.figure import legend_entry
from opbench_plots.layout import BACKEND_ORDER
from opbench_plots.run import Run
from opbench_plots.sheet import DrawnPanel, Sheet, draw_pages, draw_sheet
from opbench_plots.style import SeriesStyle
from opbench_rows import BadRows, histograms
from opbench_rows.files import Histogram

STAGES = {
    "intended": "Intended instant → end",
    "service": "Submitting call → end",
    "start": "Ready → start",
    "end": "Ready → end",
}
"""What is drawn, most wanted first: at most two of a workload."""
PANELS_A_PAGE = 8
MOST_PAGES = 5
# The curve of fewer operations ends at that part of them.
MOST_NINES = 6

# From the slower half to its slower half there are so many points.
POINTS_A_HALVING = 16

Counts = dict[int, int]
"""Of one sample, by the greatest latency of each bucket, in nanoseconds."""
Samples = list[Counts]


def percentile_figures(run: Run, folder: Path) -> dict[str, Figure]:
    """The figures of a run's workloads, by file name; none if there are no histograms."""
    if not (folder / "histograms.csv").exists():
        return {}
    try:
        found = [item for item in histograms(folder) if item.sample_id in run.counted and not item.operation_class]
    except (BadRows, OSError, ValueError) as error:
        raise BadInput(f"{folder / 'histograms.csv'}: {error}") from error
    merged = _merged(found)
    figures: dict[str, Figure] = {}
    for workload in dict.fromkeys(item.workload for item in found):
        cells = dict.fromkeys(item.cell_id for item in found if item.workload == workload)
        stages = [stage for stage in STAGES if any((cell, stage) in merged for cell in cells)][:2]
        places = [(cell, stage) for cell in cells for stage in stages if (cell, stage) in merged]
        if len(places) > PANELS_A_PAGE * MOST_PAGES:
            run.note(f"{workload}: only {PANELS_A_PAGE * MOST_PAGES} of {len(places)} panels of percentiles are drawn")
        curves = [(place, merged[place]) for place in places]
        draw = partial(_page, run, workload, len(stages))
        figures |= draw_pages(f"percentiles-{workload}", curves, PANELS_A_PAGE, draw, MOST_PAGES)
    return figures


def _merged(found: Sequence[Histogram]) -> dict[tuple[str, str], dict[str, Samples]]:
    """By cell and stage, and there by backend: the samples' histograms."""
    merged: dict[tuple[str, str], dict[str, Samples]] = {}
    for item in found:
        backend = f"{item.backend} {item.side}".rstrip()
        samples = merged.setdefault((item.cell_id, item.stage), {}).setdefault(backend, [])
        samples.append(dict(zip(item.upper_bounds, item.counts, strict=True)))
    return merged


def curve(samples: Samples) -> tuple[list[float], list[float]]:
    """1 ÷ (1 − the part of operations), and the latency in nanoseconds that this part was within, step by step."""
    most = max(sum(counts.values()) for counts in samples)
    end = min(10.0**MOST_NINES, float(max(2, most)))
    halvings = math.log2(end)
    places = {2 ** (step / POINTS_A_HALVING) for step in range(math.ceil(halvings * POINTS_A_HALVING))}
    places |= {10.0**nines for nines in range(1, MOST_NINES) if 10.0**nines < end}
    ladders = [_ladder(counts) for counts in samples]
    found = [(place, statistics.median(_within(1 - 1 / place, *ladder) for ladder in ladders)) for place in sorted(places)]
    found.append((end, max(bounds[-1] for bounds, _ in ladders)))
    return [place for place, _ in found], [float(max(1, latency)) for _, latency in found]


def _ladder(counts: Counts) -> tuple[list[int], list[int]]:
    """The latencies, and how many operations took at most so long."""
    bounds = sorted(counts)
    return bounds, list(itertools.accumulate(counts[bound] for bound in bounds))


def _within(part: float, bounds: list[int], sums: list[int]) -> int:
    """The latency that a part of the operations stays within: HdrHistogram's percentile."""
    rank = max(1, math.ceil(math.nextafter(part, 0) * sums[-1]))
    return bounds[bisect.bisect_left(sums, rank)]


def _page(
    run: Run, workload: str, columns: int, numbering: str, panels: Sequence[tuple[tuple[str, str], dict[str, Samples]]]
) -> Figure:
    backends = sorted({backend for _, merged in panels for backend in merged}, key=_backend_key)
    styles = style.series_styles(backends)
    extent = [bound for _, merged in panels for samples in merged.values() for counts in samples for bound in counts]
    noisy = {
        (cell, backend)
        for (cell, _), merged in panels
        for backend in merged
        if (cell, backend.partition(" ")[0], "latency") in run.noisy
    }

    def panel(cell: str, stage: str, merged: dict[str, Samples]) -> DrawnPanel:
        pale = {backend for backend in merged if (cell, backend) in noisy}
        title = f"{STAGES[stage]}: {cell.removeprefix(workload).strip() or workload}"
        return DrawnPanel(title, lambda axes: _draw(axes, merged, styles, pale, extent))

    footer = [
        "To the right of 99 % is what the slowest of a hundred operations took: the median of the samples' percentiles. Each "
        "curve ends at the slowest operation of all. The buckets are at most 3.2 % wide. Lower is better."
    ]
    if noisy:
        footer.append("Pale curves: something else used the machine during half of the samples or more.")
    return draw_sheet(
        Sheet(
            title=f"Latencies by percentile: {workload}{numbering}",
            under_title=[" · ".join([f"run {run.name}", *run.conditions])],
            panels=[panel(cell, stage, merged) for (cell, stage), merged in panels],
            columns=max(1, columns),
            width=10.0 if columns > 1 else 7.0,
            legend=[legend_entry(backend, styles[backend]) for backend in backends],
            footer=footer,
        )
    )


def _draw(
    axes: Axes, merged: dict[str, Samples], styles: dict[str, SeriesStyle], pale: set[str], extent: Sequence[int]
) -> None:
    end = 10.0
    for backend in sorted(merged, key=_backend_key):
        places, latencies = curve(merged[backend])
        end = max(end, places[-1])
        look = styles[backend]
        width, alpha = (1.4, 0.4) if backend in pale else (1.6, 1.0)
        axes.plot(
            places, latencies, drawstyle="steps-pre", label=backend, color=look.colour, linestyle=look.line,
            linewidth=width, alpha=alpha,
        )  # fmt: skip
        axes.plot(places[-1:], latencies[-1:], marker=look.marker, color=look.colour, markersize=5, alpha=alpha)
    axes.set_xscale("log")
    axes.set_xlim(1, end * 1.6)
    nines = range(1, math.floor(math.log10(end) + 1e-9) + 1)
    ticks = [2.0, *(10.0**nine for nine in nines)]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FixedFormatter(["50 %", *(_percent(nine) for nine in nines)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("part of the operations")
    axes.set_yscale("log")
    low, high = max(1, min(extent)), max(1, *extent)
    axes.set_ylim(low / 1.4, max(high, low * 10) * 1.4)
    axes.yaxis.set_major_locator(LogLocator(numticks=9))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: style.duration(value)))
    axes.grid(visible=True, axis="x")


def _percent(nines: int) -> str:
    """`90 %`, `99 %`, `99.9 %`."""
    return f"{100 - 10.0 ** (2 - nines):.{max(0, nines - 2)}f} %"


def _backend_key(backend: str) -> tuple[int, str]:
    family = backend.partition(" ")[0].partition(":")[0]
    return (BACKEND_ORDER.index(family) if family in BACKEND_ORDER else len(BACKEND_ORDER), backend)
