"""The commands of scripts/docs."""

import argparse
import sys
from pathlib import Path

from engine_docs import articles, costs, goals, modules, picture, tables, times, words
from engine_docs.articles import Maker
from engine_docs.comments import undocumented
from engine_docs.contract import Contract
from engine_docs.evidence import Evidence, read_mutations, read_tests
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
    Problem,
)


def main(arguments: list[str]) -> int:
    """Runs a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="engine_docs")
    commands = parser.add_subparsers(required=True)
    for name, help, run, *options in (
        ("check", "check the pictures and the generated parts of articles", _check_articles),
        ("update", "update them", _update_articles),
        ("words", "check that texts avoid the words of words.py", _check_words),
        ("comments", "check that every public symbol in a folder of symbol graphs has a comment", _check_comments, "folder"),
        ("contract", "write the table of the run in a folder, and check that every line is tested", _judge_run, "folder"),
        ("lines", "check which lines the tests of the run in a folder name", _check_lines, "folder"),
    ):
        command = commands.add_parser(name, help=help)
        command.set_defaults(run=run)
        for option in options:
            command.add_argument(option, type=Path)
    options = vars(parser.parse_args(arguments))
    try:
        options.pop("run")(**options)
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

    return {
        "example": example, "costs": costs.maker(ENGINE_COSTS), "goals": goals.maker(REFERENCE), "modules": modules.make,
        **times.makers(BASELINE, REFERENCE), **tables.makers(Contract(CONTRACT_LINES)),
    }  # fmt: skip


def _stale() -> dict[Path, str]:
    """The texts of the outdated articles and pictures."""
    return articles.stale(ARTICLES, _makers()) | picture.stale(PICTURES, SESSION, times.cells(BASELINE, HEADLINE))


def _check_articles() -> None:
    if stale := _stale():
        names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
        raise Problem(f"out of date: {names}; run scripts/docs --update")


def _update_articles() -> None:
    for path, text in _stale().items():
        path.write_text(text, encoding="utf-8")
        print(f"docs: updated {path.relative_to(ROOT)}", file=sys.stderr)


def _check_comments(folder: Path) -> None:
    graphs = sorted(folder.glob("*.symbols.json"))
    if not graphs:
        raise Problem(f"no symbol graphs in {folder}")
    if found := [line for graph in graphs for line in undocumented(graph)]:
        raise Problem("public symbols without a comment:\n" + "\n".join(found))


def _check_words() -> None:
    if found := words.report(ROOT):
        raise Problem("avoided words:\n" + "\n".join(found))


# Test runs


def _rows(path: Path) -> list[str]:
    """The file's lines. Names of tests contain other separators, which `str.splitlines` would treat as line ends."""
    try:
        return [row for row in path.read_text(encoding="utf-8").split("\n") if row]
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}; running the tests writes it") from None


def _judge_run(folder: Path) -> None:
    tests = read_tests(_rows(folder / CONTRACT_TESTS), _rows(folder / TEST_EVENTS))
    evidence = Evidence(Contract(CONTRACT_LINES), tests)
    table = evidence.as_csv(read_mutations(folder / MUTATION_RESULTS))
    (folder / CONTRACT_TABLE).write_text(table, encoding="utf-8")
    print(f"docs: {folder / CONTRACT_TABLE} has the results of this run", file=sys.stderr)
    problems = evidence.gaps()
    if unproved := evidence.unproved():
        problems.append(f"no test of these lines has passed in this run: {', '.join(unproved)}")
    if problems:
        raise Problem("\n".join(problems))


def _check_lines(folder: Path) -> None:
    evidence = Evidence(Contract(CONTRACT_LINES), read_tests(_rows(folder / CONTRACT_TESTS)))
    if problems := evidence.gaps():
        raise Problem("\n".join(problems))
    untested = sum(bool(line.untested) for line in evidence.contract.lines)
    named = len(evidence.contract.lines) - untested
    print(f"{len(evidence.tests)} tests name {named} lines; {untested} have none, with a reason")
