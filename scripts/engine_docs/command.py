"""The commands of scripts/docs."""

import argparse
import sys
from pathlib import Path

from engine_docs import articles, costs, goals, headline, modules, peers, picture, report, tables, words
from engine_docs.articles import Maker
from engine_docs.comments import undocumented
from engine_docs.contract import Contract
from engine_docs.errors import Problem
from engine_docs.evidence import Evidence
from engine_docs.examples import read_examples
from engine_docs.layout import (
    ARTICLES,
    BASELINE,
    CONTRACT_LINES,
    CONTRACT_TABLE,
    CONTRACT_TESTS,
    ENGINE_COSTS,
    EXAMPLES,
    HEADLINE,
    MUTATION_RESULTS,
    PICTURES,
    REFERENCE,
    ROOT,
    SESSION,
    TEST_EVENTS,
)
from engine_docs.mutations import read_mutations
from engine_docs.run import read_run


def main(arguments: list[str]) -> int:
    """Runs a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="engine_docs")
    commands = parser.add_subparsers(required=True)
    made = commands.add_parser("articles", help="check or update the pictures and the generated parts of articles")
    how = made.add_mutually_exclusive_group(required=True)
    how.add_argument("--check", action="store_const", const=_check_articles, dest="run")
    how.add_argument("--update", action="store_const", const=_update_articles, dest="run")
    comments = commands.add_parser("comments", help="check that every public symbol has a comment")
    comments.add_argument("symbols", type=Path, help="the folder with the symbol graphs")
    comments.set_defaults(run=_check_comments)
    avoided = commands.add_parser("words", help="check that texts avoid the words of words.py")
    avoided.set_defaults(run=_check_words)
    contract = commands.add_parser("contract", help="write a run's table, and check that every line is tested")
    contract.add_argument("folder", type=Path, help="the folder with the records of the run; the table is written there")
    contract.set_defaults(run=_judge_run)
    lines = commands.add_parser("lines", help="check which lines the tests name, without running them")
    lines.add_argument("folder", type=Path)
    lines.set_defaults(run=_check_lines)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except Problem as problem:
        print(f"docs: {problem}", file=sys.stderr)
        return 1
    return 0


# Articles


def _makers() -> dict[str, Maker]:
    examples = read_examples(EXAMPLES)

    def example(name: str) -> str:
        if name not in examples:
            raise Problem(f"no example {name} in {EXAMPLES.relative_to(ROOT)}")
        return examples[name]

    figures = {
        "costs": costs.maker(ENGINE_COSTS),
        "goals": goals.maker(REFERENCE),
        "modules": modules.make,
        **headline.makers(BASELINE),
        **peers.makers(BASELINE, REFERENCE),
    }
    return {"example": example, **figures, **tables.makers(Contract(CONTRACT_LINES))}


def _stale() -> dict[Path, str]:
    """The texts of the outdated articles and pictures."""
    return articles.stale(ARTICLES, _makers()) | picture.stale(PICTURES, SESSION, headline.cells(BASELINE, HEADLINE))


def _check_articles(_: argparse.Namespace) -> None:
    if stale := _stale():
        names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
        raise Problem(f"out of date: {names}; run scripts/docs --update")


def _update_articles(_: argparse.Namespace) -> None:
    for path, text in _stale().items():
        path.write_text(text, encoding="utf-8")
        print(f"docs: updated {path.relative_to(ROOT)}", file=sys.stderr)


def _check_comments(options: argparse.Namespace) -> None:
    graphs = sorted(options.symbols.glob("*.symbols.json"))
    if not graphs:
        raise Problem(f"no symbol graphs in {options.symbols}")
    found = [line for graph in graphs for line in undocumented(graph)]
    if found:
        raise Problem("public symbols without a comment:\n" + "\n".join(found))


def _check_words(_: argparse.Namespace) -> None:
    if found := words.report(ROOT):
        raise Problem("avoided words:\n" + "\n".join(found))


# Test runs


def _rows(path: Path) -> list[str]:
    """The file's lines. Names of tests contain other separators, which `str.splitlines` would treat as line ends."""
    try:
        return [row for row in path.read_text(encoding="utf-8").split("\n") if row]
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}; running the tests writes it") from None


def _judge_run(options: argparse.Namespace) -> None:
    folder: Path = options.folder
    run = read_run(_rows(folder / CONTRACT_TESTS), _rows(folder / TEST_EVENTS))
    evidence = Evidence(Contract(CONTRACT_LINES), run, read_mutations(folder / MUTATION_RESULTS))
    (folder / CONTRACT_TABLE).write_text(report.as_csv(evidence), encoding="utf-8")
    print(f"docs: {folder / CONTRACT_TABLE} has the results of this run", file=sys.stderr)
    problems = evidence.gaps()
    if unproved := evidence.unproved():
        problems.append(f"no test of these lines has passed in this run: {', '.join(unproved)}")
    if problems:
        raise Problem("\n".join(problems))


def _check_lines(options: argparse.Namespace) -> None:
    run = read_run(_rows(options.folder / CONTRACT_TESTS))
    contract = Contract(CONTRACT_LINES)
    if problems := Evidence(contract, run, []).gaps():
        raise Problem("\n".join(problems))
    untested = sum(bool(line.untested) for line in contract.lines)
    print(f"{len(run.tests)} tests name {len(contract.lines) - untested} lines; {untested} have none, with a reason")
