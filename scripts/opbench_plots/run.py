"""A run's folder: its summary rows, the spread between its samples, and what run.json says of it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from opbench_plots import tables
from opbench_plots.errors import BadInput
from opbench_plots.kept import samples_of
from opbench_plots.tables import Table
from opbench_rows import PARAMETER_PREFIX

if TYPE_CHECKING:
    from pandas import DataFrame, Series

POSITIVE_COLUMNS = (
    "time_ns_per_op",
    "time_ns_per_op_ci_low",
    "time_ns_per_op_ci_high",
    "throughput_ops_per_s",
    "throughput_ops_per_s_ci_low",
    "throughput_ops_per_s_ci_high",
    "time_ratio",
    "time_ratio_ci_low",
    "time_ratio_ci_high",
)
FIGURE_COLUMNS = (
    "start_latency_p50_ns",
    "start_latency_p99_ns",
    "start_latency_max_ns",
    "inversions",
    "starts_after_suspend",
    "quiesce_p99_ns",
    "resume_to_start_p99_ns",
)
"""Those that every run has; what else stands in summary.csv is read as well."""
IDENTITY_COLUMNS = ("schema_version", "run_id", "workload", "cell_id", "backend", "operation_class", "status")
SUMMARY_COLUMNS = (*IDENTITY_COLUMNS, "samples", "ratio_to", *POSITIVE_COLUMNS, *FIGURE_COLUMNS)
SAMPLE_COLUMNS = (
    *IDENTITY_COLUMNS,
    *("sample_id", "side", "block", "phase", "iteration", "sample_flags", "metric", "stat", "value"),
)
# Metrics that samples.csv has for all rounds of a sample together, and summary.csv for one round: samples repeat a cell's
# plan as often as it takes to last long enough.
COUNTED_BY_ROUND = frozenset({"inversions", "starts_after_suspend"})
_TEXTS = frozenset({*IDENTITY_COLUMNS, "side", "samples", "sample_flags", "ratio_to", "axis"})
RATIO = "time_ratio"


@dataclass(frozen=True)
class Cell:
    """One point of a workload's parameters."""

    workload: str
    parameters: tuple[tuple[str, str], ...]

    def value(self, parameter: str) -> str:
        """The parameter's value as text, empty where the workload has no such parameter."""
        return dict(self.parameters).get(parameter, "")


class Slot(NamedTuple):
    """Where a figure belongs: a cell on a backend, and the class of operations, if it is restricted to one."""

    cell: Cell
    backend: str
    operation_class: str


@dataclass(frozen=True)
class SummaryRow:
    """One row of summary.csv; an absent figure is absent from `figures`."""

    slot: Slot
    cell_id: str
    status: str
    ratio_to: str
    figures: dict[str, float]


@dataclass
class Run:
    """All that the figures show of one run."""

    name: str
    rows: list[SummaryRow]
    # (slot, metric, stat) → one value per sample, in the quantity of summary.csv.
    samples: dict[tuple[Slot, str, str], list[float]] = field(default_factory=dict)
    # The ids of the sound samples that were not taken again.
    counted: set[str] = field(default_factory=set)
    # (cell_id, backend, kind of sample) of which at least half of the samples were taken in a storm.
    noisy: set[tuple[str, str, str]] = field(default_factory=set)
    # Workload name → shape, as far as run.json tells.
    shapes: dict[str, str] = field(default_factory=dict)
    # Lines about where the run was measured.
    conditions: list[str] = field(default_factory=list)
    # What was missing, for the user.
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Adds a line for the user, once."""
        if text not in self.notes:
            self.notes.append(text)


def load_run(folder: Path) -> Run:
    """Reads a run's folder. summary.csv must be there; without samples or run.json the figures show less."""
    summary = tables.read_table(folder / "summary.csv", SUMMARY_COLUMNS)
    run = Run(name=_run_id(summary), rows=_summary_rows(summary))
    if "side" in summary.frame and (sides := sorted(set(summary.frame["side"]) - {""})):
        raise BadInput(f"{summary.path}: a run of two builds ({', '.join(sides)}), which its compare.csv tells about")
    _check_unique(summary.path, run.rows)
    samples = samples_of(folder)
    if samples.exists():
        table = tables.read_table(samples, SAMPLE_COLUMNS)
        run.samples = _sample_values(table)
        run.counted = set(_counted(table)["sample_id"])
        run.noisy = _noisy(table)
    else:
        run.notes.append(f"no {samples}: no CPU share, no nice value, no percentiles, no spread between samples")
    description = folder / "run.json"
    if description.exists():
        document = _read_json(description)
        run.shapes = _shapes(description, document)
        if not run.shapes:
            run.notes.append(f"{description} names no workloads: shapes are inferred from the parameters")
        run.conditions = _conditions(document)
    else:
        run.notes.append(f"no {description}: shapes are inferred from the parameters")
    return run


def sides_of(folder: Path) -> list[str]:
    """The builds that a run compares; empty for a run of one."""
    frame = tables.read_table(folder / "summary.csv", SUMMARY_COLUMNS).frame
    return sorted(set(frame["side"]) - {""}) if "side" in frame else []


def _run_id(summary: Table) -> str:
    names = sorted(set(summary.frame["run_id"]))
    if len(names) != 1:
        raise BadInput(f"{summary.path}: rows of several runs: {', '.join(names)}")
    return names[0]


def _slot(parameters: list[str], row: "Mapping[str, str] | Series") -> Slot:
    values = ((name, row[PARAMETER_PREFIX + name]) for name in parameters)
    cell = Cell(row["workload"], tuple((name, value) for name, value in values if value != ""))
    return Slot(cell, row["backend"], row["operation_class"])


def _summary_rows(table: Table) -> list[SummaryRow]:
    figures = {name: table.positive(name) for name in POSITIVE_COLUMNS}
    others = (name for name in table.frame if name not in _TEXTS and name not in figures)
    figures |= {name: table.numbers(name) for name in others if not name.startswith(PARAMETER_PREFIX)}
    unpromised = {
        (row["cell_id"], row["backend"])
        for row in table.rows
        if "unpromised" in row.get("sample_flags", "").split(";")
    }
    axes = {(row["cell_id"], row["backend"]): row["axis"] for row in table.rows if row.get("axis")}

    def tells(name: str, row: Mapping[str, str]) -> bool:
        """A ratio does not where one of the two does not promise what the shape is about, or the two are on different axes."""
        pair = {(row["cell_id"], backend) for backend in (row["backend"], row["ratio_to"])}
        return not (name.startswith(RATIO) and (pair & unpromised or len({axes[key] for key in pair & axes.keys()}) > 1))

    return [
        SummaryRow(
            slot=_slot(table.parameters, row),
            cell_id=row["cell_id"],
            status=row["status"],
            ratio_to=row["ratio_to"],
            figures={
                name: float(values[index])
                for name, values in figures.items()
                if values.notna()[index] and tells(name, row)
            },
        )
        for index, row in enumerate(table.rows)
    ]


def _check_unique(path: Path, rows: list[SummaryRow]) -> None:
    seen = set()
    for row in rows:
        if row.slot in seen:
            cell, backend, operation_class = row.slot
            raise BadInput(
                f"{path}: two rows for workload {cell.workload}, backend {backend}, class {operation_class!r}"
            )
        seen.add(row.slot)


def _sample_values(table: Table) -> dict[tuple[Slot, str, str], list[float]]:
    """The samples' figures as the summary takes them: of sound samples outside the warm-up, without those that were
    taken again, and by round where the summary counts by round."""
    rows = _counted(table)
    rows = rows.assign(number=table.numbers("value", rows)).dropna(subset="number")
    sample = ["cell_id", "backend", "sample_id"]
    rounds = rows[(rows["metric"] == "rounds") & (rows["operation_class"] == "")].drop_duplicates(sample, keep="last")
    rows = rows.merge(rounds[[*sample, "number"]], how="left", on=sample, suffixes=("", "_of_rounds"))
    by_round = rows["metric"].isin(COUNTED_BY_ROUND)
    rows["number"] /= rows["number_of_rounds"].fillna(1).clip(lower=1).where(by_round, 1)
    parameters = table.parameters
    values = {}
    for _, group in rows.groupby(["cell_id", "backend", "operation_class", "metric", "stat"], sort=False):
        first = group.iloc[0]
        values[_slot(parameters, first), first["metric"], first["stat"]] = group["number"].tolist()
    return values


def _counted(table: Table) -> "DataFrame":
    """The rows that count, without those of samples that were taken again."""
    rows = table.frame[counts(table.frame)]
    return rows[~_is_superseded(rows)]


def _noisy(table: Table) -> set[tuple[str, str, str]]:
    """Of which cells, backends and kinds of sample at least half of the samples are flagged `noisy`."""
    samples = _counted(table).drop_duplicates(["cell_id", "backend", "sample_id"])
    is_noisy = samples["sample_flags"].str.split(";").map(lambda flags: "noisy" in flags).astype(bool)
    kind = samples["sample_id"].str.partition("-")[2]
    share = is_noisy.groupby([samples["cell_id"], samples["backend"], kind]).mean()
    return set(share[share >= 0.5].index)


def counts(rows: "DataFrame") -> "Series":
    """Which rows are of a sound sample outside the warm-up, and of all its rounds."""
    is_whole = (rows["iteration"] == "") & (rows["side"] == "")
    return (rows["status"] == "ok") & (rows["phase"] != "warmup") & is_whole


def _is_superseded(rows: "DataFrame") -> "Series":
    """Whether a sample was taken again. It and the other have the kind, which ends the id, and the block in common."""
    is_rerun = rows["sample_flags"].str.split(";").map(lambda flags: "rerun" in flags).astype(bool)
    kind = rows["sample_id"].str.partition("-")[2]
    was_rerun = is_rerun.groupby([rows["cell_id"], rows["backend"], kind, rows["block"]]).transform("any")
    return was_rerun & ~is_rerun


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise BadInput(f"{path}: holds no JSON object")
    return document


def _shapes(path: Path, document: dict[str, Any]) -> dict[str, str]:
    """Each workload's shape, from the texts of the workload files that run.json keeps."""
    shapes = {}
    for position, entry in enumerate(document.get("workloads") or []):
        try:
            workload = json.loads(entry["text"])
            shapes[str(workload["name"])] = str(workload["shape"])
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{path}: $.workloads[{position}].text holds no workload: {error}") from error
    return shapes


def _conditions(document: dict[str, Any]) -> list[str]:
    """Where and how the run was measured, each fact only if it is told."""
    # The class of a host names its CPU.
    parts = [document.get("host_class") or document.get("cpu") or ""]
    if allocator := document.get("allocator"):
        # A build from a release's source tree adds its commit to the version: too long for a title.
        parts.append("allocator " + re.sub(r"-\d+-g[0-9a-f]+$", "", str(allocator)))
    if document.get("configuration", "release") != "release":
        parts.append(f"{document['configuration']} build")
    if document.get("quick"):
        parts.append("quick")
    if document.get("state", "finished") != "finished":
        parts.append(f"not complete ({document['state']})")
    return [str(part) for part in parts if part]
