"""A test run: the tests that name lines of the contract, and their results.

Two files record it: Swift Testing's event stream, which has no traits, and the output of the trait `.contract` (see
Tests/TestSupport/ContractTrait.swift). Both identify a test by `Module.Suite/test()/File.swift:1:2`.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from engine_docs.errors import Problem

FOUNDATION_MODULE = "FoundationOracleTests"


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

    @property
    def file(self) -> str:
        """`Module/File.swift`."""
        return f"{self.module}/{self.id.rsplit('/', 1)[-1].split(':', 1)[0]}"

    @property
    def is_of_foundation(self) -> bool:
        return self.module == FOUNDATION_MODULE


@dataclass(frozen=True)
class Run:
    """The tests that name lines, by identifier."""

    tests: dict[str, NamedTest]

    @cached_property
    def engine(self) -> list[NamedTest]:
        return [test for test in self.tests.values() if not test.is_of_foundation]

    @cached_property
    def _foundation(self) -> dict[str, NamedTest]:
        return {test.name: test for test in self.tests.values() if test.is_of_foundation}

    def tests_of(self, line: str) -> list[NamedTest]:
        """The engine's tests that name the line."""
        return [test for test in self.engine if line in test.lines]

    def on_foundation(self, test: NamedTest) -> NamedTest | None:
        """The same source, compiled against Foundation."""
        return self._foundation.get(test.name)

    @cached_property
    def foundation_only(self) -> list[NamedTest]:
        """The tests that show what Foundation does instead."""
        names = {test.name for test in self.engine}
        return [test for name, test in self._foundation.items() if name not in names]

    def differences_of(self, line: str) -> list[NamedTest]:
        return [test for test in self.foundation_only if line in test.lines]


def read_run(named: Iterable[str], events: Iterable[str] = ()) -> Run:
    """Reads a run from the rows of both files; without events, no test has run."""
    verdicts = _verdicts(events)
    tests: dict[str, NamedTest] = {}
    for row in named:
        record = _json(row)
        id = record["test"]
        tests[id] = NamedTest(id, record["title"], tuple(record["lines"]), verdicts.get(id, "not run"))
    return Run(dict(sorted(tests.items())))


def _verdicts(events: Iterable[str]) -> dict[str, str]:
    """The verdicts by identifier. A test has failed if one of its cases or expectations has."""
    verdicts: dict[str, str] = {}
    for row in events:
        record = _json(row)
        payload = record["payload"]
        if payload["kind"] == "testSkipped":
            verdicts[payload["testID"]] = "skipped"
        elif payload["kind"] == "testEnded":
            symbols = {message["symbol"] for message in payload["messages"]}
            verdicts[payload["testID"]] = "failed" if "fail" in symbols else "passed"
    return verdicts


def _json(row: str) -> dict:
    try:
        return json.loads(row)
    except ValueError:
        raise Problem(f"not a record of a test run: {row[:80]!r}") from None
