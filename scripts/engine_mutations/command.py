"""The command line of scripts/mutate."""

import argparse
import csv
import os
import subprocess
import sys
import time
from pathlib import Path

from engine_mutations import tree
from engine_mutations.definitions import Mistake, Mutation, read_all
from engine_mutations.judge import Judge, Notice

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".build-mutate/tree"
COLUMNS = ("mutation", "tier", "file", "expected", "caught", "lines_caught", "caught_by")

DESCRIPTION = """\
Breaks the engine's guards one at a time, as defined in Tests/Mutations, and reports what notices: the explorer for
the steps of the protocols, the tests for the contract's promises. Results go to mutations.csv in .build/artefacts, or
in the folder OPBENCH_ARTEFACTS; scripts/docs --contract shows them next to the lines. A partial run keeps the other
results."""

EXAMPLES = """\
examples:
  scripts/mutate                              all of them
  scripts/mutate --tier protocol              the steps of the protocols only
  scripts/mutate --only NAME,NAME
  scripts/mutate --table                      print the results
  scripts/mutate --check                      check that every definition still fits the sources

exit codes: 0 done · 1 a definition does not fit, or the mutated engine does not build · 64 bad usage"""


class Arguments(argparse.ArgumentParser):
    """Exits by 64 if the usage is bad."""

    def error(self, message: str) -> None:
        self.exit(64, f"mutate: {message}\nSee scripts/mutate --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    options = _parse(arguments)
    try:
        mutations = read_all(ROOT / "Tests/Mutations")
        if options.check:
            tree.check(ROOT, mutations)
            print(f"{len(mutations)} mutations, each text once")
        elif options.table:
            _print_table()
        else:
            _run(options, mutations)
    except Mistake as mistake:
        print(f"mutate: {mistake}", file=sys.stderr)
        return 1
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Arguments(
        prog="scripts/mutate", description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("--check", action="store_true", help="only check the definitions")
    parser.add_argument("--table", action="store_true", help="only print the stored results")
    parser.add_argument("--tier", choices=("protocol", "contract"), help="the mutations of one tier")
    parser.add_argument("--only", metavar="NAME,…", help="these mutations")
    parser.add_argument("--from", dest="first", metavar="NAME", help="begin with this one")
    parser.add_argument("--wide", action="store_true", help="run all tests, not only those of the mutation's lines")
    parser.add_argument("--trusting", action="store_true", help="do not run the tests without a mutation first")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace, mutations: list[Mutation]) -> None:
    """One build, one run for each mutation."""
    names = [mutation.name for mutation in mutations]
    only = options.only.split(",") if options.only else names
    if unknown := ({*only, options.first or names[0]} - {*names}):
        raise Mistake(f"no mutation {', '.join(sorted(unknown))}")
    selected = [each for each in mutations if each.name in only and options.tier in (None, each.tier)]
    tree.update(SCRATCH, ROOT, selected)
    has_tests = any(mutation.tier == "contract" for mutation in selected)
    _build(["--build-tests"] if has_tests else ["--product", "explore"])
    judge = Judge(SCRATCH)
    if has_tests:
        judge.list_tests()
    if has_tests and not options.trusting:
        judge.run_without_mutation()
        print(f"without a mutation {len(judge.unreliable)} tests fail: {sorted(judge.unreliable)}")
    for mutation in selected:
        if options.first and names.index(mutation.name) < names.index(options.first):
            continue
        begin = time.monotonic()
        is_contract = mutation.tier == "contract"
        notice = judge.test(mutation, options.wide) if is_contract else judge.explore(mutation)
        what = f"caught by {len(notice.by)}: {notice.by[0]}" if notice.by else "SURVIVED"
        print(f"{mutation.name} ({time.monotonic() - begin:.0f} s): {what}", flush=True)
        _store(mutation, notice, names)


def _build(what: list[str]) -> None:
    build = subprocess.run(["swift", "build", *what], cwd=SCRATCH, capture_output=True, text=True, check=False)
    if build.returncode != 0:
        errors = [line for line in (build.stdout + build.stderr).splitlines() if "error:" in line]
        raise Mistake("the mutated engine does not build:\n" + "\n".join(errors[:60]))


# The results


def _results() -> Path:
    return Path(os.environ.get("OPBENCH_ARTEFACTS") or ROOT / ".build/artefacts") / "mutations.csv"


def _rows() -> dict[str, dict[str, str]]:
    if not _results().exists():
        return {}
    with open(_results(), newline="", encoding="utf-8") as file:
        return {row["mutation"]: row for row in csv.DictReader(file)}


def _store(mutation: Mutation, notice: Notice, known: list[str]) -> None:
    """Replaces the row of one mutation; the rows of mutations that exist no longer go."""
    values = (
        mutation.name, mutation.tier, mutation.file, " ".join(mutation.noticed_by), "yes" if notice.by else "no",
        " ".join(notice.lines), "; ".join(notice.by),
    )  # fmt: skip
    rows = _rows() | {mutation.name: dict(zip(COLUMNS, values, strict=True))}
    with open(_results(), "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[name] for name in known if name in rows)


def _print_table() -> None:
    rows = sorted(_rows().values(), key=lambda row: (row["tier"], row["mutation"]))
    if not rows:
        raise Mistake(f"no results in {_results()}; scripts/mutate makes them")
    for row in rows:
        print(f"{'caught  ' if row['caught'] == 'yes' else 'SURVIVED'}  {row['mutation']}  {row['caught_by'][:160]}")
    print(f"{len(rows)} mutations, {sum(row['caught'] == 'no' for row in rows)} survived")
