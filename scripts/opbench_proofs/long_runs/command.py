"""The command line: kill, break, measure; print tables."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from opbench_proofs.long_runs import memory
from opbench_proofs.long_runs.faults import Faults
from opbench_proofs.long_runs.kills import Kills
from opbench_proofs.long_runs.run import Bench, Unexpected

ROOT = Path(__file__).resolve().parents[3]

DESCRIPTION = """\
Shows that a long run survives what happens in it. Parts, chosen by --only:

  kills    the process that starts the samples is killed at random moments while samples crash, hang, leak, fill the disk
           and stop themselves: at calls that touch a file, in a sample's life, at any time. After --resume every sample
           is there once, every file parses, no process is left.
  faults   every way in which a sample goes wrong, signals, stops for longer than the timeout, full and read-only disks, two
           runs into one folder: exit codes, what is said, what is left.
  memory   the resident memory of that process at 10^4, 10^5 and 10^6 rows, with samples that answer at once."""

EXAMPLES = """\
examples:
  scripts/prove-long-runs
  scripts/prove-long-runs --short --only kills,faults
  scripts/prove-long-runs --only kills --kills 1000 --seed 7

exit codes: 0 all held · 1 something did not · 64 bad usage"""

PARTS = ("kills", "faults", "memory")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = parse(arguments)
    held = True
    for part in options.only:
        begun = time.monotonic()
        print(f"{part}, seed {options.seed}" if part == "kills" else part, flush=True)
        with tempfile.TemporaryDirectory(prefix="opbench-long-runs-") as folder:
            bench = Bench(options.binary, Path(folder))
            held = {"kills": kills, "faults": faults, "memory": measure}[part](bench, options) and held
        print(f"   {time.monotonic() - begun:.0f} s", flush=True)
    return 0 if held else 1


def kills(bench: Bench, options: argparse.Namespace) -> bool:
    proof = Kills(bench, options.seed, options.kills, samples_between=3 if options.short else 10, timeout=options.timeout)
    try:
        lines = proof.prove()
    except Unexpected as problem:
        print(f"   DOES NOT HOLD after {proof.done} kills: {problem}", flush=True)
        return False
    for line in lines:
        print(f"   {line}", flush=True)
    return True


def faults(bench: Bench, options: argparse.Namespace) -> bool:
    proof = Faults(bench, *((1, 1) if options.short else (20, 4)), timeout=options.timeout)
    held = True
    for name, prove in proof.cases():
        try:
            words = prove()
        except Unexpected as problem:
            held = False
            words = f"DOES NOT HOLD: {problem}"
            bench.leftovers()
            for path in bench.temporary.iterdir():
                shutil.rmtree(path, ignore_errors=True)
        print(f"   {name}: {words}", flush=True)
    if os.geteuid() != 0:
        print("   not root: no small disks were mounted", flush=True)
    return held


def measure(bench: Bench, options: argparse.Namespace) -> bool:
    # In memory, where there is room: a disk's fsync would take the most of the time.
    room = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else bench.folder
    with tempfile.TemporaryDirectory(prefix="opbench-long-runs-", dir=room) as results:
        try:
            lines = memory.prove(bench, [10_000] if options.short else [10_000, 100_000, 1_000_000], Path(results))
        except Unexpected as problem:
            print(f"   DOES NOT HOLD: {problem}", flush=True)
            return False
    for line in lines:
        print(f"   {line}", flush=True)
    return True


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(64, f"prove-long-runs: {message}\nSee scripts/prove-long-runs --help.\n")


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = Arguments(
        prog="prove-long-runs", description=DESCRIPTION, epilog=EXAMPLES, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--binary", type=Path, help="the opbench to try (default: a release build; with --short a debug build)")
    parser.add_argument("--short", action="store_true", help="20 kills, few samples, 10^4 rows: some minutes")
    parser.add_argument("--kills", type=int, metavar="N", help="so many kills (default: 200)")
    parser.add_argument("--seed", type=int, metavar="N", help="chooses the moments (default: another one each time, printed)")
    parser.add_argument("--timeout", type=float, default=2, metavar="SECONDS", help="of a sample (default: 2)")
    parser.add_argument("--only", metavar="LIST", help=f"only these parts, separated by commas: {', '.join(PARTS)}")
    options = parser.parse_args(arguments)
    options.binary = (options.binary or ROOT / ".build/release/opbench").resolve()
    if not options.binary.is_file():
        parser.error(f"there is no program {options.binary}; give the path of a built opbench as --binary")
    options.only = options.only.split(",") if options.only else list(PARTS)
    if not set(options.only) <= set(PARTS):
        parser.error(f"--only takes {', '.join(PARTS)}")
    if options.kills is None:
        options.kills = 20 if options.short else 200
    if options.kills < 1 or options.timeout <= 0:
        parser.error("--kills and --timeout are greater than 0")
    if options.seed is None:
        options.seed = time.time_ns() % 1_000_000
    return options


if __name__ == "__main__":
    sys.exit(main())
