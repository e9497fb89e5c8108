"""Proof 8: an open loop on one slot has the latencies of queueing theory (M/D/1)."""

import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import OpBench
from opbench_rows import histograms, read

TITLE = "Queueing: waits of an open loop on one slot agree with Lindley and Pollaczek-Khinchine"
LOADS = (0.5, 0.8, 0.95)
WORK = 5_000_000
"""Nanoseconds per operation: long compared with wake-ups and late timers, which theory ignores."""
BACKENDS = ("engine", "dispatch")
STATS = ("mean", "p99")
RESOLUTION = 0.998
"""The resolution of the sums and percentiles in samples.csv."""
BUCKET = 33 / 32
"""The maximum ratio of the greatest to the least value in a bucket of histograms.csv."""
MOST = 1.15
"""Theory ignores wake-ups and late timers, whose effect grows with the length of the queue."""
LEAST_QUIET = 3

# MARK: Theory


def arrivals(seed: int, count: int, rate: int) -> list[int]:
    """The instants, in nanoseconds from the first, that opbench draws for `arrivals: poisson` (SplitMix64)."""
    mask = (1 << 64) - 1
    state, instant, found = seed & mask, 0.0, []
    for _ in range(count):
        found.append(int(instant))
        state = (state + 0x9E3779B97F4A7C15) & mask
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & mask
        unit = ((mixed ^ mixed >> 31) >> 11) * 2.0**-53
        instant -= math.log(1 - unit) * (1e9 / rate)
    return found


def lindley(instants: list[int], service: float) -> list[float]:
    """The times from arrival to end with one server and a constant service time (Lindley 1952)."""
    found, wait, last = [], 0.0, instants[0]
    for instant in instants:
        wait = max(0.0, wait + (service if found else 0.0) - (instant - last))
        last = instant
        found.append(wait + service)
    return found


def pollaczek_khinchine(load: float, service: float) -> float:
    """The long-run mean time from arrival to end with a constant service time."""
    return service + load * service / (2 * (1 - load))


def statistic(values: list[float], stat: str) -> float:
    return mean(values) if stat == "mean" else sorted(values)[math.ceil(0.99 * len(values)) - 1]


# MARK: Measurement


@dataclass
class Sample:
    """The figures that one process reports of its operations, in nanoseconds."""

    rate: int
    seed: int
    operations: int
    is_noisy: bool
    measured: dict[str, float]
    """The time from the planned arrival to the end, by statistic."""
    service: float
    """The mean time of a body: a processor's speed varies, and a wait consists of many bodies."""
    least_service: float

    def ratio(self, stat: str, service: float) -> float:
        """The ratio of the measured value to Lindley's recursion on the same arrivals."""
        return self.measured[stat] / statistic(lindley(arrivals(self.seed, self.operations, self.rate), service), stat)


def prove(setting: Setting) -> Outcome:
    """Measures the time of one operation without arrivals, and then three loads.

    In no sample may operations take less than Lindley's recursion gives for the shortest body: other work on the machine can
    only add to that. The short form judges nothing else. In the long form, the median of the samples that are not noisy may not
    exceed theory by more than `MOST`; with too few of them, the proof is undecided.
    """
    blocks, seconds = (["--blocks", "1"], 2.0) if setting.is_short else ([], 5.0)
    hand_over, service = _closed_loop(setting.tool, 3 if setting.is_short else 7)
    rates = {round(load * 1e9 / max(service.values())): load for load in LOADS}
    workload = {
        "name": "proof-queue", "summary": "Poisson arrivals, equal work, one slot", "shape": "open_loop",
        "parameters": {"rate": list(rates), "duration_ns": int(seconds * 1e9), "work_ns": WORK, "max_concurrent": 1},
        "backends": list(BACKENDS), "sample_kinds": ["latency"],
    }  # fmt: skip
    setting.tool.run("run", setting.tool.write("queue.json", workload), "--run-id", "queue", "--no-progress", *blocks)
    found = samples(setting.tool.samples("queue").parent)
    figures = [
        f"{backend}: body and hand-over take {service[backend] / 1e6:.4f} ms, the hand-over {hand_over[backend] / 1e3:.1f} µs"
        for backend in BACKENDS
    ]
    judged = []
    for (backend, rate), group in sorted(found.items()):
        verdict, line = judge(group, hand_over[backend], setting.is_short)
        judged.append(verdict)
        theory = pollaczek_khinchine(rate * service[backend] / 1e9, service[backend])
        figures.append(f"{backend} at {rates[rate]:.2f}: mean by Pollaczek-Khinchine {theory / 1e6:.3f} ms; {line}")
    return Outcome(next((one for one in (Verdict.REFUTED, Verdict.UNDECIDED) if one in judged), Verdict.HELD), figures)


def judge(group: list[Sample], hand_over: float, is_short: bool) -> tuple[Verdict, str]:
    """The verdict on the samples of one backend and rate, and the figures."""
    least = min(sample.ratio(stat, sample.least_service) for sample in group for stat in STATS)
    quiet = [sample for sample in group if not sample.is_noisy]
    shown = quiet or group
    parts, highest = [], 0.0
    for stat in STATS:
        draws = [lindley(arrivals(one.seed, one.operations, one.rate), one.service + hand_over) for one in shown]
        ratios = [one.ratio(stat, one.service + hand_over) for one in shown]
        highest = max(highest, median(ratios))
        parts.append(
            f"{stat} by Lindley {median(statistic(draw, stat) for draw in draws) / 1e6:.3f} ms, "
            f"measured {median(one.measured[stat] for one in shown) / 1e6:.3f} ms, "
            f"ratio {median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
        )
    parts.append(f"{len(quiet)} of {len(group)} samples not noisy, none below {least:.3f} of the least possible")
    if least < RESOLUTION:
        return Verdict.REFUTED, "; ".join(parts)
    if is_short:
        return Verdict.HELD, "; ".join(parts)
    if len(quiet) < LEAST_QUIET:
        return Verdict.UNDECIDED, "; ".join(parts)
    return Verdict.of(highest <= MOST), "; ".join(parts)


def _closed_loop(tool: OpBench, blocks: int) -> tuple[dict[str, float], dict[str, float]]:
    """By backend, without arrivals: the time from the end of one body to the start of the next, and from start to start."""
    workload = {
        "name": "proof-service", "summary": "Equal work, one slot, no arrivals", "shape": "independent",
        "parameters": {"items": 100, "work_ns": WORK, "max_concurrent": 1}, "backends": list(BACKENDS),
        "sample_kinds": ["throughput", "latency"],
    }  # fmt: skip
    tool.run("run", tool.write("service.json", workload), "--run-id", "service", "--no-progress", "--blocks", str(blocks))
    rows = read(tool.samples("service"))

    def each(backend: str, metric: str, stat: str, phase: str) -> list[tuple[float, float]]:
        """Values with their numbers of operations."""
        return [
            (float(row["value"]), float(row["operations"]))
            for row in rows
            if (row["backend"], row["metric"], row["stat"], row["phase"], row["iteration"]) == (backend, metric, stat, phase, "")
        ]

    whole = {one: median(time / count for time, count in each(one, "time", "total", "total")) for one in BACKENDS}
    bodies = {one: median(time for time, _ in each(one, "run_time", "mean", "")) for one in BACKENDS}
    return {one: max(0.0, whole[one] - bodies[one]) for one in BACKENDS}, whole


def samples(folder: Path) -> dict[tuple[str, int], list[Sample]]:
    """The latency samples of an open-loop run by backend and rate, including repeats."""
    figures: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    rows = {}
    for row in read(folder / "samples.csv"):
        if row["sample_id"].endswith("-latency") and row["status"] == "ok" and not row["iteration"]:
            rows[row["sample_id"]] = row
            if row["value"]:
                figures[row["sample_id"]][row["metric"], row["stat"]] = float(row["value"])
    least = {item.sample_id: min(item.upper_bounds) / BUCKET for item in histograms(folder) if item.stage == "run"}
    found: dict[tuple[str, int], list[Sample]] = defaultdict(list)
    for name, row in rows.items():
        rate, seconds, own = int(row["param_rate"]), float(row["param_duration_ns"]) / 1e9, figures[name]
        found[row["backend"], rate].append(
            Sample(
                rate=rate,
                seed=int(row["param_seed"]) + int(row["block"]),
                operations=int(rate * seconds),
                is_noisy="noisy" in row["sample_flags"].split(";"),
                measured={stat: own["intended_latency", stat] for stat in STATS},
                service=own["run_time", "mean"],
                least_service=least[name],
            )
        )
    return found
