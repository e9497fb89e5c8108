"""A replay takes the time that its columns imply: latencies are those of a computed schedule."""

import heapq
import random
from dataclasses import dataclass

from opbench_proofs.replay_claims import Claim, figures, percentile
from opbench_proofs.tool import OpBench

BACKENDS = ("engine", "dispatch")
OPERATIONS = 1000
LIMIT = 2
"""No higher than the processors of the smallest machines: above, a pool adds threads only when it finds others blocked."""
OTHER_LIMITS = (1,)
SPEEDS = (1.0, 1.5)
STATS = ("p50", "p99")


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


def claims(tool: OpBench, blocks: int) -> list[Claim]:
    """Measures all cells and compares each percentile with the schedule."""
    load = Load.draw(seed=1)
    workload = {
        "name": "proof-replay", "summary": "Poisson arrivals, bodies that wait", "shape": "replay",
        "parameters": {"recording": load.columns(), "limit": ["recorded", *OTHER_LIMITS], "speed": list(SPEEDS)},
        "backends": list(BACKENDS), "sample_kinds": ["latency"],
    }  # fmt: skip
    tool.run("run", tool.write("replay.json", workload), "--run-id", "replay", "--no-progress", "--blocks", str(blocks))
    found = []
    for (backend, limit, speed, figure), value in sorted(figures(tool, "replay").items()):
        if figure in STATS:
            latencies = load.latencies(LIMIT if limit == "recorded" else int(limit), float(speed))
            change = [] if limit == "recorded" else [f"limit {limit}"]
            change += [] if float(speed) == SPEEDS[0] else [f"speed {speed}"]
            computed = percentile(latencies, figure) / 1e6
            found.append(Claim(f"a computed schedule, {backend}", ", ".join(change), figure, computed, value))
    return found
