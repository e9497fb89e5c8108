"""Kills the real opbench with SIGKILL at places where it touches a file and at places in a sample's life, and resumes the
run: saved data stays unchanged, missing samples are measured once, and no process is left behind."""

import csv
import ctypes
import json
import os
import random
import signal
import subprocess

import pytest
from conftest import OPBENCH

PR_SET_CHILD_SUBREAPER = 36

WORKLOAD = {
    "name": "small", "summary": "s", "shape": "independent", "parameters": {"items": 20, "form": "block", "work_ns": 0},
    "backends": ["dispatch", "serial"], "sample_kinds": ["latency"],
    "skip": [{"backend": "serial", "when": {"items": 20}, "reason": "for a row of an omission"}],
}  # fmt: skip
KEY = ["sample_id", "phase", "operation_class", "iteration", "metric", "stat"]
HISTOGRAM = ["sample_id", "stage", "operation_class"]


class Run:
    """A run's folder, and the command that creates it."""

    def __init__(self, folder):
        self.folder = folder
        # A run is resumed with the libraries that it began with.
        self.preload = None
        folder.mkdir()
        (folder / "small.json").write_text(json.dumps(WORKLOAD))
        self.path = folder / "results/r"

    def go(self, *more, preload=None, **variables):
        """The exit status; minus the signal's number if a signal ended it."""
        environment = os.environ | variables
        self.preload = preload or self.preload
        if self.preload:
            environment["LD_PRELOAD"] = str(self.preload)
        command = [OPBENCH, "run", "--quick", "--run-id", "r", "--no-progress", "small.json", *more]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, timeout=120).returncode

    def go_on(self):
        """Runs as after a crash: with `--resume` if the run's folder exists."""
        return self.go(*(["--resume"] if self.path.exists() else []))

    def rows(self, name="samples.csv"):
        with open(self.path / name, newline="") as file:
            return list(csv.DictReader(file))

    def saved(self):
        """The text of all complete samples, up to the last `status` row."""
        try:
            lines = (self.path / "samples.csv").read_text().splitlines(keepends=True)
        except FileNotFoundError:
            return ""
        ends = [number for number, line in enumerate(lines) if ",status," in line and line.endswith("\n")]
        return "".join(lines[: ends[-1] + 1]) if ends else ""

    def check_whole(self, reference):
        rows = self.rows()
        keys = [tuple(row[name] for name in KEY) for row in rows]
        assert len(set(keys)) == len(keys)
        assert self.samples() == reference.samples()
        histograms = [tuple(row[name] for name in HISTOGRAM) for row in self.rows("histograms.csv")]
        assert len(set(histograms)) == len(histograms)
        assert {histogram[:2] for histogram in histograms} == reference.stages()
        assert len(self.rows("summary.csv")) == 2
        progress = json.loads((self.path / "run.json").read_text())["progress"]
        assert progress["state"] == "finished"
        assert progress["samples_done"] == len(reference.samples()) - 1

    def samples(self):
        """The ids of all samples, one for each `status` row. Repeats of noisy samples vary between runs."""
        ends = [row["sample_id"] for row in self.rows() if row["metric"] == "status"]
        return sorted(name for name in ends if "r-" not in name)

    def stages(self):
        return {(row["sample_id"], row["stage"]) for row in self.rows("histograms.csv")}


@pytest.fixture(scope="module")
def reference(preload, tmp_path_factory):
    run = Run(tmp_path_factory.mktemp("reference") / "run")
    assert run.go() == 0
    assert len(run.samples()) == 3
    return run


@pytest.fixture
def orphans():
    """Orphaned processes become children of this one, and must all have ended."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    yield
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0)


def wait_for_orphans():
    """Returns when none is left; waits to the end of a sample that outlives its parent."""
    endings = []
    while True:
        try:
            endings.append(os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1]))
        except ChildProcessError:
            return endings


def test_killed_at_places_where_a_file_is_touched(preload, reference, tmp_path, orphans):
    """At every sixth place from a random one on; at every other in `scripts/test --deep`."""
    step = 2 if "deep" in os.environ.get("OPBENCH_TEST", "").split(",") else 6
    place = random.randrange(step)
    status = -signal.SIGKILL
    while status == -signal.SIGKILL:
        place += step
        run = Run(tmp_path / str(place))
        status = run.go(preload=preload, KILL_AT=str(place))
        assert status in (0, -signal.SIGKILL), place
        wait_for_orphans()
        before = run.saved()
        if status == 0:
            break
        assert run.go_on() == 0, f"killed at {place}"
        assert run.saved().startswith(before), f"killed at {place}: saved samples have changed"
        run.check_whole(reference)
    # The folders, the description five times, two samples with their histograms, the summary.
    assert place > 40


@pytest.mark.parametrize("stage", ["read", "thread", "answer"])
def test_the_parent_is_killed_while_a_sample_is_taken(preload, reference, tmp_path, orphans, stage):
    run = Run(tmp_path / "run")
    assert run.go(preload=preload, KILL_PARENT=stage) == -signal.SIGKILL
    # The sample dies with the run, or notices at its start that the run is dead.
    assert set(wait_for_orphans()) <= {-signal.SIGKILL, 64}
    assert run.go_on() == 0
    run.check_whole(reference)


def test_a_resumed_run_can_be_killed_as_well(preload, reference, tmp_path, orphans):
    """Repeatedly, each time some places further into the rest, until the run is complete."""
    run = Run(tmp_path / "run")
    status = run.go(preload=preload, KILL_AT="50")
    for place in range(5, 300, 15):
        if status == 0:
            break
        assert status == -signal.SIGKILL
        wait_for_orphans()
        before = run.saved()
        status = run.go("--resume", preload=preload, KILL_AT=str(place))
        assert run.saved().startswith(before)
    run.check_whole(reference)
