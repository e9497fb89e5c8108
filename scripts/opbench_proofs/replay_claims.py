"""What scripts/prove-replay claims, and the figures of a replay."""

import math
from dataclasses import dataclass
from statistics import median

from opbench_proofs.tool import OpBench
from opbench_rows import read

MOST_RECORDED, MOST_CHANGED = 0.10, 0.15
"""The greatest differences of a replay, as it was recorded, and with another limit or speed."""


@dataclass
class Claim:
    """One figure of a replay, and what it should be."""

    load: str
    """What is replayed, and where."""
    change: str
    """What differs from the recording; empty if nothing does."""
    figure: str
    """`p50` or `p99` of the latencies, in ms, or `throughput`, per second."""
    expected: float
    replayed: float

    @property
    def difference(self) -> float:
        """The relative difference of the replay."""
        return self.replayed / self.expected - 1

    @property
    def held(self) -> bool:
        """Whether the difference is small enough."""
        return abs(self.difference) <= (MOST_CHANGED if self.change else MOST_RECORDED)


def percentile(values: list[float], stat: str) -> float:
    """A percentile such as p99, as opbench defines it."""
    return sorted(values)[math.ceil(int(stat[1:]) / 100 * len(values)) - 1]


def figures(tool: OpBench, run_id: str) -> dict[tuple[str, str, str, str], float]:
    """The median of each figure of a run by backend, limit, speed, and the figure's name."""
    found: dict[tuple[str, str, str, str], list[float]] = {}
    for row in read(tool.samples(run_id)):
        if row["status"] != "ok" or row["operation_class"]:
            continue
        if row["metric"] == "intended_latency":
            figure, value = row["stat"], float(row["value"]) / 1e6
        elif row["metric"] == "throughput_ops":
            figure, value = "throughput", float(row["value"])
        else:
            continue
        key = row["backend"], row["param_limit"], row["param_speed"], figure
        found.setdefault(key, []).append(value)
    return {key: median(values) for key, values in found.items()}
