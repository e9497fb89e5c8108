"""What the commands of the proofs share: errors, and the folder of their figures."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from opbench_proofs.tool import ToolFailure

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


def run(prog: str, prove: Callable[[argparse.Namespace], bool], options: dict[str, dict[str, object]]) -> NoReturn:
    """Runs a proof with the options of the command line, and exits."""
    parser = Arguments(prog=prog, add_help=False)
    parser.add_argument("--binary", type=Path, required=True)
    for name, settings in options.items():
        parser.add_argument(name, **settings)
    try:
        held = prove(parser.parse_args())
    except (ToolFailure, subprocess.SubprocessError) as failure:
        print(f"{prog}: {failure}", file=sys.stderr)
        held = False
    sys.exit(0 if held else 1)
