"""Proofs that are programs of their own: scripts/proofs/NUMBER-NAME BINARY FOLDER [--short].

Such a program prints a line for each figure and exits 0 if the claim held, 1 if not, 7 if opbench itself says that the
machine was too busy to tell. Its first comment line after the interpreter's is the claim.
"""

import subprocess
from pathlib import Path

from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import INCONCLUSIVE

FOLDER = Path(__file__).resolve().parents[1] / "proofs"
VERDICTS = {0: Verdict.HELD, 1: Verdict.REFUTED, INCONCLUSIVE: Verdict.UNDECIDED}


def titles() -> dict[int, str]:
    """The claims by number."""
    return {number: _claim(path) for number, path in _programs().items()}


def prove(setting: Setting, number: int) -> Outcome:
    command = [str(_programs()[number]), str(setting.tool.binary), str(setting.tool.folder)]
    done = subprocess.run(
        command + ["--short"] * setting.is_short, cwd=setting.tool.folder, capture_output=True, text=True, check=False
    )
    figures = done.stdout.splitlines()
    verdict = VERDICTS.get(done.returncode)
    if verdict is None:
        figures += [f"ended with {done.returncode}", *done.stderr.splitlines()[-3:]]
    return Outcome(verdict or Verdict.REFUTED, figures)


def _programs() -> dict[int, Path]:
    return {int(path.name.split("-")[0]): path for path in sorted(FOLDER.glob("[0-9]-*"))}


def _claim(path: Path) -> str:
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        if line.strip(" #\"'"):
            return line.strip(" #\"'")
    return path.name
