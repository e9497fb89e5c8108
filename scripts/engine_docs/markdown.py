"""Markdown tables."""

from collections.abc import Iterable


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Cells are one line each; a bar in one would end it."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
