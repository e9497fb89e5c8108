"""Reads the CSV files of runs, in opbench's current version. Needs only Python."""

import csv
import io
from pathlib import Path

CURRENT = "1"
DAMAGED = "the file is damaged or cut short (opbench run --resume repairs its run)"
Row = dict[str, str]


class BadRows(Exception):
    """The text is not a CSV file of opbench, or has another version."""


def read(path: Path | str) -> list[Row]:
    """The rows of samples.csv, summary.csv or compare.csv, as dictionaries of strings. Raises
    OSError, UnicodeDecodeError and BadRows."""
    with open(path, newline="", encoding="utf-8") as file:
        return parse(file.read(), str(path))


def parse(text: str, name: str) -> list[Row]:
    """The rows of such a text; `name` is for messages. A text without rows is BadRows only if it is not CSV."""
    # strict: an unclosed quote is an error.
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Row] = []
    try:
        columns = next(lines, None)
        if columns is None:
            raise BadRows(f"{name}: the file is empty")
        for fields in lines:
            where = f"{name}, line {lines.line_num}"
            row = dict(zip(columns, fields))
            if (version := row.get("schema_version", CURRENT)) != CURRENT:
                raise BadRows(f"{where}: schema_version is {version!r}, not {CURRENT!r}: use the scripts that came with that opbench")
            if len(fields) != len(columns):
                raise BadRows(f"{where}: {len(fields)} fields where the header has {len(columns)}; {DAMAGED}")
            rows.append(row)
    except csv.Error as error:
        raise BadRows(f"{name}, line {lines.line_num}: {error}; {DAMAGED}") from error
    if not text.endswith("\n"):
        raise BadRows(f"{name}, line {lines.line_num}: the last line is incomplete; {DAMAGED}")
    return rows
