"""The hook that checks the subjects of commits."""

import subprocess
from pathlib import Path

import pytest

HOOK = Path(__file__).resolve().parents[1] / "hooks" / "commit-msg"


def status(message: str, folder: Path) -> int:
    (folder / "message").write_text(message, encoding="utf-8")
    return subprocess.run([HOOK, folder / "message"], capture_output=True, check=False).returncode


@pytest.mark.parametrize(
    "subject",
    ["engine: wake one worker a push", "scripts: address a race", "Merge branch 'x'", "fixup! engine: Woken", "docs: " + "x" * 66],
)
def test_accepts(subject: str, tmp_path: Path) -> None:
    assert status(f"{subject}\n\nWhy.\n# A comment.\n", tmp_path) == 0


def test_a_change_in_the_message_is_not_read(tmp_path: Path) -> None:
    change = "# ------------------------ >8 ------------------------\n" + "diff --git a b\n" * 20_000
    assert status(f"engine: wake one worker\n\n{change}", tmp_path) == 0
    assert status(f"\n# Comments alone.\n{change}", tmp_path) == 1


@pytest.mark.parametrize(
    "subject",
    [
        "wake one worker a push", "engine: wakes one worker", "engine: waking a worker", "engine: mended a race", "engine:x",
        "engine: wake one worker; count them", "engine: wake one worker.", "docs: " + "x" * 67, "",
    ],
)  # fmt: skip
def test_rejects(subject: str, tmp_path: Path) -> None:
    assert status(f"{subject}\n", tmp_path) == 1
