"""What was counted and measured: measured.json beside this file, and runs of opbench."""

import json
import random
import statistics
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine_scaling.model import Kind
from opbench_rows import BadRows, read

MEASURED = Path(__file__).with_name("measured.json")


class BadInput(Exception):
    """A file or a run is not usable as given: exit code 64."""

    exit_code = 64


@dataclass(frozen=True)
class Check:
    """Throughput with two workers ÷ that with one, with the range of 95 % of the resampled blocks."""

    kind: str
    work_ns: int
    blocks: int
    # What one worker takes for an operation, the work included.
    turn_ns: float
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Measured:
    machine: str
    load: str
    # From one processor to the other, one way: the median and the range of most series.
    transfer_ns: tuple[float, float, float]
    # By kind: the part of one worker's instructions that is executed under the queue's lock, and the fetches in a row.
    locked_share: dict[str, float]
    fetches: dict[str, int]
    checks: list[Check]

    def kind(self, name: str) -> Kind:
        """As measured without work."""
        for check in self.checks:
            if check.kind == name and check.work_ns == 0:
                return Kind(name, check.turn_ns, check.turn_ns * self.locked_share[name], self.fetches[name])
        raise BadInput(f"{MEASURED.name}: {name} was not measured without work")

    @property
    def fetch(self) -> float:
        """A transfer is two fetches: the one writes a line that the other has read, and that reads what was written."""
        return self.transfer_ns[0] / 2

    @property
    def kinds(self) -> list[Kind]:
        return [self.kind(name) for name in dict.fromkeys(check.kind for check in self.checks)]


def load(path: Path = MEASURED) -> Measured:
    try:
        fields: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        middle, low, high = fields["transfer_ns"]
        return Measured(
            fields["machine"], fields["load"], (middle, low, high), fields["locked_share"], fields["fetches"],
            [Check(**check) for check in fields["checks"]],
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: {error}") from None


def save(measured: Measured, path: Path = MEASURED) -> None:
    path.write_text(json.dumps(asdict(measured), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


# Which kind of operation a cell's are.
def _kind(row: dict[str, str]) -> str | None:
    if row["workload"] == "memory-fence":
        return row.get("param_form")
    return {"diamonds": "diamond", "chain": "chain"}.get(row["workload"])


def checks(folders: list[Path]) -> list[Check]:
    """Of the engine's cells that were measured at limit 1 and at limit 2: the draining of what all waited at once."""
    times: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for folder in folders:
        try:
            rows = read(folder / "samples.csv")
        except (OSError, UnicodeDecodeError, BadRows) as error:
            raise BadInput(str(error)) from None
        for row in rows:
            kind = _kind(row)
            if row["metric"] == "time" and row["phase"] == "drain" and row["backend"] == "engine" and kind:
                time = float(row["value"]) / int(row["operations"])
                times[kind, int(row["param_work_ns"])][row["param_max_concurrent"]].append(time)
    found = [
        _check(kind, work, limits["1"], limits["2"])
        for (kind, work), limits in times.items()
        if limits["1"] and limits["2"]
    ]
    if not found:
        raise BadInput("no cell was measured at limit 1 and at limit 2")
    order = {kind: place for place, kind in enumerate(("closure", "block", "subclass", "chain", "diamond"))}
    return sorted(found, key=lambda check: (order.get(check.kind, 9), check.work_ns))


def _check(kind: str, work: int, one: list[float], two: list[float]) -> Check:
    generator = random.Random(1)
    ratios = sorted(
        statistics.median(generator.choices(one, k=len(one))) / statistics.median(generator.choices(two, k=len(two)))
        for _ in range(2000)
    )
    turn = statistics.median(one)
    return Check(
        kind, work, min(len(one), len(two)), round(turn, 1), round(turn / statistics.median(two), 3),
        round(ratios[50], 3), round(ratios[-51], 3),
    )  # fmt: skip
