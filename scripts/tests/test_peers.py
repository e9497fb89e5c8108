"""scripts/peers with a scripted program: the measured cells, the kept files, and the exit codes."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

OPBENCH = """#!/bin/sh
echo "$OPBENCH_PEERS $OPBENCH_ALLOCATOR" >> settings
printf '%s\\t' "$@" >> asked
echo >> asked
case $1 in
    run) mkdir -p "results/$3"; echo "$PWD/x" | tee "results/$3/summary.csv" >"results/$3/run.json"; exit "$RUN" ;;
    gate) for word; do file=$word; done; echo verdicts >"$file"; exit "$GATE" ;;
esac
"""
POLICY = json.loads((ROOT / "workloads/policies/engine-peers.json").read_text())


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for folder in ("scripts", "results/reference"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("peers", "setup.bash"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    for name, text in {"opbench": OPBENCH, "docs": '#!/bin/sh\necho "$@" >>renewed\nexit "$DOCS"\n'}.items():
        (tmp_path / "scripts" / name).write_text(text)
        (tmp_path / "scripts" / name).chmod(0o755)
    (tmp_path / "workloads").symlink_to(ROOT / "workloads")
    return tmp_path


def peers(package: Path, *words: str, run: int = 0, gate: int = 0, docs: int = 0) -> tuple[int, list[list[str]]]:
    """The exit code, and the calls of opbench."""
    environment = os.environ | {"RUN": str(run), "GATE": str(gate), "DOCS": str(docs)}
    ended = subprocess.run([package / "scripts/peers", *words], env=environment, capture_output=True, text=True)
    asked = package / "asked"
    return ended.returncode, [line.split("\t") for line in asked.read_text().splitlines()] if asked.exists() else []


def test_the_cells_of_the_policy_are_measured_judged_and_kept(package: Path) -> None:
    status, calls = peers(package, run=3, gate=7)
    assert status == 0
    assert (package / "settings").read_text().splitlines() == ["1 system"] * 2 + ["1 jemalloc"] * 2
    cells = {rule["cell"] for rule in POLICY["rules"]}
    for run, gate in zip(calls[::2], calls[1::2], strict=True):
        assert (run[0], gate[0]) == ("run", "gate")
        files = [word for word in run if word.endswith(".json")]
        assert {Path(file).stem for file in files} == {cell.split()[0] for cell in cells}
        assert all((ROOT / file).exists() for file in files)
        pattern = re.compile(run[run.index("--filter") + 1])
        assert all(pattern.search(cell) for cell in cells) and not pattern.search("chain depth=1000000 work_ns=0")
        named = {rule["backend"] for rule in POLICY["rules"]} | {rule["against"] for rule in POLICY["rules"]}
        assert named < set(run[run.index("--backend") + 1].split(","))
        assert gate[gate.index("--candidate") + 1] == run[run.index("--run-id") + 1]
    for allocator in ("system", "jemalloc"):
        kept = package / f"results/baseline/peers-{allocator}"
        assert (kept / "summary.csv").exists() and (kept / "run.json").read_text() == "x\n"
        assert (package / f"results/reference/engine-peers-{allocator}.csv").read_text() == "verdicts\n"
    assert (package / "renewed").read_text() == "--update\n"


def test_a_quick_run_keeps_nothing(package: Path) -> None:
    status, calls = peers(package, "--quick", "--allocator", "jemalloc")
    assert status == 0 and len(calls) == 2 and "--quick" in calls[0]
    assert not (package / "results/baseline").exists() and not (package / "renewed").exists()


@pytest.mark.parametrize("failure", [{"run": 1}, {"run": 64}, {"gate": 1}, {"gate": 64}, {"docs": 1}])
def test_failures_exit_1(package: Path, failure: dict[str, int]) -> None:
    assert peers(package, **failure)[0] == 1


@pytest.mark.parametrize("words", [("--allocator", "tcmalloc"), ("--allocator",), ("--only", "tiny")])
def test_misuse_exits_64_and_measures_nothing(package: Path, words: tuple[str, ...]) -> None:
    assert peers(package, *words) == (64, [])
