"""The hook that checks the subjects of commits."""

import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

CHANGE = "# ------------------------ >8 ------------------------\n" + "diff --git a b\n" * 20_000


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("engine: wake one worker a push\n\nWhy.\n# A comment.", 0), ("scripts: address a race", 0), ("Merge branch 'x'", 0),
        ("fixup! engine: Woken", 0), ("docs: " + "x" * 66, 0), ("engine: wake one worker\n\nCHANGE", 0),
        ("\n# Comments alone.\nCHANGE", 1), ("wake one worker a push", 1), ("engine: wakes one worker", 1),
        ("engine: waking a worker", 1), ("engine: mended a race", 1), ("engine:x", 1), ("", 1), ("docs: " + "x" * 67, 1),
        ("engine: wake one worker; count them", 1), ("engine: wake one worker.", 1),
    ],
)  # fmt: skip
def test_subjects(message: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "message").write_text(message.replace("CHANGE", CHANGE) + "\n", encoding="utf-8")
    hook = [ROOT / "scripts/hooks/commit-msg", tmp_path / "message"]
    assert subprocess.run(hook, capture_output=True, check=False).returncode == status
