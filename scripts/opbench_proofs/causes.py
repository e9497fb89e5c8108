"""The command of scripts/prove-causes."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from opbench_proofs.arguments import keep, run
from opbench_proofs.tool import OpBench, ToolFailure

EXPECTED = {
    "thumbnail-server": {
        "lock": ("blocked", "RefreshPalette in others"),
        "dependency": ("blocked", "Lookup in others"),
        "limit": ("limit", "the limit 1 of drawings"),
        "neighbour": ("overloaded", "no processor"),
        "suspension": ("suspended", "drawings"),
    },
    "shop": {
        "lock": ("blocked", "Recount in database"),
        "dependency": ("blocked", "ExchangeRates in web"),
        "limit": ("limit", "the limit 1 of database"),
        "neighbour": ("overloaded", "no processor"),
        "suspension": ("suspended", "web"),
    },
}
"""The first word for each fault of each program, and the beginning of its cause."""


@contextmanager
def busy_processors() -> Iterator[None]:
    """Has a process for each processor that computes."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def record(binary: Path, program: str, fault: str, recording: Path) -> None:
    """Runs a program with a fault for some seconds."""
    path, variables = binary.with_name(program), {**os.environ, "OPERATION_ENGINE_RECORD": str(recording)}
    if program == "shop":
        subprocess.run([path, "4", fault], env=variables, check=True, timeout=120)
        return
    with subprocess.Popen([path, "0", fault], env=variables, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            words = server.stdout.readline().split()
            if not words:
                raise ToolFailure("thumbnail-server did not start")
            count = "1500" if fault == "limit" else "3000"
            load = [path, "load", words[-1], count, "100", "5"]
            subprocess.run(load, stdout=subprocess.DEVNULL, check=True, timeout=120)
        finally:
            server.send_signal(signal.SIGINT)


def first_cause(tool: OpBench, recording: Path) -> tuple[str, str]:
    """The word and the name of what `opbench trace` names first."""
    output = tool.folder / "trace"
    shutil.rmtree(output, ignore_errors=True)
    tool.run("trace", "--no-progress", "--output", str(output), str(recording))
    (tail,) = output.glob("*/tail.json")
    culprits = json.loads(tail.read_text(encoding="utf-8"))["culprits"]
    return (culprits[0]["word"], culprits[0]["name"]) if culprits else ("nothing", "")


def judge(tool: OpBench, rounds: int, machine: str) -> list[dict[str, object]]:
    """Records each fault of each program, several times."""
    found = []
    for program, faults in EXPECTED.items():
        for fault, (word, beginning) in faults.items():
            causes = []
            for number in range(rounds):
                recording = tool.folder / f"{program}-{fault}-{machine}-{number}.oprec"
                record(tool.binary, program, fault, recording)
                causes.append(first_cause(tool, recording))
            held = [cause[0] == word and cause[1].startswith(beginning) for cause in causes]
            others = sorted({" ".join(cause) for cause, is_right in zip(causes, held) if not is_right})
            print(f"{program}, {fault}, {machine}: {sum(held)} of {rounds} {'; '.join(others)}".rstrip(), flush=True)
            found.append(
                {"program": program, "fault": fault, "machine": machine, "named": sum(held), "recordings": rounds}
            )
    return found


def prove(options: argparse.Namespace) -> bool:
    """Judges all faults on a quiet and on a busy machine, and says whether every recording's first cause was the fault."""
    rounds = 1 if options.short else 5
    with tempfile.TemporaryDirectory(prefix="prove-causes-") as folder:
        tool = OpBench(options.binary, Path(folder))
        found = judge(tool, rounds, "quiet")
        with busy_processors():
            found += judge(tool, rounds, "busy")
    if not options.short:
        keep("causes", found)
    return all(one["named"] == one["recordings"] for one in found)


if __name__ == "__main__":
    run("prove-causes", prove, {"--short": {"action": "store_true"}})
