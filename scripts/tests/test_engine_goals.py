"""scripts/engine-goals with a scripted program: the measured and judged files by allocator, and the exit codes."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

OPBENCH = """#!/bin/sh
echo "$OPBENCH_ALLOCATOR $*" >> asked
case $1 in run) exit "$RUN" ;; gate) echo the table; exit "$GATE" ;; esac
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    for name in ("engine-goals", "setup.bash"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    (tmp_path / "scripts/opbench").write_text(OPBENCH)
    (tmp_path / "scripts/opbench").chmod(0o755)
    (tmp_path / "workloads").symlink_to(ROOT / "workloads")
    return tmp_path


def goals(package: Path, *words: str, run: int = 0, gate: int = 0) -> tuple[int, list[list[str]]]:
    """The exit code, and the calls of opbench."""
    environment = os.environ | {"RUN": str(run), "GATE": str(gate)}
    ended = subprocess.run([package / "scripts/engine-goals", *words], env=environment, capture_output=True, text=True)
    asked = package / "asked"
    calls = [line.split() for line in asked.read_text().splitlines()] if asked.exists() else []
    assert ended.stdout.count("the table") == len([call for call in calls if call[1] == "gate"])
    return ended.returncode, calls


@pytest.mark.parametrize(
    ("words", "policies"),
    [
        ((), {"system": "engine-goals-system", "jemalloc": "engine-goals-jemalloc"}),
        (("--allocator", "jemalloc"), {"jemalloc": "engine-goals-jemalloc"}), (("--growth",), {"system": "engine-growth"}),
    ],
)  # fmt: skip
def test_the_workloads_of_the_goals_are_measured_and_judged(
    package: Path, words: tuple[str, ...], policies: dict[str, str]
) -> None:
    status, calls = goals(package, *words, run=3, gate=7)
    assert status == 0
    assert [(call[0], call[1]) for call in calls] == [(name, what) for name in policies for what in ("run", "gate")]
    for run, gate in zip(calls[::2], calls[1::2], strict=True):
        policy = f"workloads/policies/{policies[run[0]]}.json"
        rules = json.loads((ROOT / policy).read_text())["rules"]
        measured = [word for word in run if word.endswith(".json")]
        assert {Path(word).stem for word in measured} == {rule["cell"].split()[0] for rule in rules}
        assert all((ROOT / word).exists() for word in measured)
        assert gate[gate.index("--policy") + 1] == policy
        assert gate[gate.index("--candidate") + 1] == run[run.index("--run-id") + 1]


def test_quick_takes_few_samples(package: Path) -> None:
    _, calls = goals(package, "--quick", "--allocator", "system")
    assert "--quick" in calls[0] and "--blocks" not in calls[0]


@pytest.mark.parametrize(("run", "gate"), [(1, 0), (64, 0), (0, 1), (0, 64)])
def test_failures_to_measure_or_judge_exit_1(package: Path, run: int, gate: int) -> None:
    assert goals(package, run=run, gate=gate)[0] == 1


@pytest.mark.parametrize("words", [("--allocator", "tcmalloc"), ("--allocator",), ("--only", "tiny")])
def test_misuse_exits_64_and_measures_nothing(package: Path, words: tuple[str, ...]) -> None:
    assert goals(package, *words) == (64, [])
