"""The command line: measures, compares, prints a table and remedies."""

import argparse
import sys
from pathlib import Path

from engine_costs.errors import BadInput, CannotMeasure
from engine_costs.expectations import (
    STEADY,
    VARYING,
    Expectations,
    Judgement,
    Verdict,
    judge,
)
from engine_costs.measure import Cost, Environment, Program, chosen, measure
from engine_costs.profile import print_profile
from engine_costs.table import Column, write_table

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = ROOT / "Tests/EngineCosts/expected.json"
BUILT = ROOT / ".build-costs/release/EngineCosts"
PASS, MORE = 0, 2

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
  scripts/engine-costs --profile closure       the functions with the costs
  scripts/engine-costs --repeat 5              how much the counts vary

A lower cost is not a failure: the table marks it, and --update records it.

exit codes: 0 no cost has risen · 1 cannot measure · 2 a cost has risen, or is not recorded
            64 bad usage"""


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(BadInput.exit_code, f"engine-costs: {message}\nSee scripts/engine-costs --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    options = _parse(arguments)
    try:
        program = Program(options.program)
        names = chosen(program, options.only)
        if options.profile:
            print_profile(program, chosen(program, options.profile)[0])
            return PASS
        if options.repeat:
            return _print_spread(program, names, options.repeat)
        environment = Environment.here(with_valgrind=options.instructions)
        costs = measure(program, names, options.instructions)
        if options.update:
            return _update(options, environment, costs, program)
        return _compare(options, environment, costs, program)
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
    parser.add_argument("--profile", metavar="NAME", help="print the functions with a scenario's costs")
    parser.add_argument("--repeat", metavar="N", type=int, default=0, help="repeat the count N times")
    parser.add_argument("--expected", type=Path, default=EXPECTED, help=argparse.SUPPRESS)
    parser.add_argument("--program", type=Path, default=BUILT, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.update and not options.instructions:
        parser.error("--update needs the instructions too")
    if options.repeat and (options.update or not options.instructions):
        parser.error("--repeat can be combined only with --only")
    if options.repeat < 0:
        parser.error("--repeat takes a positive number")
    return options


def _compare(
    options: argparse.Namespace, environment: Environment, costs: dict[str, Cost], program: Program
) -> int:
    expectations = Expectations.load(options.expected)
    made_with = expectations.environment
    is_same = environment == made_with
    scenarios = program.scenarios()

    def judged(costs: dict[str, Cost]) -> dict[str, Judgement]:
        return {
            name: judge(cost, expectations.costs.get(name), is_same, VARYING if scenarios[name].varies else STEADY)
            for name, cost in costs.items()
        }

    judgements = judged(costs)
    risen = [name for name, each in judgements.items() if Verdict.MORE in each.verdicts.values()]
    if risen:
        # With other load, a scenario sleeps and wakes more often than alone. A real rise appears again.
        again = measure(program, risen, options.instructions)
        fine = [name for name, each in judged(again).items() if Verdict.MORE not in each.verdicts.values()]
        costs = costs | {name: again[name] for name in fine}
        judgements = judged(costs)
    _print_costs(costs, expectations.costs, judgements)
    notes = []
    if options.instructions and not is_same:
        notes.append(f"instructions are not judged: recorded with {made_with}, but here is {environment}")
    gone = [name for name in expectations.costs if name not in scenarios]
    if gone:
        notes.append(f"{options.expected.name} has scenarios that no longer exist: {', '.join(gone)}")
    verdicts = {verdict for judgement in judgements.values() for verdict in judgement.verdicts.values()}
    if Verdict.LESS in verdicts:
        notes.append("some cost has fallen; record it to keep it low: scripts/engine-costs --update")
    if Verdict.MORE in verdicts:
        notes.append("some cost has risen; if that is intended, record it: scripts/engine-costs --update")
    if Verdict.UNKNOWN in verdicts:
        notes.append("some cost is not recorded: scripts/engine-costs --update")
    for note in notes:
        print(f"engine-costs: {note}", file=sys.stderr)
    return MORE if gone or verdicts & {Verdict.MORE, Verdict.UNKNOWN} else PASS


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
    _print_costs(costs, known, {name: judge(cost, known.get(name), True) for name, cost in costs.items()})
    print(f"engine-costs: wrote {options.expected}", file=sys.stderr)
    return PASS


def _print_costs(costs: dict[str, Cost], expected: dict[str, Cost], judgements: dict[str, Judgement]) -> None:
    columns = [
        Column("scenario", is_text=True), Column("allocations"), Column("expected"), Column("held B"),
        Column("expected"), Column("atomics"), Column("expected"), Column("instructions"), Column("expected"),
        Column("change"), Column("verdict", is_text=True),
    ]  # fmt: skip
    rows = []
    for name, cost in costs.items():
        known = expected.get(name) or Cost()
        rows.append([
            name, _number(cost.allocations, 2), _number(known.allocations, 2), _number(cost.held_bytes, 1),
            _number(known.held_bytes, 1), _number(cost.atomics, 2), _number(known.atomics, 2),
            _number(cost.instructions, 1), _number(known.instructions, 1),
            _change(cost.instructions, known.instructions), _verdict(judgements[name]),
        ])  # fmt: skip
    write_table(columns, rows)


def _verdict(judgement: Judgement) -> str:
    """The figures that differ from the expected ones."""
    said = [
        f"{verdict.value}: {name}"
        for name, verdict in judgement.verdicts.items()
        if verdict in (Verdict.MORE, Verdict.LESS)
    ]
    if Verdict.UNKNOWN in judgement.verdicts.values():
        said.append(Verdict.UNKNOWN.value)
    return ", ".join(said) or "ok"


def _print_spread(program: Program, names: list[str], times: int) -> int:
    costs = [measure(program, names, with_instructions=True) for _ in range(times)]
    rows = []
    for name in names:
        instructions = sorted(cost[name].instructions or 0 for cost in costs)
        atomics = sorted(cost[name].atomics or 0 for cost in costs)
        allocations = sorted(cost[name].allocations or 0 for cost in costs)
        rows.append([
            name, _number(instructions[0], 1), _number(instructions[-1], 1),
            f"{instructions[-1] / instructions[0] - 1:.2%}", f"{atomics[-1] - atomics[0]:.3f}",
            f"{allocations[-1] - allocations[0]:.4f}",
        ])  # fmt: skip
    titles = ("least instructions", "most", "spread", "of atomics", "of allocations")
    write_table([Column("scenario", is_text=True), *(Column(title) for title in titles)], rows)
    return PASS


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _change(measured: float | None, expected: float | None) -> str:
    return "-" if measured is None or not expected else f"{measured / expected - 1:+.2%}"
