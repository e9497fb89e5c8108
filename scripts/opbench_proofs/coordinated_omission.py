"""Proof 4: compares opbench's latencies with the theory of one stall.

Runs workloads/more/stall-open-loop.json and stall-closed-loop.json: a stall of 100 ms in one second of arrivals, once in
an operation, once in the submitting thread, and the same stall where each operation waits for the previous one. A busy
machine delays operations longer, never shorter: a figure that is too large decides nothing if opbench flagged every sample
as noisy.
"""

from pathlib import Path
from statistics import median
from typing import NamedTuple

from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_rows import read

TITLE = "Coordinated omission: a stall of 100 ms in a second of arrivals is a p99 of 90 ms, and hidden where clients wait"
ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = [ROOT / "workloads" / "more" / f"stall-{kind}-loop.json" for kind in ("open", "closed")]
BLOCKS, BLOCKS_SHORT = 3, 1
# Milliseconds.
STALL = 100.0
DURATION = 1000.0
# Sleeps end late, working off the backlog takes time, and the machine has other work: a delay may be longer than the
# stall, but not shorter, except by the resolution of the histograms.
TOO_LITTLE = 0.99
TOO_MUCH = 1.10
# From the submitting call on, the submitting thread's delay is missing too.
TOO_LITTLE_SERVICE = 0.75
# Figures without the stall are below this part of it; a busy machine may delay two operations of 2,000 longer.
NOTHING = 0.1
NOTHING_OF_TWO = 0.5


class Claim(NamedTuple):
    """The theoretical value of one figure."""

    view: str
    metric: str
    stat: str
    theory: str
    low: float
    high: float

    def holds(self, milliseconds: float) -> bool:
        return self.low <= milliseconds <= self.high


def shown(view: str, metric: str, stat: str, milliseconds: float, too_little: float = TOO_LITTLE) -> Claim:
    theory = f"{milliseconds:.0f} ms"
    return Claim(view, metric, stat, theory, milliseconds * too_little, milliseconds * TOO_MUCH)


def hidden(view: str, metric: str, stat: str, most: float = NOTHING) -> Claim:
    return Claim(view, metric, stat, f"below {most * STALL:.0f} ms", 0, most * STALL)


def percentile(quantile: float) -> float:
    """The percentile of evenly spaced arrivals: an arrival t after the stall's beginning waits for the rest of it."""
    return max(0.0, STALL - (1 - quantile) * DURATION)


CLAIMS = [
    shown("an operation stalls", "intended_latency", "p99", percentile(0.99)),
    shown("an operation stalls", "intended_latency", "p99.9", percentile(0.999)),
    shown("an operation stalls", "service_latency", "p99", percentile(0.99), TOO_LITTLE_SERVICE),
    shown("the submitter stalls", "intended_latency", "p99", percentile(0.99)),
    shown("the submitter stalls", "intended_latency", "p99.9", percentile(0.999)),
    hidden("the submitter stalls", "service_latency", "p99"),
    hidden("closed loop", "service_latency", "p99"),
    hidden("closed loop", "service_latency", "p99.9", NOTHING_OF_TWO),
    shown("closed loop", "service_latency", "max", STALL),
]


def view(row: dict[str, str]) -> str:
    if row["workload"] == "stall-closed-loop":
        return "closed loop"
    return f"{'an operation' if row['param_stalls'] == 'operation' else 'the submitter'} stalls"


class Sample(NamedTuple):
    """One figure of one process."""

    milliseconds: float
    is_noisy: bool


Figures = dict[tuple[str, str, str, str], list[Sample]]
"""Samples by backend, view, metric and stat."""


def figures(samples: Path) -> Figures:
    """The measured figures, without warm-ups and failures."""
    found: Figures = {}
    for row in read(samples):
        if row["status"] == "ok" and row["unit"] == "ns" and row["value"] and row["phase"] != "warmup":
            key = (row["backend"], view(row), row["metric"], row["stat"])
            sample = Sample(float(row["value"]) / 1e6, "noisy" in row["sample_flags"].split(";"))
            found.setdefault(key, []).append(sample)
    return found


def judge(found: Figures) -> Outcome:
    """Prints one line per claim and backend. The median of the samples counts."""
    verdicts, lines = set(), [f"{'backend':<13}{'what stalls':<22}{'figure':<24}{'theory':>14}{'measured':>12}"]
    for backend in dict.fromkeys(key[0] for key in found):
        for claim in CLAIMS:
            samples = found.get((backend, claim.view, claim.metric, claim.stat), [])
            verdict = judged(claim, samples)
            verdicts.add(verdict)
            measured = f"{median(sample.milliseconds for sample in samples):.3f} ms" if samples else "absent"
            remark = "" if verdict is Verdict.HELD else f"  {verdict.value}"
            figure = f"{claim.metric} {claim.stat}"
            lines.append(f"{backend:<13}{claim.view:<22}{figure:<24}{claim.theory:>14}{measured:>12}{remark}")
    for verdict in (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.HELD):
        if verdict in verdicts:
            return Outcome(verdict, lines)
    return Outcome(Verdict.REFUTED, ["no figures"])


def judged(claim: Claim, samples: list[Sample]) -> Verdict:
    if not samples:
        return Verdict.REFUTED
    milliseconds = median(sample.milliseconds for sample in samples)
    if claim.holds(milliseconds):
        return Verdict.HELD
    is_excused = milliseconds > claim.high and all(sample.is_noisy for sample in samples)
    return Verdict.UNDECIDED if is_excused else Verdict.REFUTED


def prove(setting: Setting) -> Outcome:
    blocks = BLOCKS_SHORT if setting.is_short else BLOCKS
    setting.tool.run("run", "--metric", "latency", "--blocks", str(blocks), "--run-id", "stall", *map(str, WORKLOADS))
    return judge(figures(setting.tool.samples("stall")))
