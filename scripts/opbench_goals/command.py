"""The command line: measure the workloads, and have `opbench gate` hold them against the goals."""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from opbench_goals import measuring
from opbench_goals.errors import CannotMeasure
from opbench_goals.measuring import ALLOCATORS, ROOT
from opbench_plots.errors import BadInput

POLICIES = ROOT / "workloads" / "policies"
BLOCKS = ["--blocks", "7"]
"""For workloads without throughput samples: one more than an interval needs. The others have as many by default."""

DESCRIPTION = """\
Measures the engine's speed workloads, once with glibc's malloc and once with jemalloc, and has `opbench gate` hold them
against the engine's goals, workloads/policies/engine-goals-system.json and engine-goals-jemalloc.json: most are ratios to
Foundation and Dispatch within the same blocks. The verdicts are also written as CSV, a file an allocator. This command
exits 0 whatever they are."""

EXAMPLES = """\
examples:
  scripts/engine-goals                              everything, with both allocators
  scripts/engine-goals --quick                      few samples: does it work, and roughly how far is it?
  scripts/engine-goals --only tiny,chain --allocator system
  scripts/engine-goals --from results/a results/b   the verdicts on earlier runs
  scripts/engine-goals --keep engine                keep the runs in results/baseline/engine-system, …

exit codes: 0 the goals are judged · 1 cannot build or run opbench · 64 bad usage or bad input"""


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(BadInput.exit_code, f"engine-goals: {message}\nSee scripts/engine-goals --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    options = _parse(arguments)
    try:
        _check(options.only)
        runs = [(measuring.allocator_of(folder), folder) for folder in options.runs] or _measure(options)
        with tempfile.TemporaryDirectory() as scratch:
            for allocator in dict.fromkeys(allocator for allocator, _ in runs):
                table = options.output / f"{options.table}-{allocator}.csv"
                print(f"With {ALLOCATORS[allocator]}:")
                own = [folder for name, folder in runs if name == allocator]
                policy = _restricted(allocator, options.only, Path(scratch)) if options.runs else _policy(allocator)
                measuring.judge(allocator, policy, own, table, options.opbench)
                print(f"engine-goals: the verdicts are in {table}", file=sys.stderr)
    except (BadInput, CannotMeasure) as error:
        print(f"engine-goals: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _policy(allocator: str) -> Path:
    return POLICIES / f"engine-goals-{allocator}.json"


def _workload(rule: dict) -> str:
    return rule["cell"].partition(" ")[0]


def _rules(allocator: str) -> list[dict]:
    return json.loads(_policy(allocator).read_text(encoding="utf-8"))["rules"]


def _restricted(allocator: str, names: list[str], scratch: Path) -> Path:
    """The goals of these workloads, or all of them."""
    if not names:
        return _policy(allocator)
    policy = json.loads(_policy(allocator).read_text(encoding="utf-8"))
    policy["rules"] = [rule for rule in policy["rules"] if _workload(rule) in names]
    if not policy["rules"]:
        raise BadInput(f"--only: no goal with {ALLOCATORS[allocator]} is about these workloads")
    path = scratch / f"engine-goals-{allocator}.json"
    path.write_text(json.dumps(policy), encoding="utf-8")
    return path


def _check(names: list[str]) -> None:
    known = list(dict.fromkeys(_workload(rule) for allocator in ALLOCATORS for rule in _rules(allocator)))
    for name in names:
        if name not in known:
            raise BadInput(f"--only: no goal is about a workload {name!r}; known are {', '.join(known)}")


def _measure(options: argparse.Namespace) -> list[tuple[str, Path]]:
    runs = []
    for allocator in options.allocators:
        workloads = list(dict.fromkeys(_workload(rule) for rule in _rules(allocator)))
        workloads = [name for name in workloads if not options.only or name in options.only]
        timed = [name for name in workloads if "throughput" in measuring.sample_kinds(name)]
        others = [name for name in workloads if name not in timed]
        for suffix, names, blocks in (("", timed, []), ("-latency", others, BLOCKS)):
            if not names:
                continue
            run_id = f"{options.name}-{allocator}{suffix}"
            print(f"engine-goals: {allocator}: {', '.join(names)}", file=sys.stderr)
            words = options.sampling or blocks
            runs.append((allocator, measuring.measure(allocator, options.output, run_id, words, names, options.opbench)))
            if options.keep:
                kept = f"{options.keep}-{allocator}{suffix}"
                measuring.keep(allocator, options.output, run_id, kept, _policy(allocator), options.opbench)
    return runs


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Arguments(
        prog="engine-goals",
        usage="scripts/engine-goals [--allocator NAME] [--quick | --blocks N] [--only LIST] [--keep NAME] [--output DIR]\n"
        "       scripts/engine-goals --from RUN… [--only LIST]",
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
    parser.add_argument("--blocks", type=int, metavar="N", help="samples of each kind (default: seven)")
    parser.add_argument("--only", default="", metavar="LIST", help="workloads in workloads/engine, separated by commas")
    parser.add_argument(
        "--keep", metavar="NAME",
        help="keep in git the verdicts, reference/NAME-goals-….csv, and the runs, baseline/NAME-…, without samples that "
        "nothing prints",
    )  # fmt: skip
    parser.add_argument("--from", nargs="+", type=Path, default=[], dest="runs", metavar="RUN", help="folders of runs")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "results", metavar="DIR", help="the folder of runs (default: results)"
    )
    parser.add_argument("--opbench", type=Path, help=argparse.SUPPRESS)
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
    options.table = f"reference/{options.keep}-goals" if options.keep else options.name
    return options
