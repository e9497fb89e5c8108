"""Tables of text for a terminal."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A title, and whether what stands under it begins at the left."""

    title: str
    is_text: bool = False


def write_table(columns: list[Column], rows: list[list[str]]) -> None:
    """Prints aligned columns, two spaces apart."""
    widths = [max(len(column.title), *(len(row[place]) for row in rows)) for place, column in enumerate(columns)]
    for row in [[column.title for column in columns], ["-" * width for width in widths], *rows]:
        cells = [
            cell.ljust(width) if column.is_text else cell.rjust(width)
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        print("  ".join(cells).rstrip())
