"""What shows that the tests of a line can fail: a broken guard turned one red, or Foundation does otherwise."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from engine_docs.contract import Contract
from engine_docs.verdicts import Verdicts

# "E1 E2: a test; explorer: a-scenario: N4: what went wrong [schedule]"
_LINES_OF_TEST = re.compile(r"(?:^|;|explorer: [\w-]+:)\s*([A-Z]\d*(?: [A-Z]\d*)*):")


@dataclass(frozen=True)
class Mutation:
    """A guard of the engine that was broken on purpose, and what noticed."""

    name: str
    file: str
    is_caught: bool
    caught_by: str
    lines: frozenset[str]


def read_mutations(path: Path) -> list[Mutation]:
    """The stored results of scripts/mutate; none if there are none."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return [_mutation(row) for row in csv.DictReader(file)]


def _mutation(row: dict[str, str]) -> Mutation:
    lines = frozenset(line for names in _LINES_OF_TEST.findall(row["caught_by"]) for line in names.split())
    is_caught = row["caught"].strip().lower() in {"yes", "true", "1", "caught"}
    return Mutation(row["mutation"], row["file"], is_caught, row["caught_by"], lines)


class Evidence:
    """Looks up, for a line, what its tests were seen to notice."""

    def __init__(self, contract: Contract, verdicts: Verdicts, mutations: list[Mutation]) -> None:
        self.contract = contract
        self.verdicts = verdicts
        self.mutations = mutations

    def mutations_noticed_by(self, line: str) -> list[Mutation]:
        """The mutations that turned a test red that names the line."""
        return [mutation for mutation in self.mutations if mutation.is_caught and line in mutation.lines]

    def is_broken_by_foundation(self, line: str) -> bool:
        """Whether a test has shown that Foundation does not keep the line."""
        return any(
            self.verdicts.foundation.get(test.name) == "passed" for test in self.contract.difference_tests_of(line)
        )

    def is_weak(self, line: str) -> bool:
        """Tested, and nothing has shown yet that the tests can fail."""
        is_tested = bool(self.contract.tests_of(line)) and line not in self.contract.tables.untested
        return is_tested and not self.mutations_noticed_by(line) and not self.is_broken_by_foundation(line)
