"""Proof 7: a load that comes half way misleads who compares runs, not who compares within blocks."""

import csv
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

from opbench_proofs.blocks import Recording, only
from opbench_proofs.proof import Outcome, Setting
from opbench_proofs.tool import WORK, OpBench

TITLE = "Drift: pairs within blocks give the right ratio, runs apart do not"
EFFECT = 0.05
TOLERANCE = 0.02
MISLEADING = 0.1
"""Twice the effect: an estimate so far off tells of the load, not of the build."""


def prove(setting: Setting) -> Outcome:
    """Measures a known slowdown while a competing load is switched on half way."""
    tool = setting.tool
    blocks = 24 if setting.is_short else 60
    workload = tool.write("drift.json", WORK | {"name": "proof-drift"})
    run_id = "drift"
    measuring = tool.start_ab(run_id, workload, "--blocks", str(blocks), "--inject-slowdown", str(EFFECT))
    load: list[subprocess.Popen[bytes]] = []
    switched_at = 0
    try:
        while measuring.poll() is None:
            if not load and _samples_taken(tool.samples(run_id)) >= blocks:
                switched_at = _samples_taken(tool.samples(run_id))
                load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
            time.sleep(0.02)
    finally:
        for process in [*load, measuring]:
            process.kill()
            process.wait()
    if measuring.returncode != 0:
        return Outcome(held=False, figures=[f"the run ended with {measuring.returncode}"])
    paired = {metric: _ratio(tool, ["--ab", run_id], metric) for metric in ("time", "cpu_time")}
    apart = _apart(tool, run_id)
    truth = 1 + EFFECT
    figures = [
        f"the truth is {truth:.3f}; the load came on after {switched_at} of {2 * blocks} samples",
        *(f"paired, {metric}: {_told(ratio)}" for metric, ratio in paired.items()),
        f"base of the quiet half against head of the loaded half, as two runs would be, time: {_told(apart)}",
    ]
    low, high = paired["cpu_time"][1:]
    is_right = all(interval[1] - TOLERANCE <= truth <= interval[2] + TOLERANCE for interval in paired.values())
    is_sharp = high - low < 4 * TOLERANCE
    is_misled = abs(apart[0] - truth) > MISLEADING
    return Outcome(held=is_right and is_sharp and is_misled and bool(load), figures=figures)


def _samples_taken(samples: Path) -> int:
    """How many throughput samples are saved."""
    if not samples.exists():
        return 0
    with open(samples, encoding="utf-8") as file:
        return sum("-throughput," in line and ",status," in line for line in file)


Ratio = tuple[float, float, float]


def _ratio(tool: OpBench, sides: list[str], metric: str) -> Ratio:
    """The ratio that a gate reports for a total time of the engine, with its interval."""
    policy = tool.write(
        f"{metric}.json",
        {"version": 1, "rules": [{"backend": "engine", "metric": metric, "phase": "total", "max_regression": 0.02}]},
    )
    tool.gate(*sides, "--policy", policy, "--csv", "ratio.csv")
    with open(tool.folder / "ratio.csv", newline="", encoding="utf-8") as file:
        row = next(row for row in csv.DictReader(file) if (row["metric"], row["phase"]) == (metric, "total"))
    if not row["ci_low"]:
        return (float(row["ratio"]), math.nan, math.nan)
    return (float(row["ratio"]), float(row["ci_low"]), float(row["ci_high"]))


def _apart(tool: OpBench, run_id: str) -> Ratio:
    """The first half's base and the second half's head, as two runs."""
    recording = Recording(tool.samples(run_id))
    order = json.loads((tool.folder / "results" / run_id / "run.json").read_text(encoding="utf-8"))["order"]
    taken = list(
        dict.fromkeys(int(word.removeprefix("block=")) for line in order if "-throughput" in line for word in line.split()[2:3])
    )
    half = len(taken) // 2
    for name, numbers, side in (("quiet", taken[:half], "base"), ("loaded", taken[half:], "head")):
        recording.write(recording.draw(numbers, only(side)), tool.folder / name)
    return _ratio(tool, ["--baseline", "quiet", "--candidate", "loaded"], "time")


def _told(ratio: Ratio) -> str:
    return f"{ratio[0]:.3f} ({ratio[1]:.3f} to {ratio[2]:.3f})"
