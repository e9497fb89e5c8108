"""The commands behind scripts/docs and scripts/contract-table."""

import argparse
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from engine_docs import articles, costs, goals, headline, tables
from engine_docs.articles import Maker
from engine_docs.comments import undocumented
from engine_docs.contract import Contract
from engine_docs.errors import Problem
from engine_docs.evidence import Evidence, read_mutations
from engine_docs.examples import read_examples
from engine_docs.layout import (
    ARTICLES,
    BASELINE,
    CONTRACT_LINES,
    ENGINE_COSTS,
    EXAMPLES,
    LAST_RUN,
    MUTATION_RESULTS,
    REFERENCE,
    ROOT,
    SWIFT_TABLES,
    TESTS,
)
from engine_docs.verdicts import Verdicts, load, read_events, store


def main(arguments: list[str]) -> int:
    """Runs a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="engine_docs")
    commands = parser.add_subparsers(required=True)
    made = commands.add_parser("articles", help="check, or update, the made parts of articles")
    how = made.add_mutually_exclusive_group(required=True)
    how.add_argument("--check", action="store_const", const=_check_articles, dest="run")
    how.add_argument("--update", action="store_const", const=_update_articles, dest="run")
    comments = commands.add_parser("comments", help="check that every public symbol has a comment")
    comments.add_argument("symbols", type=Path, help="the folder with the symbol graphs")
    comments.set_defaults(run=_check_comments)
    record = commands.add_parser("record", help="store the verdicts of a test run, and update the articles")
    record.add_argument("events", type=Path, nargs="+")
    record.set_defaults(run=_record)
    verify = commands.add_parser("verify", help="check that a test run has tested every line")
    verify.add_argument("events", type=Path, nargs=1)
    verify.set_defaults(run=_verify)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except Problem as problem:
        print(f"docs: {problem}", file=sys.stderr)
        return 1
    return 0


def _contract() -> Contract:
    return Contract(CONTRACT_LINES, TESTS, SWIFT_TABLES)


# Articles


def _makers() -> dict[str, Maker]:
    examples = read_examples(EXAMPLES)

    def example(name: str) -> str:
        if name not in examples:
            raise Problem(f"no example {name} in {EXAMPLES.relative_to(ROOT)}")
        return examples[name]

    evidence = Evidence(_contract(), load(LAST_RUN), read_mutations(MUTATION_RESULTS))
    figures = {
        "costs": costs.maker(ENGINE_COSTS),
        "goals": goals.maker(REFERENCE),
        "headline": headline.maker(BASELINE),
    }
    return {"example": example, **figures, **tables.makers(evidence)}


def _check_articles(_: argparse.Namespace) -> None:
    articles.check(ARTICLES, _makers())


def _update_articles(_: argparse.Namespace) -> None:
    for path in articles.update(ARTICLES, _makers()):
        print(f"docs: updated {path.relative_to(ROOT)}", file=sys.stderr)


def _check_comments(options: argparse.Namespace) -> None:
    graphs = sorted(options.symbols.glob("*.symbols.json"))
    if not graphs:
        raise Problem(f"no symbol graphs in {options.symbols}")
    found = [line for graph in graphs for line in undocumented(graph)]
    if found:
        raise Problem("public, and without a comment:\n" + "\n".join(found))


# Test runs


def _run(options: argparse.Namespace, made: dict[str, str]) -> Verdicts:
    """The verdicts of the given runs. A test that was run again has the later verdict."""
    all_verdicts = Verdicts(made)
    for path in options.events:
        try:
            with open(path, encoding="utf-8") as rows:
                run = read_events(rows, made)
        except OSError as error:
            raise Problem(f"cannot read {path}: {error.strerror}") from None
        all_verdicts.engine.update(run.engine)
        all_verdicts.foundation.update(run.foundation)
    return all_verdicts


def _record(options: argparse.Namespace) -> None:
    verdicts = _run(options, {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": _commit(), "compiler": _compiler()})
    contract = _contract()
    named = {test.name for test in contract.tests}
    store(
        Verdicts(
            verdicts.made,
            {name: verdict for name, verdict in verdicts.engine.items() if name in named},
            {name: verdict for name, verdict in verdicts.foundation.items() if name in named},
        ),
        LAST_RUN,
    )
    _update_articles(options)


def _verify(options: argparse.Namespace) -> None:
    verdicts, contract = _run(options, {}), _contract()
    untested = [
        line.id
        for line in contract.lines
        if contract.tests_of(line.id)
        and not any(verdicts.engine.get(test.name) == "passed" for test in contract.tests_of(line.id))
    ]
    if untested:
        raise Problem(f"no test of these lines has passed in this run: {', '.join(untested)}")


def _commit() -> str:
    """The short name of the commit, with a + if the engine or its tests were changed since."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    is_changed = git("status", "--porcelain", "--", "Sources", "Tests", ":!*.md", ":!*.json", ":!*.txt")
    return git("rev-parse", "--short=12", "HEAD") + ("+" if is_changed else "")


def _compiler() -> str:
    version = subprocess.run(["swift", "--version"], check=True, capture_output=True, text=True).stdout
    return version.splitlines()[0].split("(")[0].strip()
