"""Runs what should notice a mutation: the explorer, or the tests."""

import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from engine_mutations.definitions import Mistake, Mutation
from engine_mutations.tree import SWITCH

# All tests but the random programs and what takes long.
QUICK_TESTS = r"OperationEngineTests\.(?!.*(Stress|Crowd|Soak|LargeGraph|RandomGraph|RaceTests|Scenario|Coverage))"


@dataclass(frozen=True)
class Notice:
    """The tests, or the schedule, that failed."""

    by: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """The lines of the contract that they name."""


@dataclass(frozen=True)
class NamingTest:
    """A test that names lines, as its trait `.contract` has recorded it."""

    title: str
    lines: frozenset[str]
    filter: str
    """An expression for `--filter` that fits this test alone."""


class Judge:
    """Runs the programs of a built tree."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._products = tree / ".build/debug"
        self._tests: list[NamingTest] = []
        self.unreliable: set[str] = set()
        """Tests that fail without any mutation: they prove nothing."""

    def list_tests(self) -> None:
        """Makes every test that names lines record itself. None is run."""
        record = self._tree / ".build/contract-tests.jsonl"
        record.unlink(missing_ok=True)
        self._swift_testing("OperationEngineTests", 60, {"OPBENCH_CONTRACT_TESTS": str(record), "OPBENCH_TEST": "list"})
        for line in record.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            # Module.Suite/test()/File.swift:1:2
            name = re.escape(row["test"].rpartition("/")[0] + "/")
            self._tests.append(NamingTest(row["title"], frozenset(row["lines"]), name))

    def run_without_mutation(self) -> None:
        """Finds the unreliable tests."""
        failed, has_crashed = self._run_tests(QUICK_TESTS, 600, {})
        if has_crashed:
            raise Mistake("the tests crash without any mutation")
        self.unreliable = failed

    def explore(self, mutation: Mutation) -> Notice:
        """The first schedule that fails: first in the scenarios that are named, then in all."""
        attempts = [
            ["search", "--first", "--seconds", "20", *mutation.noticed_by],
            ["search", "--first", "--long", "--seconds", "90", *mutation.noticed_by],
            ["random", "--first", "--schedules", "200", "--seconds", "5"],
        ]
        for attempt in attempts:
            output, _ = self._run(["explore", *attempt], 1200, {SWITCH: str(mutation.number)})
            if failed := re.search(r"^FAILED\s*(.*)", output, re.MULTILINE):
                # "scenario: N4: what went wrong"
                lines = re.match(r"[\w-]+: ([A-Z]\d*(?: [A-Z]\d*)*): ", failed[1])
                replay = re.search(r"replay: .*?(\S+)$", output, re.MULTILINE)
                what = f"explorer: {failed[1]} [{replay[1] if replay else ''}]"
                return Notice([what], lines[1].split() if lines else [])
        return Notice()

    def test(self, mutation: Mutation, with_all: bool) -> Notice:
        """The tests that fail: of those that name one of the mutation's lines, or of all that name a line."""
        suspects = [test for test in self._tests if test.lines & set(mutation.noticed_by)]
        environment = {SWITCH: str(mutation.number)}
        expression = QUICK_TESTS if with_all else "|".join(test.filter for test in suspects)
        failed, has_crashed = self._run_tests(expression, 150, environment) if expression else (set(), False)
        # One of the many that ran at the crash is to blame: each alone, up to the first.
        for test in suspects if has_crashed else []:
            failed_alone, has_crashed_alone = self._run_tests(test.filter, 150, environment)
            if failed_alone or has_crashed_alone:
                failed.add(test.title)
                break
        failed -= self.unreliable
        return Notice(sorted(failed), sorted({line for t in self._tests if t.title in failed for line in t.lines}))

    def _run_tests(self, expression: str, seconds: float, environment: dict[str, str]) -> tuple[set[str], bool]:
        """The titles of the tests that failed, and whether the process crashed or was killed."""
        output, was_killed = self._swift_testing(expression, seconds, {"SWIFT_BACKTRACE": "enable=no", **environment})
        failed = re.findall(r'^✘ Test "(.+?)" (?:with \d+ test cases? )?failed after', output, re.MULTILINE)
        return set(failed), was_killed or "Test run with" not in output

    def _swift_testing(self, expression: str, seconds: float, environment: dict[str, str]) -> tuple[str, bool]:
        bundle = ["opbenchPackageTests.xctest", "--testing-library", "swift-testing", "--filter", expression]
        return self._run(bundle, seconds, environment)

    def _run(self, command: list[str], seconds: float, environment: dict[str, str]) -> tuple[str, bool]:
        """The output, and whether the program had to be killed."""
        # A file and not a pipe: a child that outlives the program would hold a pipe open.
        with tempfile.TemporaryFile() as file:
            process = subprocess.Popen(
                [str(self._products / command[0]), *command[1:]], cwd=self._tree, env=os.environ | environment,
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip
            try:
                process.wait(seconds)
                was_killed = False
            except subprocess.TimeoutExpired:
                was_killed = True
            finally:
                process.kill()
                process.wait()
            file.seek(0)
            return file.read().decode(errors="replace"), was_killed
