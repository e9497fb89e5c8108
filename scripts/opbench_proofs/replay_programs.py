"""A replay on the engine takes the time that the recorded program took, and with another limit what the program then takes."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from opbench_proofs.replay_claims import Claim, figures
from opbench_proofs.tool import OpBench, ToolFailure

FIGURES = {"throughput": "completions_per_s", "p99": "p99_ms"}
"""The names that the programs have for them."""


@dataclass(frozen=True)
class Program:
    """A program of Tests/Examples/recorded-programs, which takes a count and the limit of its queues."""

    name: str
    count: int
    limit: int
    other_limit: int

    def run(self, binary: Path, limit: int, recording: Path | None = None) -> dict[str, float]:
        """What the program measured of itself."""
        variables = {"OPERATION_ENGINE_RECORD": str(recording)} if recording else {}
        command = [binary.resolve().with_name(self.name), str(self.count), str(limit)]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolFailure(f"{self.name} ended with {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)


PROGRAMS = (
    # 52 % busy on two processors, as a camera delivers pictures.
    Program("image-pipeline", 1000, limit=2, other_limit=1),
    # All at once; the operations wait for the server.
    Program("downloader", 1000, limit=4, other_limit=8),
)


def claims(tool: OpBench, rounds: int) -> list[Claim]:
    """Runs each program at both limits and replays the recording of the first at both, several times in turn."""
    found = []
    for program in PROGRAMS:
        ran: dict[tuple[int, str], list[float]] = {}
        replayed: dict[tuple[int, str], list[float]] = {}
        for number in range(rounds):
            one = f"{program.name}-{number}"
            recording = tool.folder / f"{one}.oprec"
            measured = {
                program.limit: program.run(tool.binary, program.limit, recording),
                program.other_limit: program.run(tool.binary, program.other_limit),
            }
            tool.run("init", "--from-recording", str(recording), "-o", f"{one}.json")
            limits = {"recorded": program.limit, str(program.other_limit): program.other_limit}
            tool.run(
                "run", f"{one}.json", "--run-id", one, "--no-progress", "--backend", "engine", "--blocks", "1",
                "--metric", "throughput,latency", "--set", f"limit={','.join(limits)}",
            )  # fmt: skip
            for (_, limit, _, figure), value in figures(tool, one).items():
                if figure in FIGURES:
                    ran.setdefault((limits[limit], figure), []).append(measured[limits[limit]][FIGURES[figure]])
                    replayed.setdefault((limits[limit], figure), []).append(value)
        for (limit, figure), values in sorted(ran.items(), key=lambda item: item[0] != program.limit):
            change = "" if limit == program.limit else f"limit {limit}"
            found.append(Claim(program.name, change, figure, median(values), median(replayed[limit, figure])))
    return found
