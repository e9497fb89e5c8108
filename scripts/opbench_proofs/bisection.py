"""`opbench bisect` finds a commit that makes operations a little slower, in histories that are equal otherwise."""

import argparse
import json
import os
import random
import re
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from opbench_proofs.arguments import keep, run
from opbench_proofs.tool import WORK, ToolFailure

COMPILER = """\
#!/bin/sh
case $1 in
    --version) echo "a compiler"; exit ;;
    package) echo '{"products": [{"name": "opbench", "type": {"executable": null}}], "targets": [], "dependencies": []}'; exit ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
        --package-path) package=$2; shift ;;
        --scratch-path) scratch=$2; shift ;;
        --show-bin-path) echo "$scratch/bin"; exit ;;
    esac
    shift
done
mkdir -p "$scratch/bin"
cp "$package/program" "$scratch/bin/opbench"
chmod +x "$scratch/bin/opbench"
"""
"""Replaces swift: the program of a commit is its file `program`."""

PROGRAM = """\
#!/bin/sh
# commit NUMBER
request=$(awk '{
    if (match($0, /"iterations_per_ns":[-+.0-9eE]+/)) {
        number = substr($0, RSTART + 20, RLENGTH - 20)
        printf "%s\\"iterations_per_ns\\":%.17g%s\\n", substr($0, 1, RSTART - 1), number * FACTOR, substr($0, RSTART + RLENGTH)
    } else print
}')
exec 'BINARY' "$@" <<END
$request
END
"""
"""A program that changes the speed of the work in a sample's request: every operation of 5 µs then takes FACTOR times that."""


@dataclass
class Search:
    """One history, and what was found in it."""

    history: int
    culprit: int
    suspects: list[int]
    status: int
    seconds: float
    steps: list[str]
    """The lines of the table of steps."""

    @property
    def is_found(self) -> bool:
        return self.status == 0 and self.suspects == [self.culprit]

    def line(self) -> str:
        """The result in one line."""
        named = ", ".join(map(str, self.suspects)) or "none"
        result = "found" if self.is_found else f"MISSED, exit code {self.status}"
        return f"{self.history:>7}  {self.culprit:>7}  {named:<16}  {len(self.steps):>5}  {self.seconds:>6.0f} s  {result}"


HEADING = "history  culprit  reported          steps      time  result"


class History:
    """A package in a git repository, whose commits from the culprit on are slower."""

    def __init__(self, folder: Path, binary: Path, commits: int, culprit: int, slowdown: float) -> None:
        self.folder = folder
        folder.mkdir()
        self._git("init", "--quiet", "--initial-branch=main")
        (folder / "Package.swift").touch()
        (folder / ".gitignore").write_text(".build/\nresults/\n", encoding="utf-8")
        (folder / "work.json").write_text(json.dumps(WORK), encoding="utf-8")
        self.ids = []
        for number in range(commits + 1):
            factor = 1 + slowdown if number >= culprit else 1
            text = PROGRAM.replace("NUMBER", str(number)).replace("FACTOR", repr(factor)).replace("BINARY", str(binary))
            (folder / "program").write_text(text, encoding="utf-8")
            self._git("add", "--all")
            self._git("commit", "--quiet", "--no-verify", "--message", f"commit {number}")
            self.ids.append(self._git("rev-parse", "HEAD").strip())

    def _git(self, *words: str) -> str:
        names = ["-c", "user.name=proof", "-c", "user.email=proof@localhost"]
        done = subprocess.run(["git", *names, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolFailure(f"git {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def search(self, binary: Path, tools: Path, number: int, culprit: int) -> Search:
        """Searches the whole history."""
        words = ["bisect", f"{self.ids[0]}..{self.ids[-1]}", "--product", "opbench", "--no-explain", "--no-progress", "--run-id", "b",
                 "--seed", str(number + 1), "work.json"]  # fmt: skip
        begun = time.monotonic()
        environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "COLUMNS": "200"}
        done = subprocess.run([binary, *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 7):
            raise ToolFailure(f"opbench {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
        suspects = re.findall(r"^  ([0-9a-f]{10})  ", done.stdout.partition("\n\n")[0], re.MULTILINE)
        places = [next(place for place, full in enumerate(self.ids) if full.startswith(short)) for short in suspects]
        steps = re.findall(r"^ *\d+  [0-9a-f]{10}  .*$", done.stdout, re.MULTILINE)
        return Search(number, culprit, places, done.returncode, round(time.monotonic() - begun, 1), steps)


def prove(binary: Path, program: Path, histories: int, commits: int, slowdown: float) -> list[Search]:
    """Searches all histories, and prints a line for each."""
    searches = []
    with tempfile.TemporaryDirectory(prefix="opbench-bisect-") as folder:
        tools = Path(folder) / "tools"
        tools.mkdir()
        (tools / "swift").write_text(COMPILER, encoding="utf-8")
        (tools / "swift").chmod(0o755)
        print(HEADING, flush=True)
        for number in range(histories):
            culprit = random.Random(number).randint(1, commits)
            history = History(Path(folder) / str(number), program, commits, culprit, slowdown)
            searches.append(history.search(binary, tools, number, culprit))
            print(searches[-1].line(), flush=True)
    return searches


def search_all(options: argparse.Namespace) -> bool:
    """Searches all histories, keeps the figures, and says whether every search found its commit."""
    binary, program = options.binary.resolve(), (options.program or options.binary).resolve()
    searches = prove(binary, program, options.histories, options.commits, options.slowdown)
    found = sum(search.is_found for search in searches)
    print(f"found in {found} of {len(searches)} histories of {options.commits} commits, by a slowdown of {options.slowdown:.0%}")
    held = found == len(searches)
    keep("bisect", {"held": held, "slowdown": options.slowdown, "searches": [asdict(search) for search in searches]})
    return held


if __name__ == "__main__":
    count = {"type": int, "choices": range(1, 101), "metavar": "N"}
    run("prove-bisect", search_all, {
        "--program": {"type": Path, "metavar": "FILE", "help": "takes the samples; by default --binary"},
        "--histories": count | {"default": 10}, "--commits": count | {"default": 16},
        "--slowdown": {"type": float, "default": 0.05, "metavar": "PART"},
    })  # fmt: skip
