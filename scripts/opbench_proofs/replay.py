"""A replay takes the time that its recording implies: latencies are those of a schedule that is computed from the columns."""

import argparse
import heapq
import json
import math
import random
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from opbench_proofs.tool import OpBench, ToolFailure
from opbench_rows import read

ROOT = Path(__file__).resolve().parents[2]
BACKENDS = ("engine", "dispatch")
OPERATIONS = 1000
LIMIT = 2
"""No higher than the processors of the smallest machines: above, a pool adds threads only when it finds others blocked."""
OTHER_LIMITS = (1,)
SPEEDS = (1.0, 1.5)
STATS = ("p50", "p99")
MOST_RECORDED, MOST_CHANGED = 0.10, 0.15
"""The greatest differences from the schedule, as it was recorded, and with another limit or speed."""


@dataclass
class Load:
    """A recording of operations whose bodies mostly wait, for milliseconds: a busy machine changes little, and so do wake-ups."""

    gaps: list[int]
    work: list[int]
    waits: list[int]
    predecessors: dict[int, int]

    @staticmethod
    def draw(seed: int) -> "Load":
        """Poisson arrivals, exponential bodies, and every tenth operation after the one before it."""
        random_ = random.Random(seed)
        return Load(
            [0] + [round(random_.expovariate(1 / 10e6)) for _ in range(OPERATIONS - 1)],
            [20_000] * OPERATIONS,
            [1_000_000 + round(random_.expovariate(1 / 4e6)) for _ in range(OPERATIONS)],
            {operation: operation - 1 for operation in range(9, OPERATIONS, 10)},
        )

    def columns(self) -> dict[str, list[int]]:
        """The load as a workload has it."""
        waiting = sorted(self.predecessors)
        return {
            "limits": [LIMIT],
            "gaps_ns": self.gaps,
            "cpu_ns": self.work,
            "wait_ns": self.waits,
            "dependency_steps": [second - first for first, second in zip([0, *waiting], waiting, strict=False)],
            "dependency_distances": [operation - self.predecessors[operation] for operation in waiting],
        }

    def latencies(self, limit: int, speed: float) -> list[float]:
        """From arrival to end, in ns, if operations start in the order in which they become ready, at most `limit` at once."""
        arrivals, instant = [], 0.0
        for gap in self.gaps:
            instant += gap / speed
            arrivals.append(instant)
        followers = {predecessor: operation for operation, predecessor in self.predecessors.items()}
        # Ready operations by instant; an operation with a predecessor becomes ready when that one ends.
        ready = [(arrivals[one], one) for one in range(len(self.gaps)) if one not in self.predecessors]
        heapq.heapify(ready)
        slots, latencies = [0.0] * limit, [0.0] * len(self.gaps)
        while ready:
            since, operation = heapq.heappop(ready)
            end = max(since, heapq.heappop(slots)) + self.work[operation] + self.waits[operation]
            heapq.heappush(slots, end)
            latencies[operation] = end - arrivals[operation]
            if (follower := followers.get(operation)) is not None:
                heapq.heappush(ready, (max(arrivals[follower], end), follower))
        return latencies


def statistic(values: list[float], stat: str) -> float:
    """A percentile, as opbench defines it."""
    return sorted(values)[math.ceil(int(stat[1:]) / 100 * len(values)) - 1]


@dataclass
class Claim:
    """One statistic of one cell on one backend."""

    backend: str
    limit: int
    speed: float
    stat: str
    computed_ms: float
    measured_ms: float

    @property
    def difference(self) -> float:
        """The relative difference from the schedule."""
        return self.measured_ms / self.computed_ms - 1

    @property
    def held(self) -> bool:
        """Whether the difference is small enough."""
        most = MOST_RECORDED if (self.limit, self.speed) == (LIMIT, SPEEDS[0]) else MOST_CHANGED
        return abs(self.difference) <= most


def prove(tool: OpBench, blocks: int) -> list[Claim]:
    """Measures all cells and compares each statistic with the schedule."""
    load = Load.draw(seed=1)
    workload = {
        "name": "proof-replay", "summary": "Poisson arrivals, bodies that wait", "shape": "replay",
        "parameters": {"recording": load.columns(), "limit": ["recorded", *OTHER_LIMITS], "speed": list(SPEEDS)},
        "backends": list(BACKENDS), "sample_kinds": ["latency"],
    }  # fmt: skip
    tool.run("run", tool.write("replay.json", workload), "--run-id", "replay", "--no-progress", "--blocks", str(blocks))
    found: dict[tuple[str, int, float, str], list[float]] = {}
    for row in read(tool.samples("replay")):
        if row["metric"] == "intended_latency" and row["stat"] in STATS and row["status"] == "ok" and not row["operation_class"]:
            limit = LIMIT if row["param_limit"] == "recorded" else int(row["param_limit"])
            key = row["backend"], limit, float(row["param_speed"]), row["stat"]
            found.setdefault(key, []).append(float(row["value"]))
    return [
        Claim(*key, statistic(load.latencies(*key[1:3]), key[3]) / 1e6, median(values) / 1e6)
        for key, values in sorted(found.items())
    ]


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(64, f"prove-replay: {message}\nSee scripts/prove-replay --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    parser = Arguments(prog="prove-replay", allow_abbrev=False, add_help=False)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--short", action="store_true")
    parsed = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="prove-replay-"))
    try:
        claims = prove(OpBench(parsed.binary, folder), 1 if parsed.short else 7)
    except ToolFailure as failure:
        print(f"prove-replay: {failure}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder)
    for one in claims:
        print(
            f"{one.backend}, limit {one.limit}, speed {one.speed:g}: {one.stat} computed {one.computed_ms:.3f} ms, "
            f"measured {one.measured_ms:.3f} ms ({one.difference:+.1%}){'' if one.held else ' DID NOT HOLD'}"
        )
    proofs = ROOT / "results" / "proofs"
    proofs.mkdir(parents=True, exist_ok=True)
    figures = [asdict(one) | {"held": one.held} for one in claims]
    (proofs / "replay.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0 if claims and all(one.held for one in claims) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
