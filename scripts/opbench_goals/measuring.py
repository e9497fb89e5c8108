"""Starts opbench, with the one allocator and with the other."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from opbench_goals import keeping
from opbench_goals.errors import CannotMeasure

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "workloads" / "engine"
BAD_SAMPLES = 3
"""opbench's exit code where some sample failed: its cells have no figures, the others do."""


def measure(allocator: str, output: Path, run_id: str, options: Sequence[str], workloads: Sequence[str]) -> Path:
    """Runs workloads, with their progress on standard error; returns the folder of the run."""
    files = [_from_root(WORKLOADS / f"{name}.json") for name in workloads]
    words = ["run", "--output", _from_root(output), "--run-id", run_id, *options, *files]
    status = opbench(allocator, words)
    if status not in (0, BAD_SAMPLES):
        raise CannotMeasure(f"opbench with the allocator {allocator} ended with {status}")
    return output / run_id


def metrics(workload: str) -> list[str]:
    """The kinds of sample that a workload asks for."""
    return list(json.loads((WORKLOADS / f"{workload}.json").read_text(encoding="utf-8"))["metrics"])


def keep(allocator: str, output: Path, run_id: str, name: str) -> None:
    """Copies a run to the baselines, which git keeps, with those of its samples that anything is printed from."""
    status = opbench(allocator, ["baseline", "save", run_id, "--name", name, "--replace", "--results", _from_root(output)])
    if status != 0:
        raise CannotMeasure(f"opbench baseline save {run_id} ended with {status}")
    keeping.reduce(output / "baseline" / name)


def opbench(allocator: str, words: Sequence[str]) -> int:
    """Runs opbench, built first if need be; returns its exit code. Its standard output is not shown."""
    environment = os.environ | {"OPBENCH_ALLOCATOR": allocator}
    command = [str(ROOT / "scripts" / "opbench"), *words]
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False).returncode


def _from_root(path: Path) -> str:
    """The path as a run that is kept may name it: another machine has the project elsewhere."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
