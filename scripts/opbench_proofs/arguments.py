"""What the commands of the proofs share: errors of usage, and the folder of their figures."""

import argparse
import json
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results" / "proofs"


class Arguments(argparse.ArgumentParser):
    """A parser without abbreviations, whose errors exit with 64."""

    def __init__(self, **options: object) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(64, f"{self.prog}: {message}\nSee scripts/{self.prog} --help.\n")


def keep(name: str, figures: object, folder: Path = RESULTS) -> None:
    """Writes figures as NAME.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
