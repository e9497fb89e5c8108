"""The picture of a trace."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from opbench_timeline.trace import Trace

matplotlib.use("Agg")
# Colours of Paul Tol's scheme "bright", which people with colour blindness tell apart.
COLOURS = {"operation": "#4477aa", "thread": "#bbbbbb", "queue": "#ee6677"}
WORDS = {"operation": "operations", "thread": "parked, blocked", "queue": "suspended, barrier"}
COUNTERS = {"running": "#4477aa", "ready": "#228833", "waiting": "#ccbb44", "awake": "#aa3377"}
# Inches.
WIDTH = 11.0
ROW_HEIGHT = 0.32
COUNTER_HEIGHT = 1.8
DOTS_PER_INCH = 120


def draw(trace: Trace, picture: Path, start: float | None, end: float | None) -> None:
    """Writes the picture of what lies between two times, or of all.

    Raises OSError if it cannot be written, and ValueError if the picture's name has no known format."""
    begins = [begin for slices in trace.slices.values() for begin, _ in slices]
    ends = [begin + length for slices in trace.slices.values() for begin, length in slices]
    left = start if start is not None else min(begins, default=0.0)
    right = end if end is not None else max(ends, default=1.0)
    rows = [row for row in trace.rows if any(key[0] == row for key in trace.slices)]
    # Milliseconds from 10 ms on.
    scale, unit = (1e-3, "ms") if right - left >= 1e4 else (1.0, "µs")
    height = ROW_HEIGHT * max(1, len(rows)) + COUNTER_HEIGHT + 1.4
    figure = Figure(figsize=(WIDTH, height), layout="constrained", dpi=DOTS_PER_INCH)
    upper, lower = figure.subplots(
        2, 1, sharex=True, height_ratios=[ROW_HEIGHT * max(1, len(rows)) + 0.4, COUNTER_HEIGHT]
    )
    figure.suptitle(trace.title, x=0.01, ha="left", fontsize="medium")
    named = set()
    for place, row in enumerate(rows):
        for category, colour in COLOURS.items():
            shown = [
                (begin * scale, length * scale)
                for begin, length in trace.slices.get((row, category), [])
                if begin + length >= left and begin <= right
            ]
            if not shown:
                continue
            label = None if category in named else WORDS[category]
            named.add(category)
            thickness, offset = (0.8, 0.4) if category == "operation" else (0.5, 0.25)
            upper.broken_barh(shown, (place - offset, thickness), color=colour, label=label, linewidth=0.1)
    upper.set_yticks(range(len(rows)), [trace.rows[row] for row in rows])
    upper.invert_yaxis()
    if named:
        figure.legend(*upper.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    for name, colour in COUNTERS.items():
        if name in trace.counters:
            times, values = trace.counters[name]
            lower.step([time * scale for time in times], values, where="post", color=colour, label=name, linewidth=1)
    lower.legend(loc="upper right", ncols=4, frameon=False)
    lower.set_ylabel("operations; threads awake")
    lower.set_yscale("symlog", linthresh=10)
    lower.set_ylim(bottom=0)
    lower.set_xlim(left * scale, right * scale)
    lower.set_xlabel(f"time since the start mark ({unit})")
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture)
