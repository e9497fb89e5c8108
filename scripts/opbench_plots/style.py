"""How the figures look: colours, markers, the writing of numbers."""

from collections.abc import Callable
from dataclasses import dataclass

SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.7,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    # Names in files may hold a dollar sign.
    "text.parse_math": False,
    # The same identifiers in every SVG file made from the same data.
    "svg.hashsalt": "opbench",
}

MUTED = "#555555"
DARK = "#222222"


@dataclass(frozen=True)
class SeriesStyle:
    """A colour that stays distinct to the colour-blind, and a marker that says the same without colour."""

    colour: str
    marker: str
    line: str = "-"


# From the palette of Okabe and Ito.
_OF_FAMILY = {
    "engine": SeriesStyle("#0072B2", "o"),
    "dispatch": SeriesStyle("#D55E00", "s"),
    "foundation": SeriesStyle("#009E73", "^"),
    "concurrency": SeriesStyle("#CC79A7", "D"),
    "serial": SeriesStyle("#000000", "x"),
}
_OTHERS = tuple(
    SeriesStyle(colour, marker, line)
    for line, markers in (("--", "vP<"), (":", "*>X"))
    for colour, marker in zip(("#E69F00", "#56B4E9", "#999999"), markers, strict=True)
)


def series_styles(backends: list[str]) -> dict[str, SeriesStyle]:
    """A style for each backend: its own where it has one, so that it looks the same in every figure."""
    others = [name for name in backends if name not in _OF_FAMILY]
    return {name: _OF_FAMILY.get(name) or _OTHERS[others.index(name) % len(_OTHERS)] for name in backends}


STATUS_LETTERS = {"timeout": "T", "crashed": "C", "invalid": "I", "unsupported": "U", "skipped": "S"}


def status_letter(status: str) -> str:
    return STATUS_LETTERS.get(status, "?")


def duration(nanoseconds: float) -> str:
    """`20 ns`, `1.5 µs`, `3 s`."""
    if nanoseconds == 0:
        return "0"
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(nanoseconds) >= size * (1 - 1e-9):
            return f"{nanoseconds / size:.4g} {unit}"
    return f"{nanoseconds:.4g} ns"


def amount(value: float) -> str:
    """`5`, `20 k`, `1.5 M`."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= size * (1 - 1e-9):
            return f"{value / size:.4g}{unit}"
    return f"{value:.4g}"


def memory(value: float) -> str:
    """`96 B`, `1.21 KiB`, `12 MiB`."""
    for size, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if abs(value) >= size * (1 - 1e-9):
            return f"{value / size:.4g} {unit}"
    return f"{value:.4g} B"


def ratio(value: float) -> str:
    """`2×`, and small ones without an exponent."""
    return f"{value:.4g}×" if value == 0 or abs(value) >= 1e-4 else f"{value:.0e}×"


def short(write: Callable[[float], str], value: float) -> str:
    """A figure in three digits, as it stands beside a bar."""
    text = write(value)
    number, _, unit = text.partition(" ")
    digits = number.rstrip("×")
    try:
        shortened = f"{float(digits):.3g}".replace("e+0", "e").replace("e-0", "e-")
        return shortened + number[len(digits) :] + (f" {unit}" if unit else "")
    except ValueError:
        return text


def steps_of_memory(high: float, most: int = 5) -> list[float]:
    """Round places on an axis of bytes, from 0 to that."""
    unit = next((size for size in (2.0**30, 2.0**20, 2.0**10) if high >= size), 1.0)
    rounds = (10.0**power * factor for power in range(-1, 4) for factor in (1, 2, 5))
    step = next(step for step in rounds if high / unit / step <= most)
    return [unit * step * number for number in range(int(high / unit / step) + 1)]
