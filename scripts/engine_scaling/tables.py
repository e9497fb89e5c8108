"""The tables of the article, in Markdown: what the model says, and how far it is off."""

from engine_scaling.model import Kind, coefficients, is_short, speedup, turn_for_half
from engine_scaling.records import Measured

FORECAST_WORKERS = (2, 4, 8, 16, 32, 64)
FORECAST_WORK = (0, 1_000, 10_000, 100_000)


def kinds(measured: Measured) -> str:
    lines = [
        "| operations | turn | under the lock | fetches in a row |",
        "| --- | ---: | ---: | ---: |",
    ]
    for kind in measured.kinds:
        lines.append(f"| {kind.name} | {kind.turn:.0f} ns | {kind.locked:.0f} ns | {kind.fetches} |")
    return "\n".join(lines) + "\n"


def check(measured: Measured) -> str:
    """Two workers: measured, and predicted from one worker and the time of a fetch."""
    lines = [
        "| operations | `work_ns` | one worker's turn | two workers ÷ one, measured | predicted | off by | stands aside |",
        "| --- | ---: | ---: | --- | ---: | ---: | --- |",
    ]
    for row in measured.checks:
        kind = measured.kind(row.kind)
        # What the machine took for the work, which is not quite what was asked for.
        work = max(0.0, row.turn_ns - kind.turn)
        predicted = speedup(kind, work, measured.fetch, 2)
        lines.append(
            f"| {row.kind} | {row.work_ns:,} | {row.turn_ns:,.0f} ns | {row.ratio:.2f} ({row.low:.2f}–{row.high:.2f}) "
            f"| {predicted:.2f} | {predicted / row.ratio - 1:+.0%} | {'yes' if is_short(kind, work) else 'no'} |"
        )
    return "\n".join(lines) + "\n"


def forecast(measured: Measured, fetch: float | None = None) -> str:
    """Speedups of one queue by the number of workers, and the number beyond which more make it slower."""
    fetch = fetch or measured.fetch
    head = " | ".join(f"{count}" for count in FORECAST_WORKERS)
    lines = [f"| operations | work | {head} | best |", f"| --- | ---: |{' ---: |' * (len(FORECAST_WORKERS) + 1)}"]
    for kind in measured.kinds:
        for work in FORECAST_WORK:
            speedups = " | ".join(f"{speedup(kind, work, fetch, count):.2g}" for count in FORECAST_WORKERS)
            lines.append(f"| {kind.name} | {_time(work)} | {speedups} | {_best(kind, work, fetch)} |")
    return "\n".join(lines) + "\n"


def half(measured: Measured, fetch: float | None = None) -> str:
    fetch = fetch or measured.fetch
    counts = (4, 16, 64)
    lines = [
        f"| operations | {' | '.join(f'{count} workers' for count in counts)} |",
        f"| --- |{' ---: |' * len(counts)}",
    ]
    for kind in measured.kinds:
        turns = " | ".join(_time(turn_for_half(kind, fetch, count)) for count in counts)
        lines.append(f"| {kind.name} | {turns} |")
    return "\n".join(lines) + "\n"


def _best(kind: Kind, work: float, fetch: float) -> str:
    return "1" if is_short(kind, work) else str(coefficients(kind, work, fetch).best)


def _time(nanoseconds: float) -> str:
    if nanoseconds == 0:
        return "0"
    return f"{nanoseconds:.0f} ns" if nanoseconds < 1000 else f"{nanoseconds / 1000:.3g} µs"


TABLES = {"kinds": kinds, "check": check, "forecast": forecast, "half": half}
