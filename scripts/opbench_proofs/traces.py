"""Proof 11: traces distinguish work from waiting for a processor."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import OpBench, ToolFailure

TITLE = "Traces: with four busy processes on two processors, work and span agree with the plan"
PROCESSORS, BUSY_PROCESSES = 2, 4
WORK = 1_000_000
"""Nanoseconds per operation: long compared with stamps, which take less than 2 µs, and short compared with the kernel's time
slices of some milliseconds, so that most operations wait for a processor in some round."""
MOST_WORK, MOST_SPAN = 0.10, 0.20
"""The tolerated relative deviation of the measured figures from the plan's."""
WIDTH, LAYERS = 6, 5
SHAPES = {
    "chains": ("chain", {"depth": LAYERS, "chains": WIDTH}),
    "tree": ("graph", {"kind": "binary_tree", "layers": LAYERS}),
    "wavefront": ("graph", {"kind": "wavefront", "width": WIDTH, "layers": LAYERS}),
}
KNOWN = {
    "chains": (WIDTH * LAYERS, LAYERS),
    "tree": (2**LAYERS - 1, LAYERS),
    "wavefront": (WIDTH * LAYERS, WIDTH + LAYERS - 1),
}
"""The numbers of operations in total, and on the longest path."""
UNITS = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}
TIME = r"([0-9.]+) (ns|µs|ms|s)"


@dataclass
class Trace:
    """The summary of one cell. Times are in nanoseconds."""

    work: float
    planned_work: float
    span: float
    planned_span: float
    is_busy: bool
    """Whether its first line reports a busy machine."""
    waited: float
    """The part of the bodies' time in which they waited for a processor, from the first line; 0 without it."""

    def holds(self, shape: str) -> bool:
        return self.is_busy and all(
            planned == count * WORK and abs(measured / planned - 1) <= most
            for measured, planned, count, most in zip(
                (self.work, self.span), (self.planned_work, self.planned_span), KNOWN[shape], (MOST_WORK, MOST_SPAN), strict=True
            )
        )  # fmt: skip


def prove(setting: Setting) -> Outcome:
    """Traces each shape on each backend next to busy processes, until it holds or the tries are used up.

    The plan's work is given in iterations of a loop, and its time by a calibration at the beginning of each command. If a
    processor's neighbours are busy, too, its speed varies by a tenth and more within seconds, so one try in four may miss.
    A trace that counted waits as work would miss each time, by a factor of two and more.
    """
    backends, tries = (("engine",), 8) if setting.is_short else (("engine", "dispatch", "concurrency"), 20)
    left = {(shape, backend) for shape in SHAPES for backend in backends}
    figures = []
    with busy_machine():
        for attempt in range(1, tries + 1):
            for shape, backend in sorted(left):
                trace = take(setting.tool, shape, backend, f"{attempt}-{shape}-{backend}")
                if trace.holds(shape):
                    left.remove((shape, backend))
                if trace.holds(shape) or attempt == tries:
                    figures.append(
                        f"{shape} on {backend}, try {attempt} of at most {tries}: work {trace.work / trace.planned_work:.3f}, "
                        f"span {trace.span / trace.planned_span:.3f} of the plan's; bodies waited for a processor for "
                        f"{trace.waited:.0%} of their time{'' if trace.is_busy else '; no busy machine in the first line'}"
                    )
    return Outcome(Verdict.of(not left), figures)


@contextmanager
def busy_machine() -> Iterator[None]:
    """Pins this process and its children to two processors, and keeps these busy."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:PROCESSORS])
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_PROCESSES)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
        os.sched_setaffinity(0, allowed)


def take(tool: OpBench, shape: str, backend: str, name: str) -> Trace:
    """Takes a trace of one shape with the users' command."""
    kind, parameters = SHAPES[shape]
    workload = {
        "name": "proof-trace", "summary": "Known work and span", "shape": kind,
        "parameters": {**parameters, "work_ns": WORK}, "backends": [backend],
    }  # fmt: skip
    words = ["--kind", "trace", "--seconds", "0.2", "--no-progress", "--output", f"trace-{name}"]
    return read(tool.run("profile", *words, tool.write("trace.json", workload)).stdout)


def read(summary: str) -> Trace:
    """Parses the summary of one cell."""
    lines = summary.splitlines()
    title = next((place for place, line in enumerate(lines) if line.startswith("trace, by ")), len(lines) - 1)
    found = re.search(rf"^  work {TIME} \(planned {TIME}\), span {TIME} \(planned {TIME}\) over ", summary, re.MULTILINE)
    if not found:
        raise ToolFailure(f"the summary has no planned work and span: {summary}")
    words = found.groups()
    work, planned_work, span, planned_span = (float(words[at]) * UNITS[words[at + 1]] for at in range(0, 8, 2))
    first = lines[title + 1]
    waited = re.search(r"for ([0-9.]+) % of their time", first)
    is_busy = first.startswith("  busy machine: ")
    return Trace(work, planned_work, span, planned_span, is_busy, float(waited[1]) / 100 if is_busy and waited else 0.0)
