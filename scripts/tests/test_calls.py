"""The tracer that counts a sample's futex calls and threads: exact on known loops, and invisible in how a process ends."""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHIMS = ROOT / "Sources/CLinuxMeasure"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    compiler = shutil.which("clang") or shutil.which("cc")
    program = tmp_path_factory.mktemp("calls") / "count_calls"
    sources = [Path(__file__).with_name("count_calls.c"), SHIMS / "Calls.c"]
    command = [compiler, "-O1", "-Wall", "-Werror", "-pthread", f"-I{SHIMS}/include", "-o", program, *sources]
    subprocess.run(command, check=True)
    probe = subprocess.run([program, "exact"], capture_output=True, text=True, check=True)
    if probe.stdout == "not permitted\n":
        pytest.skip("ptrace(2) or seccomp(2) is not permitted here")
    return program


def test_known_loops_are_counted_exactly(program):
    for _ in range(10):
        output = subprocess.run([program, "exact"], capture_output=True, text=True, check=True).stdout
        alone, with_threads, threads = map(int, output.split())
        assert alone == 1000
        # Joining may wait once per thread.
        assert 1500 <= with_threads <= 1503
        assert threads == 3


def test_the_process_ends_as_if_it_were_not_traced(program):
    assert subprocess.run([program, "exit"]).returncode == 7
    assert subprocess.run([program, "crash"]).returncode == -signal.SIGSEGV


def test_killing_the_tracer_kills_the_traced(program):
    with subprocess.Popen([program, "hang"], stdout=subprocess.PIPE, text=True) as process:
        traced = int(process.stdout.readline())
        assert traced != process.pid
        process.kill()
        # The pipe closes when the last process that holds it ends.
        assert process.stdout.read() == ""
