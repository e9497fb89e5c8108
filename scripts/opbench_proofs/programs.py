"""Proofs that are programs of their own: scripts/proofs/NUMBER-NAME BINARY FOLDER [--short].

Such a program prints a line for each figure and exits 0 if the claim held, 1 if not. Its first comment line after the
interpreter's is the claim.
"""

import subprocess
from pathlib import Path

from opbench_proofs.proof import Outcome, Setting

FOLDER = Path(__file__).resolve().parents[1] / "proofs"


def titles() -> dict[int, str]:
    """The claims by number."""
    return {number: _claim(path) for number, path in _programs().items()}


def prove(setting: Setting, number: int) -> Outcome:
    command = [str(_programs()[number]), str(setting.tool.binary), str(setting.tool.folder)]
    done = subprocess.run(
        command + ["--short"] * setting.is_short, cwd=setting.tool.folder, capture_output=True, text=True, check=False
    )
    figures = done.stdout.splitlines()
    if done.returncode not in (0, 1):
        figures += [f"ended with {done.returncode}", *done.stderr.splitlines()[-3:]]
    return Outcome(held=done.returncode == 0, figures=figures)


def _programs() -> dict[int, Path]:
    return {int(path.name.split("-")[0]): path for path in sorted(FOLDER.glob("[0-9]-*"))}


def _claim(path: Path) -> str:
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        if line.strip(" #\"'"):
            return line.strip(" #\"'")
    return path.name
