"""The evidence that a test run and mutations give for the contract, and checks of it.

Two files record a run: Swift Testing's event stream, which has no traits, and the output of the trait `.contract` (see
Tests/TestSupport/ContractTrait.swift). Both identify a test by `Module.Suite/test()/File.swift:1:2`.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine_docs.contract import MISUSE, Contract, Line
from engine_docs.layout import Problem

FOUNDATION = "FoundationOracleTests"
COLUMNS = ("line", "statement", "verdict", "mutations", "test", "module", "title", "test_verdict")


@dataclass(frozen=True)
class NamedTest:
    """A test that names lines."""

    id: str
    title: str
    lines: tuple[str, ...]
    verdict: str
    """`passed`, `failed`, `skipped` or `not run`."""

    @property
    def module(self) -> str:
        return self.id.split(".", 1)[0]

    @property
    def name(self) -> str:
        """The id without its module: tests of one source have one name, whatever they are compiled against."""
        return self.id.split(".", 1)[1]


def read_tests(named: Iterable[str], events: Iterable[str] = ()) -> list[NamedTest]:
    """Reads a run from the rows of both files; without events, no test has run."""
    verdicts: dict[str, str] = {}
    for payload in (_json(row)["payload"] for row in events):
        if payload["kind"] == "testSkipped":
            verdicts[payload["testID"]] = "skipped"
        elif payload["kind"] == "testEnded":
            # A test has failed if one of its cases or expectations has.
            symbols = {message["symbol"] for message in payload["messages"]}
            verdicts[payload["testID"]] = "failed" if "fail" in symbols else "passed"
    tests = {}
    for record in map(_json, named):
        id = record["test"]
        tests[id] = NamedTest(id, record["title"], tuple(record["lines"]), verdicts.get(id, "not run"))
    return [tests[id] for id in sorted(tests)]


def _json(row: str) -> dict:
    try:
        return json.loads(row)
    except ValueError:
        raise Problem(f"not a record of a test run: {row[:80]!r}") from None


def read_mutations(path: Path) -> dict[str, list[str]]:
    """The guards, broken on purpose, that tests noticed in the last run of scripts/mutate, by the lines of those tests."""
    found: dict[str, list[str]] = {}
    if path.exists():
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                for line in row["lines_caught"].split() if row["caught"] == "yes" else ():
                    found.setdefault(line, []).append(row["mutation"])
    return found


class Evidence:
    """The tests of a run by the lines that they name."""

    def __init__(self, contract: Contract, tests: list[NamedTest]) -> None:
        self.contract = contract
        self.tests = tests
        self.engine = [test for test in tests if test.module != FOUNDATION]
        names = {test.name for test in self.engine}
        foundation = [test for test in tests if test.module == FOUNDATION]
        self._shared = {test.name for test in foundation} & names
        self._differences = [test for test in foundation if test.name not in names]

    def tests_of(self, line: str) -> list[NamedTest]:
        """The engine's tests that name the line."""
        return [test for test in self.engine if line in test.lines]

    def gaps(self) -> list[str]:
        """Mistakes in the lines that tests name, whatever their verdicts; empty if there are none."""
        return [*self._unknown(), *self._coverage(), *self._on_foundation(), *self._errors()]

    def unproved(self) -> list[str]:
        """The lines without a passed test."""
        return [
            line.id
            for line in self.contract.lines
            if not line.untested and not any(test.verdict == "passed" for test in self.tests_of(line.id))
        ]

    def as_csv(self, mutations: dict[str, list[str]]) -> str:
        """A row for each line and each test that names it, Foundation's included; one row for a line without tests."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for line in self.contract.lines:
            about = (line.id, line.statement, self._verdict(line), " ".join(mutations.get(line.id, ())))
            tests = [test for test in self.tests if line.id in test.lines]
            rows = [(test.id, test.module, test.title, test.verdict) for test in tests] or [("", "", "", "")]
            writer.writerows((*about, *row) for row in rows)
        return text.getvalue()

    def _verdict(self, line: Line) -> str:
        """`passed` if a test of the line has passed and none has failed."""
        found = Counter(test.verdict for test in self.tests_of(line.id))
        return next((kind for kind in ("failed", "passed", "skipped", "not run") if found[kind]), "no test")

    def _unknown(self) -> list[str]:
        known = {line.id for line in self.contract.lines}
        return [
            f"{test.id} names {name}, which is not a line of the contract"
            for test in self.tests
            for name in test.lines
            if name not in known
        ]

    def _coverage(self) -> list[str]:
        found: list[str] = []
        for line in self.contract.lines:
            has_tests = bool(self.tests_of(line.id))
            if not has_tests and not line.untested:
                found.append(f"{line.id} has no test, and no reason for that")
            if has_tests and line.untested:
                found.append(f"{line.id} has a test, but also a reason for having none")
        return found

    def _on_foundation(self) -> list[str]:
        """A line is tested on Foundation by the same source, or its difference is listed."""
        found: list[str] = []
        for line in self.contract.lines:
            is_shared = any(test.name in self._shared for test in self.tests_of(line.id))
            if not is_shared and not line.foundation and not line.untested and line.id != MISUSE:
                found.append(f"{line.id} is not tested on Foundation, and no difference is listed")
            if line.foundation and line.is_shown != any(line.id in test.lines for test in self._differences):
                shown = "no test shows" if line.is_shown else "a test shows"
                found.append(f"{line.id}: {shown} what Foundation does, but the contract says otherwise")
        return found

    def _errors(self) -> list[str]:
        """Each row of the table of errors has a test that names R and its line, and no other line has one."""
        rows = {line.id for line in self.contract.lines if line.misuses}
        tested = {name for test in self.tests_of(MISUSE) for name in test.lines} - {MISUSE}
        return [
            *(f"{line}: no test names {MISUSE} and this line of the table of errors" for line in sorted(rows - tested)),
            *(f"{line}: not in the table of errors, and named with {MISUSE}" for line in sorted(tested - rows)),
        ]
