"""The results of the last run of scripts/mutate."""

import csv
from dataclasses import dataclass
from pathlib import Path

from engine_docs.errors import Problem


@dataclass(frozen=True)
class Mutation:
    """A guard of the engine that was broken on purpose, and whether a test noticed."""

    name: str
    is_caught: bool
    lines: frozenset[str]
    """The lines of the tests that noticed."""


def read_mutations(path: Path) -> list[Mutation]:
    """Reads the mutations; empty if there are no results."""
    if not path.exists():
        return []
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return [_mutation(row) for row in csv.DictReader(file)]
    except KeyError as error:
        raise Problem(f"{path}: no column {error}; scripts/mutate writes it") from None


def _mutation(row: dict[str, str]) -> Mutation:
    return Mutation(row["mutation"], row["caught"] == "yes", frozenset(row["lines_caught"].split()))
