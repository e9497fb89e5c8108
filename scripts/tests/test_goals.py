"""scripts/engine-goals and scripts/peers with a scripted program: the measured and judged files by allocator, the kept files,
and the exit codes."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

OPBENCH = """#!/bin/sh
printf '%s\\t' "$OPBENCH_PEERS" "$OPBENCH_ALLOCATOR" "$@" >> asked
echo >> asked
case $1 in
    run) mkdir -p "results/$3"; echo "$PWD/x" | tee "results/$3/summary.csv" >"results/$3/run.json"; exit "$RUN" ;;
    gate) for word; do file=$word; done; echo verdicts >"$file"; exit "$GATE" ;;
esac
"""
DOCS = '#!/bin/sh\necho "$@" >>renewed\nexit "$DOCS"\n'


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for folder in ("scripts", "results/reference"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("engine-goals", "peers", "setup.bash"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    for name, text in {"opbench": OPBENCH, "docs": DOCS}.items():
        (tmp_path / "scripts" / name).write_text(text)
        (tmp_path / "scripts" / name).chmod(0o755)
    (tmp_path / "workloads").symlink_to(ROOT / "workloads")
    return tmp_path


def call(package: Path, script: str, *words: str, run: int = 0, gate: int = 0, docs: int = 0) -> tuple[int, list[list[str]]]:
    """The exit code, and the calls of opbench: OPBENCH_PEERS, the allocator, and the words."""
    environment = os.environ | {"RUN": str(run), "GATE": str(gate), "DOCS": str(docs)}
    ended = subprocess.run([package / "scripts" / script, *words], env=environment, capture_output=True, text=True)
    asked = package / "asked"
    return ended.returncode, [line.split("\t") for line in asked.read_text().splitlines()] if asked.exists() else []


@pytest.mark.parametrize(
    ("words", "policies"),
    [
        (["engine-goals"], {"system": "engine-goals-system", "jemalloc": "engine-goals-jemalloc"}),
        (["engine-goals", "--growth"], {"system": "engine-growth"}),
        (["peers"], {"system": "engine-peers", "jemalloc": "engine-peers"}),
        (["peers", "--quick", "--allocator", "jemalloc"], {"jemalloc": "engine-peers"}),
    ],
)  # fmt: skip
def test_the_cells_of_a_policy_are_measured_and_judged(package: Path, words: list[str], policies: dict[str, str]) -> None:
    status, calls = call(package, *words, run=3, gate=7)
    assert status == 0
    assert [(call[1], call[2]) for call in calls] == [(name, what) for name in policies for what in ("run", "gate")]
    for run, gate in zip(calls[::2], calls[1::2], strict=True):
        policy = f"workloads/policies/{policies[run[1]]}.json"
        cells = {rule["cell"] for rule in json.loads((ROOT / policy).read_text())["rules"]}
        measured = [word for word in run if word.endswith(".json")]
        assert {Path(word).stem for word in measured} == {cell.split()[0] for cell in cells}
        assert all((ROOT / word).exists() for word in measured)
        assert gate[gate.index("--policy") + 1] == policy
        assert gate[gate.index("--candidate") + 1] == run[run.index("--run-id") + 1]
        assert ("--quick" in run) == ("--quick" in words)
        assert run[0] == ("1" if words[0] == "peers" else "")
        if "--filter" in run:
            pattern = re.compile(run[run.index("--filter") + 1])
            assert all(pattern.search(cell) for cell in cells) and not pattern.search("chain depth=1000000 work_ns=0")
    is_kept = words == ["peers"]
    assert (package / "renewed").exists() == (package / "results/baseline").exists() == is_kept
    for allocator in policies if is_kept else ():
        kept = package / f"results/baseline/peers-{allocator}"
        assert (kept / "summary.csv").exists() and (kept / "run.json").read_text() == "x\n"
        assert (package / f"results/reference/engine-peers-{allocator}.csv").read_text() == "verdicts\n"


@pytest.mark.parametrize("failure", [{"run": 1}, {"run": 64}, {"gate": 1}, {"docs": 1}])
def test_failures_exit_1(package: Path, failure: dict[str, int]) -> None:
    assert call(package, "peers", **failure)[0] == 1
    assert call(package, "engine-goals", **failure)[0] == (0 if "docs" in failure else 1)


@pytest.mark.parametrize("words", [("--allocator", "tcmalloc"), ("--allocator",), ("--only", "tiny")])
def test_misuse_exits_64_and_measures_nothing(package: Path, words: tuple[str, ...]) -> None:
    for script in ("engine-goals", "peers"):
        assert call(package, script, *words) == (64, [])
