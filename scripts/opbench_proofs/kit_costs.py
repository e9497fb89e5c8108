"""What measuring through OpBenchKit adds to what is measured: the engine as a built-in backend and as a declared queue, in one
program, by the instructions that callgrind counts and by allocations."""

import json
import os
import re
import shutil
import statistics
import subprocess
from pathlib import Path

# As opbench counts for `explain --instructions`: between two functions that it calls around a round.
CALLGRIND = ["valgrind", "--tool=callgrind", "-q", "--vgdb=no", "--fair-sched=try", "--zero-before=clinux_counting_begins",
             "--dump-before=clinux_counting_ends"]  # fmt: skip
ROUNDS = 10
OPERATIONS = 2000
TOTAL = re.compile(r"^(?:totals|summary): (\d+)", re.M)


class Uncounted(Exception):
    """callgrind could not count."""


def orders(program: Path, workload: Path, backends: list[str], folder: Path) -> dict[str, dict]:
    """What opbench orders a sample's process to do, by backend: a script in its place keeps it."""
    kept = folder / "orders"
    kept.mkdir()
    keeper = folder / "keeper"
    keeper.write_text(
        f'#!/bin/sh\nif [ "$1" = __sample ]; then cat > {kept}/$$; exec {program} "$@" < {kept}/$$; fi\nexec {program} "$@"\n',
        encoding="utf-8",
    )
    keeper.chmod(0o755)
    command = [program, "ab", "--quick", "--blocks", "1", "--metric", "throughput", "--no-progress", "--run-id", "orders",
               "--backend", ",".join(backends), keeper, keeper, workload]  # fmt: skip
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    found = [json.loads(file.read_text(encoding="utf-8")) for file in kept.iterdir()]
    return {order["backend"]: order for order in found if order["flavour"] == "throughput"}


def instructions(program: Path, order: dict, folder: Path) -> float:
    """Of one operation, in the round with the fewest: the others have more of spinning and waking."""
    folder.mkdir()
    order = order | {
        "parent": os.getpid(),
        "profile": {"recorder": "instructions", "folder": str(folder), "targetNanoseconds": 1,
                    "limits": {"operations": OPERATIONS, "rounds": ROUNDS}},
    }  # fmt: skip
    copy = folder / "program"
    # What valgrind need not read.
    subprocess.run(["strip", "--strip-debug", "-o", copy, program], check=True)
    ended = subprocess.run(
        [*CALLGRIND, f"--callgrind-out-file={folder}/callgrind", copy, "__sample"], input=json.dumps(order),
        capture_output=True, text=True, env=os.environ | {"LD_LIBRARY_PATH": str(program.parent)},
    )  # fmt: skip
    try:
        answer = json.loads(ended.stdout)
    except json.JSONDecodeError as error:
        raise Uncounted(ended.stderr[-500:]) from error
    if answer["report"]["status"] != "ok":
        raise Uncounted(answer["report"]["notes"])
    totals = [
        int(TOTAL.search(file.read_text(encoding="utf-8"))[1])
        for file in folder.glob("callgrind.*") if file.suffix[1:].isdecimal()
    ]  # fmt: skip
    if len(totals) != ROUNDS:
        raise Uncounted(f"{len(totals)} of {ROUNDS} rounds")
    return min(totals) * ROUNDS / answer["operations"]


def ratio(program: Path, workload: Path, pair: tuple[str, str], turns: int, folder: Path) -> tuple[float, float, float]:
    """Instructions of an operation on both backends, and the second ÷ the first: medians over turns."""
    if shutil.which("valgrind") is None:
        raise Uncounted("valgrind is not installed")
    given = orders(program, workload, list(pair), folder)
    counted = [
        [instructions(program, given[name], folder / f"{name}-{turn}") for name in pair] for turn in range(turns)
    ]
    own, through = (statistics.median(column) for column in zip(*counted, strict=True))
    return own, through, statistics.median(second / first for first, second in counted)
