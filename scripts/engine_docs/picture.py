"""The README's picture, light and dark: a gate that fails, with the function that `explain` ranks first, from the recorded
session; and the times of the headline table, as bars."""

import re
import textwrap
from dataclasses import dataclass
from html import escape
from pathlib import Path

from engine_docs.layout import Problem
from engine_docs.times import Cell, gains, time

WIDTH, HEIGHT = 1130, 470
CARD = 680
"""The width of the left half."""
MONOSPACE = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS = "-apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"
COLUMNS = ("engine", "dispatch", "foundation")
FULL = 8_000
"""The nanoseconds of the longest bar; a longer one is broken."""
NO_BREAK = "\u00a0"
"""SVG would join several spaces to one."""
MOST_COLUMNS = 88
"""The characters of a line that fit the card."""


@dataclass(frozen=True)
class Look:
    """The colours of one form of the picture."""

    paper: str
    edge: str
    ink: str
    faint: str
    red: str
    bars: tuple[str, str, str]
    """Of the engine, Dispatch and Foundation: as in scripts/plot, lighter on a dark ground."""


LOOKS = {
    "overview.svg": Look("#ffffff", "#d0d7de", "#1f2328", "#59636e", "#cf222e", ("#0072B2", "#D55E00", "#009E73")),
    "overview~dark.svg": Look("#0d1117", "#3d444d", "#e6edf3", "#9198a1", "#ff7b72", ("#56B4E9", "#F0883E", "#3FB68B")),
}
"""The files, named as DocC expects it."""


def stale(folder: Path, session: Path, cells: list[Cell]) -> dict[Path, str]:
    """The texts of the outdated pictures in a folder."""
    try:
        sections = read(session.read_text(encoding="utf-8"))
    except OSError as error:
        raise Problem(f"cannot read {session}: {error.strerror}") from None
    made = {folder / name: draw(look, sections, cells) for name, look in LOOKS.items()}
    return {path: text for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text}


def read(session: str) -> dict[str, list[str]]:
    """The lines of each command of a session, by opbench's subcommand. The first line is the command."""
    sections: dict[str, list[str]] = {}
    for line in session.splitlines():
        if command := re.match(r"\$ scripts/opbench ([a-z-]+)", line):
            sections[command[1]] = []
        if sections:
            list(sections.values())[-1].append(line)
    return sections


def excerpt(sections: dict[str, list[str]]) -> list[str]:
    """The lines to show: the last regressions of a cell, the gate's result, and the first function explained. An ellipsis
    replaces lines."""
    try:
        gate, explained = sections["gate"], sections["explain"]
        last = max(place for place, line in enumerate(gate) if line.startswith(" ") and line.endswith("regression"))
        first = next(place for place in range(last, 0, -1) if not gate[place].startswith(" "))
        rule = max(place for place in range(first) if gate[place].startswith("---"))
        title = max((place for place in range(rule) if not gate[place]), default=0) + 1
        result = [line for line in gate if line.startswith(("gate:", "(exit code"))]
        ranked = next(place for place, line in enumerate(explained) if line.lstrip().startswith("of the CPU time"))
    except (KeyError, StopIteration, ValueError) as error:
        raise Problem(f"the session has no gate that fails, or no explanation of it: {error}") from None
    head, group = gate[title : rule + 1], [line for line in gate[first : last + 1] if not line.endswith("pass")]
    function = textwrap.dedent("\n".join(explained[ranked : ranked + 3])).splitlines()
    return [gate[0], *head, *["…"] * (first > rule + 1), *group, "…", *result, "", explained[0], "…", *function]


def draw(look: Look, sections: dict[str, list[str]], cells: list[Cell]) -> str:
    """The picture as SVG: the same text for the same figures."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">\n'
        + _card(look, 1, CARD - 13)
        + _card(look, CARD, WIDTH - CARD - 1)
        + _terminal(look, excerpt(sections))
        + _bars(look, cells)
        + "</svg>\n"
    )


def _card(look: Look, left: float, width: float) -> str:
    shape = f'x="{left}" y="1" width="{width}" height="{HEIGHT - 2}" rx="10"'
    return f'<rect {shape} fill="{look.paper}" stroke="{look.edge}"/>\n'


def _text(x: float, y: float, text: str, colour: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" {more}>{escape(text).replace(" ", NO_BREAK)}</text>\n'


def _terminal(look: Look, lines: list[str]) -> str:
    made = [f'<g font-family="{escape(MONOSPACE)}" font-size="11.9">\n']
    for place, whole in enumerate(lines):
        line = whole if len(whole) <= MOST_COLUMNS else whole[: MOST_COLUMNS - 1] + "…"
        is_red = line.endswith("regression") or line.startswith(("gate:", "(exit code"))
        is_named = place == len(lines) - 2
        colour = look.red if is_red or is_named else look.ink if line.startswith("$") else look.faint
        weight = 'font-weight="bold"' if line.startswith(("$", "gate:")) or is_named else ""
        made.append(_text(20, 36 + 23 * place, line, colour, weight))
    return "".join(made) + "</g>\n"


def _bars(look: Look, cells: list[Cell]) -> str:
    left, right = CARD + 26, WIDTH - 86
    scale = (right - left) / FULL
    made = [f'<g font-family="{escape(SANS)}" font-size="14">\n']
    made.append(_text(left, 36, "time per empty operation, glibc, two processors", look.ink, 'font-weight="bold"'))
    x = left
    for name, colour in zip(("OperationEngine", "Dispatch", "Foundation"), look.bars):
        made.append(f'<rect x="{x}" y="50" width="12" height="12" rx="2" fill="{colour}"/>\n')
        made.append(_text(x + 18, 61, name, look.faint))
        x += 40 + 8 * len(name)
    y = 84
    for cell in shown(cells):
        made.append(_text(left, y + 10, cell.name, look.ink))
        for place, (value, colour) in enumerate(zip((cell.times[column] for column in COLUMNS), look.bars)):
            top, width = y + 17 + 13 * place, min(value or 0, FULL) * scale
            if value is None:
                made.append(_text(left, top + 9.5, "not measured", look.faint, 'font-size="11.5"'))
                continue
            made.append(f'<rect x="{left}" y="{top}" width="{width:.1f}" height="10" rx="1.5" fill="{colour}"/>\n')
            if value > FULL:
                # A gap: the bar is longer than the picture shows.
                slant = f"M{right - 40} {top + 12}l8 -14h8l-8 14z"
                made.append(f'<path d="{slant}" fill="{look.paper}"/>\n')
            made.append(_text(left + width + 6, top + 9.5, time(value), look.faint, 'font-size="11.5"'))
        y += 64
    return "".join(made) + "</g>\n"


def shown(cells: list[Cell]) -> list[Cell]:
    """The cells with bars: the greatest gains over Dispatch, and the greatest loss."""
    losses = sorted((cell for cell in cells if cell.is_loss), key=lambda cell: -cell.value)
    return gains(cells)[:5] + losses[:1]
