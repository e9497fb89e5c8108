"""Holds the real opbench against bad luck: another process in its way at the worst moment, a disk that is full from any
moment on."""

import json
import os
import shutil
import subprocess

import pytest
from conftest import OPBENCH

WORKLOAD = {
    "name": "small",
    "summary": "s",
    "shape": "independent",
    "parameters": {"items": 20, "work_ns": 0},
    "backends": ["serial"],
    "metrics": ["throughput"],
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small.json").write_text(json.dumps(WORKLOAD))
    return tmp_path


RUN = ["run", "--quick", "--no-progress", "--run-id", "r", "small.json"]


def go(folder, *words, preload=None, **variables):
    environment = os.environ | variables | ({"LD_PRELOAD": str(preload)} if preload else {})
    return subprocess.run([OPBENCH, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def files(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_a_run_that_another_process_has_finished_meanwhile_is_not_wiped(preload, folder):
    """One process has found the name free and is about to lock the folder; another one runs to its end; the first goes on."""
    gate = folder / "gate"
    os.mkfifo(gate)
    environment = os.environ | {"LD_PRELOAD": str(preload), "LOCK_GATE": str(gate)}
    late = subprocess.Popen([OPBENCH, *RUN], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        # Opens when the late one has come to the lock, which it takes when this is closed.
        with open(gate, "w"):
            assert go(folder, *RUN).returncode == 0
            finished = files(folder / "results")
        _, errors = late.communicate(timeout=120)
    finally:
        late.kill()
    assert late.returncode == 64 and "a run of this id exists" in errors, errors
    assert files(folder / "results") == finished


def test_a_full_disk_while_a_baseline_is_saved_exits_1_and_leaves_nothing(preload, folder):
    assert go(folder, *RUN).returncode == 0
    assert go(folder, "baseline", "save", "r", "--name", "old").returncode == 0
    before = files(folder)
    for more in (["--name", "new"], ["--name", "old", "--replace"]):
        for place in range(1, 100):
            result = go(folder, "baseline", "save", "r", *more, preload=preload, FULL_AT=str(place))
            if result.returncode == 0:
                break
            assert result.returncode == 1, f"{place}: {result.stderr}"
            assert "No space left on device" in result.stderr
            assert files(folder) == before, place
        assert place > 8
        before = files(folder)


def test_a_full_disk_while_reports_are_written_exits_1_and_leaves_the_old_ones(preload, folder):
    assert go(folder, *RUN).returncode == 0
    (folder / "c.csv").write_text("old")
    before = files(folder)
    words = ["compare", "r", "r", "--csv", "c.csv", "--junit", "j.xml"]
    for place in range(1, 60):
        result = go(folder, *words, preload=preload, FULL_AT=str(place))
        if result.returncode == 0:
            break
        assert result.returncode == 1 and "No space left on device" in result.stderr, f"{place}: {result.stderr}"
        assert files(folder) == before, place
    assert place > 4


def test_a_full_disk_while_a_run_goes_on_exits_1_and_the_run_can_be_gone_on_with(preload, folder):
    for place in range(3, 60, 4):
        result = go(folder, *RUN, preload=preload, FULL_AT=str(place))
        if result.returncode == 0:
            break
        assert result.returncode in (1, 64), f"{place}: {result.stderr}"
        assert go(folder, *RUN, *(["--resume"] if (folder / "results/r").exists() else [])).returncode == 0, place
        assert not [name for name in files(folder) if ".opbench-" in name], place
        shutil.rmtree(folder / "results")
    assert place > 20
