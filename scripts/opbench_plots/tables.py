"""Reading one CSV file strictly: a file that is not whole and well-formed is an error, never a smaller table."""

import csv
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path

from opbench_plots.errors import BadInput

SCHEMA_VERSION = "1"
PARAMETER_PREFIX = "param."

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DAMAGED = "the file is damaged or cut short (opbench run --resume mends the run that it belongs to)"


class Table:
    """The rows of a CSV file as dictionaries by column name."""

    def __init__(self, path: Path, columns: list[str], rows: list[dict[str, str]]):
        self.path = path
        self.columns = columns
        self.rows = rows

    @property
    def parameters(self) -> list[str]:
        """The names of the `param.<name>` columns, without the prefix."""
        return [name.removeprefix(PARAMETER_PREFIX) for name in self.columns if name.startswith(PARAMETER_PREFIX)]


def read_table(path: Path, required: Sequence[str]) -> Table:
    """Reads `path`, which must hold the `required` columns and at least one row of our schema version."""
    text = _read_text(path)
    # strict: a quote that is never closed, as in a file cut short, is an error.
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = next(lines)
        _check_columns(path, columns, required)
        rows = []
        for fields in lines:
            if len(fields) != len(columns):
                found = f"{len(fields)} fields where the header has {len(columns)}"
                raise BadInput(f"{path}, line {lines.line_num}: {found}; {_DAMAGED}")
            row = dict(zip(columns, fields, strict=True))
            _check_version(path, lines.line_num, row)
            rows.append(row)
    except csv.Error as error:
        raise BadInput(f"{path}, line {lines.line_num}: {error}; {_DAMAGED}") from error
    if not text.endswith("\n"):
        raise BadInput(f"{path}, line {lines.line_num}: the last line has no end; {_DAMAGED}")
    if not rows:
        raise BadInput(f"{path}: a header but no rows; the run has measured nothing yet")
    return Table(path, columns, rows)


def number(path: Path, row: dict[str, str], column: str) -> float | None:
    """The figure in `column`, or None where the file holds none."""
    text = row[column]
    if text == "":
        return None
    if not _NUMBER.fullmatch(text) or not math.isfinite(value := float(text)):
        raise BadInput(f"{path}: {column} of {_place(row)} is {text!r}, not a number")
    return value


def positive(path: Path, row: dict[str, str], column: str) -> float | None:
    """Like `number`, for figures that cannot be zero or less."""
    value = number(path, row, column)
    if value is not None and value <= 0:
        raise BadInput(f"{path}: {column} of {_place(row)} is {row[column]}, which must be above 0")
    return value


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise BadInput(f"{path}: no such file; is {path.parent} the folder of a run?") from error
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    if not data.strip():
        raise BadInput(f"{path}: the file is empty")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 text at byte {error.start}") from error


def _check_columns(path: Path, columns: list[str], required: Sequence[str]) -> None:
    missing = [name for name in required if name not in columns]
    if missing:
        raise BadInput(f"{path}: no column {', '.join(missing)}; is this a file of opbench?")
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise BadInput(f"{path}: more than one column {', '.join(twice)}")


def _check_version(path: Path, line: int, row: dict[str, str]) -> None:
    version = row["schema_version"]
    if version != SCHEMA_VERSION:
        raise BadInput(f"{path}, line {line}: schema_version is {version!r}; this program reads {SCHEMA_VERSION}")


def _place(row: dict[str, str]) -> str:
    return f"cell {row['cell_id']}, backend {row['backend']}"
