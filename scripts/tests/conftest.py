"""Makes the scripts importable, keeps matplotlib's cache out of the home folder, and provides fixtures for tests of the real
opbench."""

import atexit
import contextlib
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
if "MPLCONFIGDIR" not in os.environ:
    os.environ["MPLCONFIGDIR"] = tempfile.mkdtemp(prefix="opbench-matplotlib-")
    atexit.register(shutil.rmtree, os.environ["MPLCONFIGDIR"], ignore_errors=True)

ROOT = Path(__file__).resolve().parents[2]
OPBENCH = ROOT / ".build/debug/opbench"


@pytest.fixture(scope="module")
def preload(tmp_path_factory):
    """The library of kill_at.c, for preloading into opbench."""
    if not OPBENCH.exists():
        pytest.skip(f"{OPBENCH} is not built")
    compiler = shutil.which("clang") or shutil.which("cc")
    library = tmp_path_factory.mktemp("preload") / "kill_at.so"
    source = Path(__file__).with_name("kill_at.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl"], check=True)
    return library


def on_a_terminal(
    run: Callable[[dict], subprocess.CompletedProcess[str]],
) -> tuple[subprocess.CompletedProcess[str], str]:
    """Calls `run` with streams that connect a process to a terminal; returns the result and the displayed text."""
    own, others = pty.openpty()
    shown: list[bytes] = []

    def read() -> None:
        # Ends with an error when no process has the other end any more.
        with contextlib.suppress(OSError):
            while text := os.read(own, 1 << 16):
                shown.append(text)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        result = run({"stdin": others, "stdout": others, "stderr": others})
    finally:
        os.close(others)
        reader.join()
        os.close(own)
    return result, b"".join(shown).decode()
