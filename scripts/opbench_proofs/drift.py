"""Proof 7: a load that starts half way misleads comparisons of separate runs, but not comparisons within blocks."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from opbench_proofs.blocks import Recording, only
from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import INCONCLUSIVE, WORK, OpBench
from opbench_rows import read

TITLE = "Drift: pairs within blocks give the right ratio, separate runs do not"
EFFECT = 0.05
TOLERANCE = 0.02
MISLEADING = 0.1
"""Twice the effect: an estimate this far off reflects the load, not the build."""


def prove(setting: Setting) -> Outcome:
    """Measures a known slowdown, with a competing load from half way on.

    Undecided if opbench reports uncertainty: if the gate on CPU time is inconclusive, or if most samples of the quiet half are
    flagged noisy; then only CPU time can refute. The short form doubles the width of the paired intervals, so that the truth is
    outside only because of a defect, not by chance.
    """
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
        return Outcome(Verdict.REFUTED, [f"the run ended with {measuring.returncode}"])
    paired = {metric: _ratio(tool, ["--ab", run_id], metric) for metric in ("time", "cpu_time")}
    apart, noise = _apart(tool, run_id)
    figures = [
        f"the truth is {1 + EFFECT:.3f}; the load came on after {switched_at} of {2 * blocks} samples",
        *(f"paired, {metric}: {ratio}" for metric, ratio in paired.items()),
        f"base of the quiet half against head of the loaded half, like two runs, time: {apart}",
        f"{noise:.0%} of the quiet half's samples are flagged noisy",
    ]
    if not load:
        return Outcome(Verdict.REFUTED, figures)
    return Outcome(verdict(paired["time"], paired["cpu_time"], apart, noise, setting.is_short), figures)


def verdict(time: "Ratio", cpu: "Ratio", apart: "Ratio", noise: float, is_short: bool) -> Verdict:
    """Judges the paired ratios and the ratio of separate runs.

    - noise: the part of the quiet half's samples that is flagged noisy. If it is most, there was no quiet half, and
      wall-clock times decide nothing.
    """
    truth, width = 1 + EFFECT, 2 if is_short else 1
    if not cpu.admits(truth, width):
        return Verdict.REFUTED
    if not time.admits(truth, width) or abs(apart.estimate - truth) <= MISLEADING:
        return Verdict.UNDECIDED if noise > 0.5 else Verdict.REFUTED
    if cpu.high - cpu.low >= 4 * TOLERANCE:
        return Verdict.UNDECIDED if cpu.is_inconclusive else Verdict.REFUTED
    return Verdict.HELD


def _samples_taken(samples: Path) -> int:
    """The number of saved throughput samples."""
    if not samples.exists():
        return 0
    with open(samples, encoding="utf-8") as file:
        return sum("-throughput," in line and ",status," in line for line in file)


@dataclass
class Ratio:
    """A gate's result for a figure: the estimate with its interval, and whether it is inconclusive."""

    estimate: float
    low: float
    high: float
    is_inconclusive: bool

    def admits(self, truth: float, width: float) -> bool:
        """Whether the truth is in the interval, widened by the factor, or within the tolerance of it."""
        low, high = (self.estimate + (end - self.estimate) * width for end in (self.low, self.high))
        return low - TOLERANCE <= truth <= high + TOLERANCE

    def __str__(self) -> str:
        return f"{self.estimate:.3f} ({self.low:.3f} to {self.high:.3f})"


def _ratio(tool: OpBench, sides: list[str], metric: str) -> Ratio:
    """The ratio that a gate reports for a total time of the engine, with its interval."""
    policy = tool.write(
        f"{metric}.json",
        {"version": 1, "rules": [{"backend": "engine", "metric": metric, "phase": "total", "max_regression": 0.02}]},
    )
    status = tool.gate(*sides, "--policy", policy, "--csv", "ratio.csv").status
    rows = read(tool.folder / "ratio.csv")
    row = next(row for row in rows if (row["metric"], row["phase"]) == (metric, "total"))
    return Ratio(
        float(row["ratio"]), float(row["ci_low"] or "nan"), float(row["ci_high"] or "nan"), status == INCONCLUSIVE
    )


def _apart(tool: OpBench, run_id: str) -> tuple[Ratio, float]:
    """The first half's base and the second half's head, as two runs; and the part of the first that is noisy."""
    recording = Recording(tool.samples(run_id))
    order = json.loads((tool.folder / "results" / run_id / "run.json").read_text(encoding="utf-8"))["plan"]["order"]
    taken = list(
        dict.fromkeys(int(word.removeprefix("block=")) for line in order if "-throughput" in line for word in line.split()[2:3])
    )
    half = len(taken) // 2
    for name, numbers, side in (("quiet", taken[:half], "base"), ("loaded", taken[half:], "head")):
        recording.write(recording.draw(numbers, only(side)), tool.folder / name)
    flags = [row["sample_flags"].split(";") for number in taken[:half] for row in recording.blocks[number]]
    noise = sum("noisy" in words for words in flags) / len(flags)
    return _ratio(tool, ["--baseline", "quiet", "--candidate", "loaded"], "time"), noise
