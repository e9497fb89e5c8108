"""The command line of the growth curves: measure, have them judged, write the points, draw them."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from opbench_goals import growth, measuring
from opbench_goals.errors import CannotMeasure
from opbench_goals.measuring import ALLOCATORS, ROOT
from opbench_plots.errors import BadInput

POLICY = ROOT / "workloads" / "policies" / "engine-growth.json"
SECONDS_A_SAMPLE = "120"
"""Ten million operations take their time."""

DESCRIPTION = """\
Measures how the time of an operation grows with the number of operations, the threads that add, the queue's limit, the
dependencies of each and the queues they are dealt to; draws the curves, and has `opbench gate` say whether the engine's
growth is linear, by workloads/policies/engine-growth.json: the cost at every value against that at the smallest. A goal is
met if the whole 95 % interval of the ratio is within the bound, missed if all of it lies beyond, else inconclusive, as
wherever there are too few samples for an interval."""

EXAMPLES = """\
examples:
  scripts/engine-growth                                measure, and write results/reference/growth-system.{csv,svg}
  scripts/engine-growth --allocator jemalloc --quick --output /tmp/curves
  scripts/engine-growth --from results/a               the curves of an earlier run
  scripts/engine-growth --redraw                       the curves of the stored points

exit codes: 0 the growth is printed · 1 cannot build or run opbench · 64 bad usage or bad input"""


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(BadInput.exit_code, f"engine-growth: {message}\nSee scripts/engine-growth --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    options = _parse(arguments)
    try:
        if options.redraw:
            return _redraw(options.output)
        folder = options.run or _measure(options)
        allocator = measuring.allocator_of(folder)
        run_id, points = growth.points(folder)
        if not points:
            raise BadInput(f"{folder}: none of {', '.join(axis.workload for axis in growth.AXES)} was measured")
        print(f"With {ALLOCATORS[allocator]}:")
        path = options.output / f"growth-{allocator}.csv"
        with tempfile.TemporaryDirectory() as scratch:
            measuring.judge(allocator, POLICY, [folder], Path(scratch) / "verdicts.csv", options.opbench)
        growth.write(points, run_id, allocator, path)
        _draw(path)
    except (BadInput, CannotMeasure) as error:
        print(f"engine-growth: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _measure(options: argparse.Namespace) -> Path:
    workloads = [f"growth/{axis.workload}" for axis in growth.AXES]
    words = ["--timeout", SECONDS_A_SAMPLE] + ["--quick"] * options.quick
    run_id = time.strftime("growth-%Y%m%dT%H%M%SZ", time.gmtime()) + f"-{options.allocator}"
    return measuring.measure(options.allocator, ROOT / "results", run_id, words, workloads, options.opbench)


def _redraw(folder: Path) -> int:
    files = sorted(folder.glob("growth-*.csv"))
    if not files:
        raise BadInput(f"{folder}: no growth-*.csv to draw")
    for path in files:
        _draw(path)
    return 0


def _draw(path: Path) -> None:
    from opbench_goals import curves  # needs matplotlib, which takes a second to load

    run_id, allocator, points = growth.read(path)
    drawn = path.with_suffix(".svg")
    title = f"Time of one operation, {ALLOCATORS.get(allocator, allocator)}, run {run_id}"
    curves.draw(points, growth.AXES, title, drawn)
    print(f"engine-growth: {path}, {drawn}", file=sys.stderr)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Arguments(
        prog="engine-growth",
        usage="scripts/engine-growth [--allocator NAME] [--quick] [--output DIR]\n"
        "       scripts/engine-growth --from RUN [--output DIR]\n"
        "       scripts/engine-growth --redraw [--output DIR]",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--allocator", choices=list(ALLOCATORS), default="system", help="system (glibc's malloc, the default) or jemalloc"
    )
    parser.add_argument("--quick", action="store_true", help="one short sample of each: does it work?")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--from", type=Path, dest="run", metavar="RUN", help="the folder of a run")
    source.add_argument("--redraw", action="store_true", help="draw the stored points, without measuring")
    parser.add_argument(
        "--output", type=Path, default=ROOT / "results" / "reference", metavar="DIR",
        help="where points and curves go (default: results/reference)",
    )  # fmt: skip
    parser.add_argument("--opbench", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
