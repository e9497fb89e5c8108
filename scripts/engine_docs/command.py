"""The commands behind scripts/docs."""

import argparse
import sys
from pathlib import Path

from engine_docs import articles
from engine_docs.articles import Maker
from engine_docs.comments import undocumented
from engine_docs.errors import Problem
from engine_docs.examples import read_examples
from engine_docs.layout import CATALOG, EXAMPLES, ROOT


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
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except Problem as problem:
        print(f"docs: {problem}", file=sys.stderr)
        return 1
    return 0


def _makers() -> dict[str, Maker]:
    examples = read_examples(EXAMPLES)

    def example(name: str) -> str:
        if name not in examples:
            raise Problem(f"no example {name} in {EXAMPLES.relative_to(ROOT)}")
        return examples[name]

    return {"example": example}


def _check_articles(_: argparse.Namespace) -> None:
    articles.check(CATALOG, _makers())


def _update_articles(_: argparse.Namespace) -> None:
    for path in articles.update(CATALOG, _makers()):
        print(f"docs: updated {path.relative_to(ROOT)}", file=sys.stderr)


def _check_comments(options: argparse.Namespace) -> None:
    graphs = sorted(options.symbols.glob("*.symbols.json"))
    if not graphs:
        raise Problem(f"no symbol graphs in {options.symbols}")
    found = [line for graph in graphs for line in undocumented(graph)]
    if found:
        raise Problem("public, and without a comment:\n" + "\n".join(found))
