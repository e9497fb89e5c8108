"""Gates drawn from recorded blocks: each is a separate run of really measured blocks, from another time."""

import csv
import os
import random
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from opbench_proofs.tool import INCONCLUSIVE, PASS, Gate, OpBench
from opbench_rows import read

Row = dict[str, str]
STAGES = (7, 15, 25, 40)
"""The stages of `opbench ab`."""
COUNTS = (2, 7)
"""The number of samples that `opbench ab` takes of counts: at first, and if they do not agree or differ between the sides."""
Draw = Callable[[OpBench, random.Random, str], Gate]
"""Draws and judges a gate with these random numbers, in folders with this name."""


class Recording:
    """The rows of a run of two sides, by block."""

    def __init__(self, samples: Path) -> None:
        recorded = read(samples)
        self.columns = list(recorded[0]) if recorded else []
        self.description = samples.with_name("run.json")
        again = {slot(row) for row in recorded if "rerun" in row["sample_flags"]}
        rows = [row for row in recorded if "rerun" in row["sample_flags"] or slot(row) not in again]
        by_flavour: dict[str, dict[int, list[Row]]] = {}
        for row in rows:
            by_flavour.setdefault(flavour(row), {}).setdefault(int(row["block"]), []).append(row)
        self.blocks: dict[int, list[Row]] = by_flavour.pop("throughput", None) or by_flavour.pop("latency", {})
        """Blocks of throughput samples; of latency samples for a workload without throughput."""
        self.others = {name: blocks for name, blocks in by_flavour.items() if name != "check"}
        """Blocks of the other flavours of sample."""

    def numbers(self) -> list[int]:
        return sorted(self.blocks)

    def draw(self, numbers: Iterable[int], change: Callable[[Row], Row | None] = lambda row: row) -> list[Row]:
        """The rows of these blocks, renumbered from 0; `change` may alter a copy of a row or drop it."""
        return _numbered(self.blocks, numbers, change)

    def draw_others(self, numbers: dict[str, list[int]], count: int) -> list[Row]:
        """The rows of the first `count` of these blocks of other flavours, renumbered from 0."""
        return [row for name in numbers for row in _numbered(self.others[name], numbers[name][:count])]

    def write(self, rows: list[Row], folder: Path) -> None:
        """Writes rows as a run, with this one's description."""
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        shutil.copyfile(self.description, folder / "run.json")


def _numbered(
    blocks: dict[int, list[Row]], numbers: Iterable[int], change: Callable[[Row], Row | None] = lambda row: row
) -> list[Row]:
    rows = []
    for place, number in enumerate(numbers):
        for row in blocks[number]:
            drawn = change(dict(row))
            if drawn is not None:
                rows.append(drawn | {"block": str(place), "sample_id": f"{place}x{row['sample_id']}"})
    return rows


def flavour(row: Row) -> str:
    """The sample's flavour, from the end of its id."""
    return row["sample_id"].rpartition("-")[2]


def slot(row: Row) -> tuple[str, ...]:
    """The properties that a sample shares with its repetition."""
    return row["cell_id"], row["backend"], row["side"], row["block"], flavour(row)


def only(side: str, new_side: str = "") -> Callable[[Row], Row | None]:
    """Keeps one side and renames it."""
    return lambda row: row | {"side": new_side} if row["side"] == side else None


def draw_gates(tool: OpBench, count: int, seed: int, draw: Draw) -> list[Gate]:
    """Judges drawn gates, as many at once as there are processors, because nothing is timed.

    Each has its own name, and random numbers that depend only on the seed and its number.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda n: draw(tool, random.Random(f"{seed}.{n}"), f"drawn-{seed}-{n}"), range(count)))


def paired_gate(recording: Recording) -> Draw:
    """Draws gates as `opbench ab` would have measured them: in stages, until nothing is open. All available samples of counts
    are taken as soon as two of each do not pass."""

    def draw(tool: OpBench, random_numbers: random.Random, name: str) -> Gate:
        most = min(STAGES[-1], len(recording.blocks))
        numbers = random_numbers.sample(recording.numbers(), most)
        counts = {
            flavour: random_numbers.sample(sorted(blocks), min(COUNTS[-1], len(blocks)))
            for flavour, blocks in recording.others.items()
        }
        taken = COUNTS[0]
        for stage in STAGES:
            while True:
                rows = recording.draw(numbers[:stage]) + recording.draw_others(counts, taken)
                recording.write(rows, tool.folder / name)
                gate = tool.gate("--ab", name)
                if gate.status == PASS or all(len(drawn) <= taken for drawn in counts.values()):
                    break
                taken = COUNTS[-1]
            if gate.status != INCONCLUSIVE or stage >= most:
                break
        return gate

    return draw


def is_alarm(status: int) -> bool:
    return status not in (PASS, INCONCLUSIVE)
