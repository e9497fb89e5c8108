"""The command line: the model's tables, for the measured machine or another."""

import argparse
import dataclasses
import sys
from pathlib import Path

from engine_scaling import records, tables
from engine_scaling.records import BadInput

DESCRIPTION = """\
Says how the throughput of one queue of the engine would grow with its workers, by the model of the article ManyCores, and
how far the model is off where it was measured: with two workers. Takes what was counted and measured from
scripts/engine_scaling/measured.json."""

EXAMPLES = """\
examples:
  scripts/engine-scaling                                the tables of the article
  scripts/engine-scaling --transfer-ns 140              the forecast where a cache line takes 140 ns
  scripts/engine-scaling --check results/held           the check with a run of one's own
  scripts/engine-scaling --check results/held --update  which becomes what was measured

How long a cache line takes from one processor to another, such as 0 and 32:
  cc -O2 -pthread -o transfer scripts/engine_scaling/transfer.c && ./transfer 0 32

exit codes: 0 the tables are printed · 64 bad usage or bad input"""


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(BadInput.exit_code, f"engine-scaling: {message}\nSee scripts/engine-scaling --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    options = _parse(arguments)
    try:
        measured = records.load()
        if options.check:
            measured = dataclasses.replace(measured, checks=records.checks(options.check))
        if options.update:
            records.save(measured)
        fetch = None
        if options.transfer_ns is None:
            print(f"{tables.kinds(measured)}\n{tables.check(measured)}")
        else:
            fetch = options.transfer_ns / 2
        print(f"{tables.forecast(measured, fetch)}\n{tables.half(measured, fetch)}", end="")
    except BadInput as error:
        print(f"engine-scaling: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _transfer(text: str) -> float:
    time = float(text)
    if not 1 <= time <= 10_000:
        raise ValueError
    return time


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Arguments(
        prog="engine-scaling",
        usage="scripts/engine-scaling [--transfer-ns NS] [--check RUN… [--update]]",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--transfer-ns", type=_transfer, metavar="NS", help="of a cache line, one way, in place of what was measured"
    )
    parser.add_argument("--check", type=Path, nargs="+", metavar="RUN", help="folders of runs with limits 1 and 2")
    parser.add_argument("--update", action="store_true", help="keep these as what was measured")
    options = parser.parse_args(arguments)
    if options.update and not options.check:
        parser.error("--update goes with --check")
    return options
