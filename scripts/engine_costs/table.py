"""Text tables for a terminal, made with rich, which is loaded only when needed: help works without it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A title, and whether its cells are aligned left."""

    title: str
    is_text: bool = False


def write_table(columns: list[Column], rows: list[list[str]]) -> None:
    """Prints aligned columns, two spaces apart, within the terminal's width; without a terminal, the width is unlimited."""
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table

    under_header = Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
    table = Table(box=under_header, show_edge=False, pad_edge=False, collapse_padding=True, header_style="")
    for column in columns:
        table.add_column(column.title, justify="left" if column.is_text else "right", no_wrap=not column.is_text)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = console.measure(table, options=console.options.update(width=10_000)).maximum
    console.print(table)
