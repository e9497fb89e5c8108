"""The command line: measures, compares, prints a table and remedies."""

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from engine_costs.callgrind import CannotMeasure
from engine_costs.expectations import DIGITS, STEADY, VARYING, BadInput, Expectations, Verdict, judge
from engine_costs.measure import Cost, Environment, Program

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = ROOT / "Tests/EngineCosts/expected.json"
PASS, MORE = 0, 2
Verdicts = dict[str, dict[str, Verdict]]
"""The verdicts of each scenario, by figure."""

DESCRIPTION = f"""\
Counts the cost of one operation in allocations, in bytes held while it waits, in atomic read-modify-writes and in
instructions, and compares them with Tests/EngineCosts/expected.json. Allocations and bytes are exact. Instructions, counted
by valgrind's callgrind with all threads on one processor, may be {STEADY.instructions:.0%} off, and {VARYING.instructions:.0%} in scenarios that spend part of
their time waking and sleeping; the atomic ones among them, on x86 only, half as much. They depend on the versions of the
compiler, glibc and valgrind, which the file records: with other versions they are printed, but not judged.
Counting takes one to four minutes."""

EXAMPLES = """\
examples:
  scripts/engine-costs                         all scenarios
  scripts/engine-costs --only closure,chain    selected ones
  scripts/engine-costs --no-instructions       without valgrind, in seconds
  scripts/engine-costs --update                record the measured costs as the expected ones, also in the documentation

The functions with a scenario's instructions:
  valgrind --tool=callgrind --callgrind-out-file=counts .build-costs/release/EngineCosts play closure 12000
  callgrind_annotate counts

A lower cost is not a failure: the table marks it, and --update records it.

exit codes: 0 no cost has risen · 1 cannot measure · 2 a cost has risen, or is not recorded
            64 bad usage"""


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(BadInput.exit_code, f"engine-costs: {message}\nSee scripts/engine-costs --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    options = _parse(arguments)
    try:
        environment = Environment.here(with_valgrind=options.instructions)
        program = Program(options.program)
        known = list(program.scenarios())
        names = options.only.split(",") if options.only else known
        if unknown := [name for name in names if name not in known]:
            raise BadInput(f"there is no scenario {', '.join(unknown)}; known are {', '.join(known)}")
        costs = program.measure(names, options.instructions)
        return (_update if options.update else _compare)(options, environment, costs, program)
    except (BadInput, CannotMeasure) as error:
        print(f"engine-costs: {error}", file=sys.stderr)
        return error.exit_code


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Arguments(
        prog="scripts/engine-costs", description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("--only", metavar="NAME,…", help="these scenarios")
    parser.add_argument("--update", action="store_true", help="write the file of expectations")
    parser.add_argument("--no-instructions", dest="instructions", action="store_false", help="count without valgrind")
    parser.add_argument("--expected", type=Path, default=EXPECTED, help=argparse.SUPPRESS)
    parser.add_argument("--program", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.update and not options.instructions:
        parser.error("--update needs the instructions too")
    return options


def _compare(options: argparse.Namespace, environment: Environment, costs: dict[str, Cost], program: Program) -> int:
    expectations = Expectations.load(options.expected)
    is_same = environment == expectations.environment
    scenarios = program.scenarios()

    def judged(costs: dict[str, Cost]) -> Verdicts:
        return {
            name: judge(cost, expectations.costs.get(name), is_same, VARYING if scenarios[name].varies else STEADY)
            for name, cost in costs.items()
        }

    verdicts = judged(costs)
    if risen := [name for name, each in verdicts.items() if Verdict.MORE in each.values()]:
        # With other load, a scenario sleeps and wakes more often than alone. A real rise appears again.
        again = program.measure(risen, options.instructions)
        fine = {name: again[name] for name, each in judged(again).items() if Verdict.MORE not in each.values()}
        costs = costs | fine
        verdicts = judged(costs)
    _print(costs, expectations.costs, verdicts)
    notes = []
    if options.instructions and not is_same:
        notes.append(f"instructions are not judged: recorded with {expectations.environment}, but here is {environment}")
    if gone := [name for name in expectations.costs if name not in scenarios]:
        notes.append(f"{options.expected.name} has scenarios that no longer exist: {', '.join(gone)}")
    found = {verdict for each in verdicts.values() for verdict in each.values()}
    for verdict, note in (
        (Verdict.LESS, "some cost has fallen; record it to keep it low"),
        (Verdict.MORE, "some cost has risen; if that is intended, record it"),
        (Verdict.UNKNOWN, "some cost is not recorded"),
    ):
        if verdict in found:
            notes.append(f"{note}: scripts/engine-costs --update")
    for note in notes:
        print(f"engine-costs: {note}", file=sys.stderr)
    return MORE if gone or found & {Verdict.MORE, Verdict.UNKNOWN} else PASS


def _update(options: argparse.Namespace, environment: Environment, costs: dict[str, Cost], program: Program) -> int:
    """Records all measured costs; other scenarios keep theirs."""
    earlier = Expectations.load(options.expected) if options.expected.exists() else None
    known = earlier.costs if earlier else {}
    if earlier and options.only and earlier.environment != environment:
        raise BadInput(f"all scenarios must be measured again, without --only: the file was made with {earlier.environment}")
    scenarios = program.scenarios()
    updated = {name: costs.get(name) or known.get(name) for name in scenarios}
    meanings = {name: scenario.meaning for name, scenario in scenarios.items()}
    Expectations(environment, {name: cost for name, cost in updated.items() if cost}, meanings).save(options.expected)
    _print(costs, known, {name: judge(cost, known.get(name), True) for name, cost in costs.items()})
    print(f"engine-costs: wrote {options.expected}", file=sys.stderr)
    return PASS


def _print(costs: dict[str, Cost], expected: dict[str, Cost], verdicts: Verdicts) -> None:
    """Prints a line for each scenario: each figure, the expected one, and those that differ."""
    print(f"{'scenario':<24}" + "".join(f"{figure:>13}{'expected':>10}" for figure in DIGITS) + "  verdict")
    for name, cost in costs.items():
        figures = [
            f"{_number(getattr(cost, figure), digits):>13}{_number(getattr(expected.get(name), figure, None), digits):>10}"
            for figure, digits in DIGITS.items()
        ]
        said = [f"{verdict.value}: {figure}" for figure, verdict in verdicts[name].items() if verdict in (Verdict.MORE, Verdict.LESS)]
        if Verdict.UNKNOWN in verdicts[name].values():
            said.append(Verdict.UNKNOWN.value)
        print(f"{name:<24}{''.join(figures)}  {', '.join(said) or 'ok'}")


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
