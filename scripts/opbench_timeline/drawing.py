"""The picture of a trace."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from opbench_timeline.trace import Trace

matplotlib.use("Agg")
# Colours of Paul Tol's scheme "bright", which people with colour blindness tell apart.
COLOURS = {"operation": "#4477aa", "thread": "#bbbbbb", "queue": "#ee6677"}
WORDS = {"operation": "operations", "thread": "parked", "queue": "suspended, barrier"}
SUBMISSION_COLOUR = "#66ccee"
COUNTER_WORDS = {"running": "running", "ready": "ready", "waiting": "waiting", "awake": "workers awake"}
COUNTERS = {"running": "#4477aa", "ready": "#228833", "waiting": "#ccbb44", "awake": "#aa3377"}
# Inches.
WIDTH = 11.0
ROW_HEIGHT = 0.32
COUNTER_HEIGHT = 2.0
DOTS_PER_INCH = 120


def draw(trace: Trace, picture: Path, start: float | None, end: float | None) -> None:
    """Writes the picture of what lies between two times, or of all.

    Raises OSError if it cannot be written, and ValueError if the picture's name has no known format."""
    left, right = limits(trace, start, end)
    rows = [row for row in trace.rows if row in trace.submissions or any(key[0] == row for key in trace.slices)]
    # Milliseconds from 10 ms on.
    scale, unit = (1e-3, "ms") if right - left >= 1e4 else (1.0, "µs")
    # What is shorter would be pale or not there.
    dot = (right - left) / (WIDTH * DOTS_PER_INCH)
    upper_height = ROW_HEIGHT * max(1, len(rows)) + 0.4
    figure = Figure(figsize=(WIDTH, upper_height + COUNTER_HEIGHT + 1.2), layout="constrained", dpi=DOTS_PER_INCH)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[upper_height, COUNTER_HEIGHT])
    figure.suptitle(trace.title, x=0.01, ha="left", fontsize="medium")
    named = set()
    for place, row in enumerate(rows):
        for category, colour in COLOURS.items():
            shown = [
                (begin * scale, max(length, dot) * scale)
                for begin, length in trace.slices.get((row, category), [])
                if begin + length >= left and begin <= right
            ]
            if not shown:
                continue
            label = None if category in named else WORDS[category]
            named.add(category)
            thickness, offset = (0.8, 0.4) if category == "operation" else (0.5, 0.25)
            upper.broken_barh(shown, (place - offset, thickness), color=colour, label=label, linewidth=0.1)
        shown = [time * scale for time in trace.submissions.get(row, []) if left <= time <= right]
        if shown:
            label = None if "submission" in named else "submissions"
            named.add("submission")
            # At the row's foot: workers submit, too.
            upper.vlines(shown, place + 0.2, place + 0.48, color=SUBMISSION_COLOUR, linewidth=0.6, label=label)
    upper.set_yticks(range(len(rows)), [trace.rows[row] for row in rows])
    upper.set_ylim(len(rows) - 0.4, -0.6)
    for name, colour in COUNTERS.items():
        times, values = trace.counters.get(name, ([], []))
        # Only the engine tells when its threads sleep.
        if not times or name == "awake" and not any(category == "thread" for _, category in trace.slices):
            continue
        # 0 before the first value; each holds up to the next, the last one up to the picture's end.
        ends = [time * scale for time in [min(left, times[0]), *times, max(right, times[-1])]]
        steps = [0, *values, values[-1]]
        lower.step(ends, steps, where="post", color=colour, label=COUNTER_WORDS[name], linewidth=1)
    # Below the picture, where they hide nothing.
    figure.legend(
        *(first + second for first, second in zip(*(axes.get_legend_handles_labels() for axes in (upper, lower)))),
        loc="outside lower center",
        ncols=8,
        frameon=False,
    )
    lower.set_ylabel("how many")
    most = max((max(values) for name, (_, values) in trace.counters.items() if name in COUNTERS and values), default=0)
    if most > 10:
        lower.set_yscale("symlog", linthresh=10)
        lower.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    else:
        lower.yaxis.set_major_locator(MaxNLocator(integer=True))
    lower.set_ylim(bottom=0)
    lower.set_xlim(left * scale, right * scale)
    lower.set_xlabel(f"time since the start mark ({unit})")
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture)


def limits(trace: Trace, start: float | None, end: float | None) -> tuple[float, float]:
    """Where the picture begins and ends: with the first and last of all that it shows, unless it is said."""
    begins = [begin for slices in trace.slices.values() for begin, _ in slices]
    ends = [begin + length for slices in trace.slices.values() for begin, length in slices]
    submissions = [time for times in trace.submissions.values() for time in times]
    left = start if start is not None else min(begins + submissions, default=0.0)
    right = end if end is not None else max(ends + submissions, default=1.0)
    return left, max(right, left + 1e-3)
