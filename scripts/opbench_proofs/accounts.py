"""Proofs 5 and 6: compares opbench's memory, CPU time and allocations with independent observers of the processes.

Each runs the real program, and prints a line with both figures:

- memory: operations that each keep an object of a known size; retained bytes per pending operation must differ by that
  size, within 1 %;
- cpu: the CPU time in the samples' rows and the run's description, against the kernel's figure for the whole tree of
  processes, as printed by GNU time, within 2 %;
- allocations: jemalloc's count between the marks of a round, against a preloaded counter, within 2 per thousand.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import ToolFailure
from opbench_rows import read

TITLES = {
    "memory": "Memory: operations that keep an object of a known size: bytes held per pending operation are within 1 % of it",
    "accounts": "Accounts: a run's CPU time is within 2 % of the kernel's, its mallocs agree with a preloaded counter",
}


@dataclass
class Account:
    name: str
    what: str
    reported: float
    observed: float
    tolerance: float
    unit: str

    @property
    def difference(self):
        return abs(self.reported - self.observed) / abs(self.observed) if self.observed else abs(self.reported)

    @property
    def holds(self):
        return self.difference <= self.tolerance

    def __str__(self):
        return (
            f"{'holds' if self.holds else 'FAILS'}  {self.name}: {self.what}: opbench says {self.reported:.6g} {self.unit}, "
            f"the observer {self.observed:.6g} {self.unit}; {100 * self.difference:.3f} % apart, "
            f"allowed are {100 * self.tolerance:g} %"
        )


class Runs:
    """Runs of opbench in their own folder."""

    def __init__(self, opbench, folder):
        self.opbench = Path(opbench).resolve()
        self.folder = Path(folder)
        self.count = 0

    def run(self, workload, *options, wrapper=(), **variables):
        """Measures a workload, given as its file's dictionary; returns the run's rows and description."""
        self.count += 1
        name = f"run{self.count}"
        (self.folder / f"{name}.json").write_text(json.dumps(workload))
        command = [*wrapper, self.opbench, "run", "--no-progress", "--run-id", name, *options, f"{name}.json"]
        done = subprocess.run(command, cwd=self.folder, env=os.environ | variables, capture_output=True, text=True)
        if done.returncode != 0:
            raise ToolFailure(f"opbench ended with {done.returncode}:\n{done.stderr}")
        rows = [row for row in read(self.folder / "results" / name / "samples.csv") if row["value"]]
        return rows, json.loads((self.folder / "results" / name / "run.json").read_text()), done.stderr


def workload(name, shape, parameters, backends, metrics):
    return {
        "name": name, "summary": "a proof", "shape": shape, "parameters": parameters, "backends": backends,
        "sample_kinds": metrics,
    }  # fmt: skip


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def prove_memory(runs, operations=20_000):
    """Uses sizes that are size classes of jemalloc, so that an object takes exactly its size."""
    small, large = 1024, 4096
    parameters = {"operations": operations, "payload_bytes": [small, large], "form": ["closure", "subclass"]}
    rows, _, _ = runs.run(
        workload("payload", "memory_fence", parameters, ["engine", "dispatch", "foundation"], ["memory"]),
        "--blocks", "1",
    )  # fmt: skip
    held = {}
    for row in rows:
        if row["metric"] == "retained_bytes" and row["phase"] == "mark:pending":
            cell = (row["backend"], row["param_form"])
            held.setdefault(cell, {})[int(row["param_payload_bytes"])] = float(row["value"]) / int(row["operations"])
    for (backend, form), sizes in sorted(held.items()):
        what = f"{backend}, {form}: bytes held for {large - small} more of payload"
        yield Account("memory", what, sizes[large] - sizes[small], large - small, 0.01, "B")


def prove_cpu(runs, blocks=15):
    parameters = {"items": 20_000, "form": "block", "work_ns": 500}
    with tempfile.NamedTemporaryFile("r", suffix=".time") as report:
        rows, description, _ = runs.run(
            workload("busy", "independent", parameters, ["engine", "dispatch", "foundation"], ["throughput", "latency"]),
            "--blocks", str(blocks), wrapper=["/usr/bin/time", "-v", "-o", report.name],
        )  # fmt: skip
        text = report.read()
    observed = sum(float(re.search(rf"{kind} time \(seconds\): ([0-9.]+)", text)[1]) for kind in ("User", "System"))
    samples = sum(float(row["value"]) for row in rows if row["metric"] == "process_cpu_time") / 1e9
    rounds = sum(float(row["value"]) for row in rows if row["metric"] == "cpu_time") / 1e9
    if not 0 < rounds < samples:
        raise ToolFailure(f"the rounds' {rounds} s of CPU time are not a part of the processes' {samples} s")
    yield Account("cpu", "samples and runner together", samples + description["progress"]["runner_cpu_ns"] / 1e9, observed, 0.02, "s")


def prove_allocations(runs):
    library = runs.folder / "count_allocations.so"
    compiler = shutil.which("clang") or shutil.which("cc")
    source = Path(__file__).with_name("count_allocations.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl"], check=True)
    rounds = 4  # of a sample: one that is not counted, and three whose least is reported
    for shape, parameters in [
        ("independent", {"items": 20_000, "form": "subclass", "work_ns": 0}),
        ("independent", {"items": 20_000, "form": "closure", "work_ns": 0}),
        ("chain", {"depth": 500, "chains": 4, "work_ns": 0}),
    ]:
        counts = runs.folder / f"counts{runs.count}"
        counts.mkdir()
        rows, _, _ = runs.run(
            workload("counted", shape, parameters, ["engine", "dispatch", "foundation", "serial"], ["memory"]),
            "--blocks", "1", LD_PRELOAD=str(library), COUNT_ALLOCATIONS=str(counts),
        )  # fmt: skip
        reported = [row for row in rows if row["metric"] == "allocations"]
        observed = sorted([int(word) for word in file.read_text().split()] for file in counts.iterdir())
        if len(observed) != len(reported):
            raise ToolFailure(f"{len(observed)} processes were counted, {len(reported)} reported")
        # Both lists are in chronological order. Operations allocate from the mark `before` to `drained` of a round;
        # between all other readings there are hardly any allocations.
        for row, (_, *counts) in zip(reported, observed):
            steps = list(enumerate(later - earlier for earlier, later in zip(counts, counts[1:])))
            of_rounds = sorted(sorted(steps, key=lambda step: step[1])[-rounds:])
            form = parameters.get("form", "subclass")
            what = f"{row['backend']}, {shape}, {form}, {row['operations']} operations"
            yield Account("allocations", what, float(row["value"]), min(step for _, step in of_rounds[1:]), 0.002, "mallocs")


OF = {"memory": (prove_memory,), "accounts": (prove_cpu, prove_allocations)}


def prove(setting: Setting, which: str) -> Outcome:
    """Has no short form, because the long one takes only a minute."""
    runs = Runs(setting.tool.binary, setting.tool.folder)
    accounts = [account for attempt in OF[which] for account in attempt(runs)]
    return Outcome(Verdict.of(bool(accounts) and all(one.holds for one in accounts)), [str(one) for one in accounts])
