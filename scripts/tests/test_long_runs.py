"""Samples that fail in every way, and runs that are killed or stopped in the meantime: in the end, each sample is there once."""

import csv
import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import OPBENCH

PR_SET_CHILD_SUBREAPER = 36
# By the last digit of `items`, as in faulty_child.c: the status, and the beginning of the note.
KINDS = {
    0: ("ok", ""), 2: ("crashed", "SIGABRT"), 3: ("crashed", "SIGSEGV"), 4: ("timeout", ""),
    5: ("crashed", "SIGABRT; out of memory"), 7: ("crashed", "SIGABRT; and so on"), 8: ("ok", ""), 9: ("timeout", ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    if not OPBENCH.exists():
        pytest.skip(f"{OPBENCH} is not built")
    library = tmp_path_factory.mktemp("preload") / "faulty_child.so"
    source = Path(__file__).with_name("faulty_child.c")
    compiler = shutil.which("clang") or shutil.which("cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture(autouse=True)
def orphans():
    """Processes that lose their parent become children of this one."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    yield
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0)


class Run:
    def __init__(self, folder, items, *options):
        self.folder, self.path = folder, folder / "results/r"
        workload = {
            "name": "w", "summary": "s", "shape": "independent", "parameters": {"items": items, "work_ns": 0},
            "backends": ["dispatch"], "sample_kinds": ["throughput"],
        }  # fmt: skip
        (folder / "w.json").write_text(json.dumps(workload))
        self.words = ["run", "--quick", "--no-progress", "--run-id", "r", *options, "w.json"]

    def start(self, preload=None):
        """Runs as after a crash: with `--resume` if the run's folder exists."""
        words = [OPBENCH, *self.words, *(["--resume"] if self.path.exists() else [])]
        environment = os.environ | ({"LD_PRELOAD": str(preload)} if preload else {})
        # In a file, because leftover processes would hold a pipe open.
        with open(self.folder / "said", "wb") as said:
            return subprocess.Popen(words, cwd=self.folder, env=environment, stdout=said, stderr=said)

    def ends(self):
        """The status rows: one for each planned sample."""
        with open(self.path / "samples.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["metric"] == "status"]
        manifest = json.loads((self.path / "run.json").read_text())
        planned = sorted(line.split(" ", 1)[0] for line in manifest["plan"]["order"])
        assert sorted(row["sample_id"] for row in rows) == planned
        progress = manifest["progress"]
        assert (progress["state"], progress["samples_done"]) == ("finished", len(planned))
        return rows

    def count(self):
        rows = self.path / "samples.csv"
        return rows.read_bytes().count(b",status,") if rows.exists() else 0


def nothing_is_left():
    """Every process of the run ends soon after it; waiting for one that continues would fail."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.01)
        except ChildProcessError:
            return True
    return False


# Samples that never end get little time, the others more than a busy machine takes.
ENDLESS = [kind for kind, (status, _) in KINDS.items() if status == "timeout"]
OTHERS = [kind for kind in KINDS if kind not in ENDLESS]


@pytest.mark.parametrize("kills", [0, 6])
@pytest.mark.parametrize(("kinds", "timeout"), [(ENDLESS, 2), (OTHERS, 120)])
def test_every_sample_is_there_once_with_its_status(faults, tmp_path, kinds, timeout, kills):
    # Once the run is killed, nothing ends a process that a sample started and that outlives it.
    kinds = [kind for kind in kinds if kind != 8 or kills == 0]
    run = Run(tmp_path, [10 + kind for kind in kinds], "--blocks", "1", "--timeout", str(timeout))
    seed = random.randrange(1 << 20)
    numbers = random.Random(seed)
    for _ in range(kills):
        process = run.start(faults)
        time.sleep(numbers.uniform(0, 1.5))
        process.kill()
        process.wait()
        assert nothing_is_left(), seed
    status = run.start(faults).wait(timeout=600)
    assert status == 3, (seed, (tmp_path / "said").read_text())
    assert nothing_is_left(), seed
    ends = run.ends()
    assert {row["param_items"] for row in ends} == {str(10 + kind) for kind in kinds}
    for row in ends:
        status, note = KINDS[int(row["param_items"]) - 10]
        assert row["status"] == status and row["notes"].startswith(note), (seed, row)


@pytest.mark.parametrize("with_sample", [False, True])
def test_a_stop_is_not_counted_as_a_samples_time(faults, tmp_path, with_sample):
    """A stop as by Ctrl-Z, or by a sleeping machine, for longer than the timeout."""
    run = Run(tmp_path, [10, 20], "--blocks", "12", "--timeout", "5")
    process = run.start()
    deadline = time.monotonic() + 60
    while run.count() < 3 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    stopped = [process.pid]
    os.kill(process.pid, signal.SIGSTOP)
    if with_sample:
        children = Path(f"/proc/{process.pid}/task").glob("*/children")
        for child in " ".join(path.read_text() for path in children).split():
            stopped.append(int(child))
            os.kill(int(child), signal.SIGSTOP)
    time.sleep(7)
    for other in reversed(stopped):
        try:
            os.kill(other, signal.SIGCONT)
        except ProcessLookupError:
            pass
    assert process.wait(timeout=120) == 0
    assert {row["status"] for row in run.ends()} == {"ok"}
