"""Reading one CSV file strictly: a file that is not whole and well-formed is an error, never a smaller table. pandas is
loaded when it is needed: help is given without it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from opbench_plots.errors import BadInput
from opbench_rows import PARAMETER_PREFIX, BadRows, parse

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


@dataclass(frozen=True)
class Table:
    """The rows of a CSV file, all of them text."""

    path: Path
    frame: "DataFrame"

    @property
    def rows(self) -> list[dict[str, str]]:
        """As dictionaries by column name."""
        return self.frame.to_dict("records")

    @property
    def parameters(self) -> list[str]:
        """The names of the `param_<name>` columns, without the prefix."""
        return [name.removeprefix(PARAMETER_PREFIX) for name in self.frame if name.startswith(PARAMETER_PREFIX)]

    def numbers(self, column: str, rows: "DataFrame | None" = None) -> "Series":
        """The figures of a column, of all rows or of some; NaN where the file holds none."""
        import numpy
        import pandas

        rows = self.frame if rows is None else rows
        texts = rows[column].mask(rows[column] == "")
        values = pandas.to_numeric(texts.where(texts.str.fullmatch(_NUMBER).fillna(False).astype(bool)))
        bad = rows[texts.notna() & ~numpy.isfinite(values)]
        if not bad.empty:
            row = bad.iloc[0]
            raise BadInput(f"{self.path}: {column} of {_place(row)} is {row[column]!r}, not a number")
        return values.astype(float)

    def positive(self, column: str) -> "Series":
        """Like `numbers`, for figures that cannot be zero or less."""
        values = self.numbers(column)
        bad = self.frame[values <= 0]
        if not bad.empty:
            row = bad.iloc[0]
            raise BadInput(f"{self.path}: {column} of {_place(row)} is {row[column]}, which must be above 0")
        return values


def read_table(path: Path, required: Sequence[str]) -> Table:
    """Reads `path`, which must hold the `required` columns of today, or what they were in a former version, and at least
    one row."""
    from pandas import DataFrame

    # Not by pandas, which fills up rows that are cut short.
    try:
        columns, rows = parse(_read_text(path), str(path))
    except BadRows as error:
        raise BadInput(str(error)) from error
    _check_columns(path, columns, required)
    if not rows:
        raise BadInput(f"{path}: a header but no rows; the run has measured nothing yet")
    return Table(path, DataFrame(rows, columns=columns, dtype=str))


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


def figure_words(row: dict[str, str]) -> str:
    """What a row is a figure of: `time`, `start latency p99`."""
    parts = [row["metric"].replace("_", " "), row["phase"], row["operation_class"], row["stat"]]
    return " ".join(dict.fromkeys(part for part in parts if part and part != "total"))


def _place(row: "Series") -> str:
    return f"cell {row['cell_id']}, backend {row['backend']}"
