"""Runs opbench like a user."""

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

PASS, REGRESSION, INCONCLUSIVE = 0, 2, 7

WORK = {
    "name": "proof-work",
    "summary": "Operations of 5 µs, one at a time: their time is the work kernel's",
    "shape": "independent",
    "parameters": {"items": 4000, "work_ns": 5000, "max_concurrent": 1},
    "backends": ["engine"],
    "sample_kinds": ["throughput"],
}
TINY = {
    "name": "proof-tiny",
    "summary": "Operations without work, from one thread, and chains of them: their time is the engine's own",
    "shape": "independent",
    "parameters": {"items": 20000, "work_ns": 0, "max_concurrent": [1, "default"]},
    "backends": ["engine"],
    "sample_kinds": ["throughput"],
}


class ToolFailure(Exception):
    """opbench ended in a way that no proof expects."""


@dataclass
class Gate:
    """The result of a gate."""

    status: int
    output: str
    """The output as Markdown, whose tables have all columns."""
    seconds: float

    def detects(self) -> list[float | None]:
        """For each figure, the relative worsening that the gate would report as a regression 95 times in 100; None if it
        states none."""
        lines = [line[2:-2].split(" | ") for line in self.output.splitlines() if line.startswith("| ")]
        # The table of all figures is the last one.
        titles, _, *rows = lines[max((place for place, line in enumerate(lines) if line[0] == "cell"), default=0) :]
        if "detects" not in titles:
            raise ToolFailure(f"the gate's table has unknown columns: {', '.join(titles)}")
        return [_part(row[titles.index("detects")]) for row in rows]


def _part(percent: str) -> float | None:
    return None if percent == "-" else float(percent.removesuffix(" %").replace(",", "")) / 100


class OpBench:
    """The program under test, and its working folder."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary.resolve()
        self.folder = folder

    def write(self, name: str, content: object) -> str:
        """Writes a workload or a policy; returns its name."""
        (self.folder / name).write_text(json.dumps(content), encoding="utf-8")
        return name

    def run(self, *words: str, allowed: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        """Runs opbench to its end."""
        done = subprocess.run([self.binary, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode not in allowed:
            raise ToolFailure(f"opbench {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
        return done

    def start_ab(self, run_id: str, workload: str, *options: str) -> subprocess.Popen[bytes]:
        """Starts to measure this build against itself."""
        command = [self.binary, "ab", self.binary, self.binary, workload, "--run-id", run_id, "--no-progress", *options]
        return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ab(self, run_id: str, workload: str, *options: str) -> float:
        """Measures this build against itself; returns the time in seconds."""
        begun = time.monotonic()
        self.run("ab", str(self.binary), str(self.binary), workload, "--run-id", run_id, "--no-progress", *options)
        return time.monotonic() - begun

    def gate(self, *words: str) -> Gate:
        """Runs a gate; any verdict is accepted, other exit codes are failures."""
        begun = time.monotonic()
        done = self.run("gate", *words, "--format", "markdown", allowed=(PASS, REGRESSION, INCONCLUSIVE))
        return Gate(done.returncode, done.stdout, time.monotonic() - begun)

    def samples(self, run_id: str) -> Path:
        """The path of a run's rows."""
        return self.folder / "results" / run_id / "samples.csv"
