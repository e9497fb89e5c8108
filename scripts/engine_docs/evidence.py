"""The evidence that a test run and mutations give for the contract, and checks of it."""

from engine_docs.contract import MISUSE, Contract, Line
from engine_docs.mutations import Mutation
from engine_docs.run import Run


class Evidence:
    """Looks up a line's test results and the mutations that its tests noticed."""

    def __init__(self, contract: Contract, run: Run, mutations: list[Mutation]) -> None:
        self.contract = contract
        self.run = run
        self.mutations = mutations

    def mutations_noticed_by(self, line: Line) -> list[Mutation]:
        """The mutations that made a test of the line fail."""
        return [mutation for mutation in self.mutations if mutation.is_caught and line.id in mutation.lines]

    def gaps(self) -> list[str]:
        """Mistakes in the lines that tests name, whatever their verdicts; empty if there are none."""
        return [*self._unknown(), *self._coverage(), *self._on_foundation(), *self._errors()]

    def unproved(self) -> list[str]:
        """The lines without a passed test."""
        return [
            line.id
            for line in self.contract.lines
            if not line.untested and not any(test.verdict == "passed" for test in self.run.tests_of(line.id))
        ]

    def _unknown(self) -> list[str]:
        known = {line.id for line in self.contract.lines}
        return [
            f"“{test.title}” ({test.file}) names {name}, which is not a line of the contract"
            for test in self.run.tests.values()
            for name in test.lines
            if name not in known
        ]

    def _coverage(self) -> list[str]:
        found: list[str] = []
        for line in self.contract.lines:
            has_tests = bool(self.run.tests_of(line.id))
            if not has_tests and not line.untested:
                found.append(f"{line.id} has no test, and no reason for that")
            if has_tests and line.untested:
                found.append(f"{line.id} has a test, but also a reason for having none")
        return found

    def _on_foundation(self) -> list[str]:
        """A line is tested on Foundation by the same source, or its difference is listed."""
        found: list[str] = []
        for line in self.contract.lines:
            is_shared = any(self.run.on_foundation(test) for test in self.run.tests_of(line.id))
            if not is_shared and not line.foundation and not line.untested and line.id != MISUSE:
                found.append(f"{line.id} is not tested on Foundation, and no difference is listed")
            if line.foundation and line.is_shown != bool(self.run.differences_of(line.id)):
                shown = "no test shows" if line.is_shown else "a test shows"
                found.append(f"{line.id}: {shown} what Foundation does, but the contract says otherwise")
        return found

    def _errors(self) -> list[str]:
        """Each row of the table of errors has a test that names R and its line, and no other line has one."""
        rows = {line.id for line in self.contract.lines if line.misuses}
        tested = {name for test in self.run.tests_of(MISUSE) for name in test.lines} - {MISUSE}
        return [
            *(f"{line}: no test names {MISUSE} and this line of the table of errors" for line in sorted(rows - tested)),
            *(f"{line}: not in the table of errors, and named with {MISUSE}" for line in sorted(tested - rows)),
        ]
