"""Exposes the real opbench to faults: another process in its way at the worst moment, a disk that is full from any moment on."""

import csv
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time

import pytest
from conftest import OPBENCH

WORKLOAD = {
    "name": "small", "summary": "s", "shape": "independent", "parameters": {"items": 20, "work_ns": 0},
    "backends": ["serial"], "sample_kinds": ["throughput"],
}  # fmt: skip
RUN = ["run", "--quick", "--no-progress", "--run-id", "r", "small.json"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "small.json").write_text(json.dumps(WORKLOAD))
    return tmp_path


def go(folder, *words, preload=None, **variables):
    environment = os.environ | variables | ({"LD_PRELOAD": str(preload)} if preload else {})
    return subprocess.run([OPBENCH, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def files(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def whole(text):
    """Whether all lines of a CSV file are complete."""
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    return text.endswith(b"\n") and len({len(row) for row in rows}) == 1


def test_a_run_continues_when_nobody_reads_its_progress(folder):
    command = [OPBENCH, "run", "--quick", "--blocks", "3", "--run-id", "r", "small.json"]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=writer, timeout=120)
    finally:
        os.close(writer)
    assert result.returncode == 0 and b"serial" in result.stdout
    assert json.loads((folder / "results/r/run.json").read_text())["progress"]["state"] == "finished"


def test_a_run_with_a_closed_output_is_kept_and_ends_by_sigpipe(folder):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = subprocess.run([OPBENCH, *RUN], cwd=folder, stdout=writer, stderr=subprocess.PIPE, timeout=120)
    finally:
        os.close(writer)
    assert (result.returncode, result.stderr) == (-signal.SIGPIPE, b"")
    assert json.loads((folder / "results/r/run.json").read_text())["progress"]["state"] == "finished"


def test_a_run_under_nohup_continues_when_its_terminal_closes(folder):
    command = [OPBENCH, "run", "--quick", "--blocks", "20", "--no-progress", "--run-id", "r", "small.json"]
    ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, preexec_fn=ignore)
    rows = folder / "results/r/samples.csv"
    while process.poll() is None and not (rows.exists() and b",status," in rows.read_bytes()):
        time.sleep(0.001)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=120) == 0
    assert json.loads((folder / "results/r/run.json").read_text())["progress"]["state"] == "finished"


def test_a_run_beyond_the_file_size_limit_ends_with_an_error_and_can_be_resumed(folder):
    """The system sends a signal for such a write, which would end the process silently."""
    command = [OPBENCH, "run", "--quick", "--blocks", "40", "--no-progress", "--run-id", "r", "small.json"]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))  # noqa: E731
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, preexec_fn=limit)
    assert result.returncode == 1, result.stderr
    assert "ulimit -f" in result.stderr and " run --resume " in result.stderr
    assert all(whole(text) for name, text in files(folder / "results").items() if name.endswith(".csv"))
    assert go(folder, *command[1:], "--resume").returncode == 0


def test_a_run_finished_meanwhile_by_another_process_is_not_deleted(preload, folder):
    """One process has found the name free and is about to lock the folder; another one runs to its end; the first continues."""
    gate = folder / "gate"
    os.mkfifo(gate)
    environment = os.environ | {"LD_PRELOAD": str(preload), "LOCK_GATE": str(gate)}
    late = subprocess.Popen([OPBENCH, *RUN], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        # Opens when the late process has come to the lock, which it takes when this is closed.
        with open(gate, "w"):
            assert go(folder, *RUN).returncode == 0
            finished = files(folder / "results")
        _, errors = late.communicate(timeout=120)
    finally:
        late.kill()
    assert late.returncode == 64, errors
    assert files(folder / "results") == finished


def fill_disk_at_some_places(step, run, is_finished):
    """Calls `run` with a disk that is full from a place on, from place to place until the command comes to its end before."""
    for place in range(random.randrange(1, step + 1), 200, step):
        result = run(str(place))
        if result.returncode == 0:
            break
        assert "No space left on device" in result.stderr, f"{place}: {result.stderr}"
        is_finished(place, result)
    assert 4 * step < place < 200 - step


@pytest.mark.parametrize(
    "words",
    [
        ["baseline", "r", "--name", "new"], ["baseline", "r", "--name", "old", "--replace"],
        ["compare", "r", "r", "--csv", "c.csv", "--junit", "j.xml"],
    ],
)  # fmt: skip
def test_a_full_disk_while_files_are_written_exits_1_and_leaves_the_old_ones(preload, folder, words):
    assert go(folder, *RUN).returncode == 0
    assert go(folder, "baseline", "r", "--name", "old").returncode == 0
    (folder / "c.csv").write_text("old")
    before = files(folder)

    def is_unchanged(place, result):
        assert result.returncode == 1 and files(folder) == before, place

    fill_disk_at_some_places(1, lambda place: go(folder, *words, preload=preload, FULL_AT=place), is_unchanged)


def test_a_full_disk_during_a_run_exits_1_and_the_run_can_be_resumed(preload, folder):
    def can_be_resumed(place, result):
        assert result.returncode in (1, 64), f"{place}: {result.stderr}"
        torn = [name for name, text in files(folder / "results").items() if name.endswith(".csv") and not whole(text)]
        assert not torn, place
        # With the same libraries: a run is not resumed with others.
        again = go(folder, *RUN, *(["--resume"] if (folder / "results/r").exists() else []), preload=preload)
        assert again.returncode == 0, f"{place}: {again.stderr}"
        assert not [name for name in files(folder) if ".opbench-" in name], place
        shutil.rmtree(folder / "results")

    fill_disk_at_some_places(12, lambda place: go(folder, *RUN, preload=preload, FULL_AT=place), can_be_resumed)
