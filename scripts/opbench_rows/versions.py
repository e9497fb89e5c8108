"""What former versions of the files were like, and how their rows become those of today."""

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

CURRENT = 3
PARAMETER_PREFIX = "param_"
Row = dict[str, str]

_FORMER_PREFIX = "param."
_NAMES = {"class": "operation_class", "flags": "sample_flags", "makespan_s": "makespan_ns"}
_SIDES = {"base": "base_value", "head": "head_value"}
_HISTOGRAM = ("sample_id", "stage", "class", "upper_bound_ns", "count")
# The metrics that were in seconds. No version to come adds one.
_TIMES = frozenset(
    {
        "time", "cpu_time", "process_cpu_time", "ready_latency", "start_latency", "run_time", "end_latency",
        "notify_latency", "submit_latency", "intended_latency", "service_latency", "submit_lag", "longest_wait",
        "quiesce_time", "resume_to_start", "probe_cost", "anchor_time", "steal_time", "cpu_pressure", "foreign_time",
        "throttled_time", "release_time",
    }
)  # fmt: skip
_RATE = "throughput_ops_per_s"
_TIME = "time_ns_per_op"
_BEFORE_HOST = "timestamp_utc"


def version_of(columns: Sequence[str], first: Sequence[str] | None) -> str:
    """The version of a file, as its first row names it, or its columns tell."""
    if "schema_version" in columns and first is not None:
        place = columns.index("schema_version")
        return first[place] if place < len(first) else ""
    is_former = any(name in _NAMES or name.startswith(_FORMER_PREFIX) for name in columns)
    return "1" if is_former else str(CURRENT)


def is_histogram_file(columns: Sequence[str]) -> bool:
    return tuple(columns) == _HISTOGRAM


def completed(columns: Sequence[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """The columns and rows of a file of version 2 as those of version 3, in which samples.csv names the host."""
    place = columns.index(_BEFORE_HOST) + 1 if _BEFORE_HOST in columns and "host" not in columns else None
    versioned = columns.index("schema_version") if "schema_version" in columns else None
    for fields in rows:
        if len(fields) != len(columns):
            continue
        if versioned is not None:
            fields[versioned] = str(CURRENT)
        if place is not None:
            fields.insert(place, "")
    names = list(columns)
    return (names if place is None else [*names[:place], "host", *names[place:]]), rows


def converted(columns: Sequence[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """The columns and rows of a file of version 1, which may be any but histograms.csv, as those of version 2."""
    names = [_name(name, columns) for name in columns]
    convert = _conversion(names, columns)
    added = [_TIME + end for end in ("", "_ci_low", "_ci_high")] if _RATE in names and _TIME not in names else []
    place = names.index(_RATE) if added else 0
    for fields in rows:
        if len(fields) != len(columns):
            # Whoever reads them says what is wrong.
            continue
        convert(fields)
        if added:
            ends = (_RATE, f"{_RATE}_ci_high", f"{_RATE}_ci_low")
            fields[place:place] = [_turned_over(fields[names.index(end)] if end in names else "") for end in ends]
    return names[:place] + added + names[place:], rows


def _name(name: str, columns: Sequence[str]) -> str:
    if name.startswith(_FORMER_PREFIX):
        return PARAMETER_PREFIX + name.removeprefix(_FORMER_PREFIX)
    if name in _SIDES and "verdict" in columns:
        return _SIDES[name]
    return _NAMES.get(name, name)


def _conversion(names: Sequence[str], columns: Sequence[str]) -> Callable[[list[str]], None]:
    """Turns the seconds of a row into nanoseconds, in place."""
    places = {name: index for index, name in enumerate(names)}
    unit, metric, against = (places.get(name) for name in ("unit", "metric", "against"))
    times = [places[name] for name in ("value", "base_value", "head_value") if name in places]
    bounds = [places[name] for name in ("ci_low", "ci_high", "at_most") if name in places and against is not None]
    makespan = places["makespan_ns"] if "makespan_s" in columns else None

    def convert(fields: list[str]) -> None:
        if makespan is not None:
            fields[makespan] = nanoseconds(fields[makespan])
        is_time = fields[unit] == "s" if unit is not None else metric is not None and fields[metric] in _TIMES
        if is_time:
            # Of a ratio, these are no times.
            for place in times + (bounds if bounds and not fields[against] else []):
                fields[place] = nanoseconds(fields[place])
            if unit is not None:
                fields[unit] = "ns"

    return convert


def nanoseconds(seconds: str) -> str:
    """A figure in seconds in nanoseconds, digit by digit; what is no figure stays, for the reader to say so."""
    try:
        figure = Decimal(seconds) * 10**9
    except InvalidOperation:
        return seconds
    if not figure.is_finite():
        return seconds
    return format(figure.quantize(Decimal(1)) if figure == figure.to_integral_value() else figure.normalize(), "f")


def _turned_over(rate: str) -> str:
    """The time of one operation in nanoseconds, from operations a second."""
    try:
        return repr(1e9 / float(rate)) if rate and float(rate) > 0 else ""
    except ValueError:
        return rate
