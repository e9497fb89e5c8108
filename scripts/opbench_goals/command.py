"""The command line: measure, hold against the goals, print the table, write it."""

import argparse
import json
import sys
import time
from pathlib import Path

from opbench_goals import goals, measuring, table
from opbench_goals.errors import CannotMeasure
from opbench_goals.goals import ALLOCATORS, Goal
from opbench_goals.judging import Verdict, judge
from opbench_goals.measuring import ROOT, WORKLOADS
from opbench_goals.rows import Rows
from opbench_plots.errors import BadInput

GOALS = WORKLOADS / "goals" / "goals.json"
LATENCY_BLOCKS = ["--blocks", "7"]
"""For workloads that are about latencies alone: one more than an interval needs. The others have as many by default."""

DESCRIPTION = """\
Measures the engine's speed workloads, once with glibc's malloc and once with jemalloc, and prints how far the engine is
from each of its goals: ratios to Foundation and Dispatch within the same blocks, with 95 % intervals. A `?` means that
the interval holds the limit. In parentheses: the least and the greatest of too few samples for an interval. The table
is also written as CSV. This command exits 0 whatever the figures are; `opbench gate` judges changes."""

EXAMPLES = """\
examples:
  scripts/engine-goals                              everything, with both allocators
  scripts/engine-goals --quick                      few samples: does it work, and roughly how far is it?
  scripts/engine-goals --only tiny,chain --allocator system
  scripts/engine-goals --from results/a results/b   the table of earlier runs
  scripts/engine-goals --keep engine                keep the runs in results/baseline/engine-system, …

exit codes: 0 the table is printed · 1 cannot build or run opbench · 64 bad usage or bad input"""


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(BadInput.exit_code, f"engine-goals: {message}\nSee scripts/engine-goals --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    options = _parse(arguments)
    try:
        asked = _asked(goals.load(options.goals), options.only)
        runs = [(allocator_of(folder), folder) for folder in options.runs] or _measure(asked, options)
        verdicts: list[Verdict] = []
        for allocator in dict.fromkeys(allocator for allocator, _ in runs):
            found = judge(asked, Rows(*(folder for name, folder in runs if name == allocator)), allocator)
            print(table.text(found, allocator), flush=True)
            verdicts += found
        table.write(verdicts, options.table)
        print(f"engine-goals: the table is in {options.table}", file=sys.stderr)
    except (BadInput, CannotMeasure) as error:
        print(f"engine-goals: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _asked(found: list[Goal], names: list[str]) -> list[Goal]:
    """The goals of these workloads, or all of them."""
    known = list(dict.fromkeys(goal.workload for goal in found))
    for name in names:
        if name not in known:
            raise BadInput(f"--only: no goal is about a workload {name!r}; known are {', '.join(known)}")
    return [goal for goal in found if not names or goal.workload in names]


def _measure(asked: list[Goal], options: argparse.Namespace) -> list[tuple[str, Path]]:
    runs = []
    for allocator in options.allocators:
        workloads = list(dict.fromkeys(goal.workload for goal in asked if allocator in goal.at_most))
        latencies = [name for name in workloads if measuring.metrics(name) == ["latency"]]
        others = [name for name in workloads if name not in latencies]
        for suffix, names, blocks in (("", others, []), ("-latency", latencies, LATENCY_BLOCKS)):
            if not names:
                continue
            run_id = f"{options.name}-{allocator}{suffix}"
            print(f"engine-goals: {allocator}: {', '.join(names)}", file=sys.stderr)
            words = options.sampling or blocks
            runs.append((allocator, measuring.measure(allocator, options.output, run_id, words, names)))
            if options.keep:
                measuring.keep(allocator, options.output, run_id, f"{options.keep}-{allocator}{suffix}")
    return runs


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Arguments(
        prog="engine-goals",
        usage="scripts/engine-goals [--allocator NAME] [--quick | --blocks N] [--only LIST] [--keep NAME] [--output DIR]\n"
        "       scripts/engine-goals --from RUN…",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--allocator", choices=[*ALLOCATORS, "both"], default="both", dest="allocators",
        help="system (glibc's malloc), jemalloc, or both (the default)",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="one short sample of each, unless --blocks says otherwise")
    parser.add_argument("--blocks", type=int, metavar="N", help="samples of each kind (default: seven of the timed ones)")
    parser.add_argument("--only", default="", metavar="LIST", help="workloads in workloads/engine, separated by commas")
    parser.add_argument(
        "--keep", metavar="NAME",
        help="keep in git the table, reference/NAME-goals.csv, and the runs, baseline/NAME-…, without samples that nothing "
        "prints",
    )  # fmt: skip
    parser.add_argument("--from", nargs="+", type=Path, default=[], dest="runs", metavar="RUN", help="folders of runs")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "results", metavar="DIR", help="the folder of runs (default: results)"
    )
    parser.add_argument("--goals", type=Path, default=GOALS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.blocks is not None and not 1 <= options.blocks <= 1000:
        parser.error(f"--blocks is {options.blocks}; allowed is a whole number from 1 to 1000")
    options.sampling = ["--quick"] * options.quick + (["--blocks", str(options.blocks)] if options.blocks else [])
    if options.keep and (options.quick or options.only or options.runs):
        parser.error("--keep keeps whole runs that were just measured: leave --quick, --only and --from out")
    options.allocators = list(ALLOCATORS) if options.allocators == "both" else [options.allocators]
    options.only = [name for name in options.only.split(",") if name]
    options.output = options.output.resolve()
    options.name = time.strftime("goals-%Y%m%dT%H%M%SZ", time.gmtime())
    options.table = options.output / (f"reference/{options.keep}-goals.csv" if options.keep else f"{options.name}.csv")
    return options


def allocator_of(folder: Path) -> str:
    """Which allocator a run was measured with, as its run.json says."""
    path = folder / "run.json"
    try:
        description = json.loads(path.read_bytes())
        return "jemalloc" if str(description["allocator"]).startswith("jemalloc") else "system"
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: names no allocator; is this the description of a run?") from error
