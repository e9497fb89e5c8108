"""Starts opbench, with the one allocator and with the other."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from opbench_goals.errors import CannotMeasure
from opbench_plots.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "workloads" / "engine"
ALLOCATORS = {"system": "glibc's malloc", "jemalloc": "jemalloc"}
"""As OPBENCH_ALLOCATOR names them, and for people."""
BAD_SAMPLES = 3
"""opbench's exit code where some sample failed: its cells have no figures, the others do."""
JUDGED = (0, 2, BAD_SAMPLES, 5, 7)
"""Those of a gate that has judged, whatever it says."""


def measure(
    allocator: str, output: Path, run_id: str, options: Sequence[str], workloads: Sequence[str], built: Path | None = None
) -> Path:
    """Runs workloads, with their progress on standard error; returns the folder of the run."""
    files = [from_root(WORKLOADS / f"{name}.json") for name in workloads]
    words = ["run", "--output", from_root(output), "--run-id", run_id, *options, *files]
    status = opbench(allocator, words, subprocess.DEVNULL, built)
    if status not in (0, BAD_SAMPLES):
        raise CannotMeasure(f"opbench with the allocator {allocator} ended with {status}")
    return output / run_id


def judge(allocator: str, policy: Path, runs: Sequence[Path], csv: Path, built: Path | None = None) -> None:
    """Has runs held against goals: prints the table of `opbench gate`, and has it write the CSV."""
    csv.parent.mkdir(parents=True, exist_ok=True)
    named = [word for run in runs for word in ("--candidate", from_root(run))]
    words = ["gate", *named, "--policy", from_root(policy), "--lenient", "--csv", str(csv)]
    sys.stdout.flush()
    status = opbench(allocator, words, built=built)
    if status == BadInput.exit_code:
        raise BadInput("opbench cannot judge these runs")
    if status not in JUDGED:
        raise CannotMeasure(f"opbench gate ended with {status}")


def sample_kinds(workload: str) -> list[str]:
    """The kinds of sample that a workload asks for."""
    description = json.loads((WORKLOADS / f"{workload}.json").read_text(encoding="utf-8"))
    return list(description.get("sample_kinds") or description["metrics"])


def keep(
    allocator: str, output: Path, run_id: str, name: str, policy: Path, built: Path | None = None
) -> None:
    """Copies a run to the baselines, which git keeps, with those of its samples that anything is printed from."""
    from opbench_goals import keeping  # needs pandas, which takes a second to load

    words = ["baseline", "save", run_id, "--name", name, "--replace", "--results", from_root(output)]
    status = opbench(allocator, words, subprocess.DEVNULL, built)
    if status != 0:
        raise CannotMeasure(f"opbench baseline save {run_id} ended with {status}")
    kept = output / "baseline" / name
    keeping.reduce(kept, policy)
    # Where the repository lies on this machine is nobody else's business.
    description = kept / "run.json"
    description.write_text(description.read_text(encoding="utf-8").replace(f"{ROOT}/", ""), encoding="utf-8")


def opbench(allocator: str, words: Sequence[str], output: int | None = None, built: Path | None = None) -> int:
    """Runs opbench, built first if need be; returns its exit code."""
    environment = os.environ | {"OPBENCH_ALLOCATOR": allocator}
    # Called from the root: the commands that verdicts advise, which are kept, then name no folder of this machine.
    command = [str(built or Path("scripts/opbench")), *words]
    return subprocess.run(command, cwd=ROOT, env=environment, stdout=output, check=False).returncode


def allocator_of(folder: Path) -> str:
    """Which allocator a run was measured with, as its run.json says."""
    path = folder / "run.json"
    try:
        description = json.loads(path.read_bytes())
        return "jemalloc" if str(description["allocator"]).startswith("jemalloc") else "system"
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: names no allocator; is this the description of a run?") from error


def from_root(path: Path) -> str:
    """The path as a run that is kept may name it: another machine has the project elsewhere."""
    path = path.resolve()
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
