"""Reading: text to rows, each as wide as the header says, in the columns and units of today."""

import csv
import io
from pathlib import Path
from typing import NamedTuple

from opbench_rows.versions import CURRENT, Row, completed, converted, is_histogram_file, version_of


class BadRows(Exception):
    """The text is no CSV file of opbench, or one of a version that is not known."""


class Rows(NamedTuple):
    columns: list[str]
    # As wide as the columns.
    fields: list[list[str]]

    def dictionaries(self) -> list[Row]:
        return [dict(zip(self.columns, fields, strict=True)) for fields in self.fields]


def read(path: Path | str) -> list[Row]:
    """The rows of samples.csv, summary.csv, figures.csv, compare.csv, goals.csv or noise-floors.csv, as dictionaries of
    texts. Raises OSError, UnicodeDecodeError and BadRows."""
    with open(path, newline="", encoding="utf-8") as file:
        return parse(file.read(), str(path)).dictionaries()


def parse(text: str, name: str) -> Rows:
    """The rows of such a text; `name` is for messages. A text without rows is BadRows only if it is no CSV."""
    # strict: a quote that is never closed is an error.
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    damaged = "the file is damaged or cut short (opbench run --resume mends the run that it belongs to)"
    rows: list[list[str]] = []
    try:
        columns = next(lines, None)
        if columns is None:
            raise BadRows(f"{name}: the file is empty")
        for fields in lines:
            if not rows:
                _check_version(columns, fields, name)
            if len(fields) != len(columns):
                found = f"{len(fields)} fields where the header has {len(columns)}"
                raise BadRows(f"{name}, line {lines.line_num}: {found}; {damaged}")
            rows.append(fields)
    except csv.Error as error:
        raise BadRows(f"{name}, line {lines.line_num}: {error}; {damaged}") from error
    if not text.endswith("\n"):
        raise BadRows(f"{name}, line {lines.line_num}: the last line has no end; {damaged}")
    version = version_of(columns, rows[0] if rows else None)
    if "schema_version" in columns:
        place = columns.index("schema_version")
        for other in {fields[place] for fields in rows} - {version}:
            raise BadRows(f"{name}: rows of the versions {version!r} and {other!r} in one file")
    if version == "1" and not is_histogram_file(columns):
        columns, rows = converted(columns, rows)
    if version in ("1", "2") and not is_histogram_file(columns):
        columns, rows = completed(columns, rows)
    return Rows(columns, rows)


def _check_version(columns: list[str], first: list[str], name: str) -> None:
    version = version_of(columns, first)
    if version.isdecimal() and 1 <= int(version) <= CURRENT:
        return
    if version.isdecimal() and int(version) > CURRENT:
        raise BadRows(
            f"{name}: schema_version {version} is newer than these scripts know, which is {CURRENT}: take those of the "
            "opbench that wrote it"
        )
    raise BadRows(f"{name}: schema_version is {version!r}; known are 1 to {CURRENT}")


class Histogram(NamedTuple):
    """One histogram of one sample."""

    workload: str
    cell_id: str
    backend: str
    side: str
    sample_id: str
    stage: str
    operation_class: str
    # The greatest latency of each bucket in nanoseconds, ascending, and how many fell into it.
    upper_bounds: list[int]
    counts: list[int]


def histograms(folder: Path | str) -> list[Histogram]:
    """The histograms of a run's folder. Those of version 1 do not tell whose they are: samples.csv must be there."""
    path = Path(folder) / "histograms.csv"
    with open(path, newline="", encoding="utf-8") as file:
        columns, rows = parse(file.read(), str(path))
    if not is_histogram_file(columns):
        return [_histogram(dict(zip(columns, fields, strict=True)), path) for fields in rows]
    owners = {row["sample_id"]: row for row in read(Path(folder) / "samples.csv")}
    found: dict[tuple[str, ...], Histogram] = {}
    for sample, stage, operation_class, bound, count in rows:
        if (owner := owners.get(sample)) is None:
            continue
        place = (sample, stage, operation_class)
        if place not in found:
            whose = [owner[name] for name in ("workload", "cell_id", "backend", "side")]
            found[place] = Histogram(*whose, *place, [], [])
        found[place].upper_bounds.append(int(bound))
        found[place].counts.append(int(count))
    return list(found.values())


def _histogram(row: Row, path: Path) -> Histogram:
    whose = [row[name] for name in Histogram._fields[:7]]
    try:
        bounds, counts = ([int(word) for word in row[name].split()] for name in ("upper_bounds_ns", "counts"))
    except ValueError as error:
        raise BadRows(f"{path}: a histogram of {row['sample_id']} is no list of numbers: {error}") from error
    if len(bounds) != len(counts):
        raise BadRows(f"{path}: a histogram of {row['sample_id']} has {len(bounds)} buckets and {len(counts)} counts")
    return Histogram(*whose, bounds, counts)
