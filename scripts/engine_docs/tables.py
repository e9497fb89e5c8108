"""The tables of the documentation, as Markdown."""

from collections.abc import Callable, Iterable
from itertools import groupby

from engine_docs.articles import Maker
from engine_docs.contract import Contract, Group, Line, NamedTest
from engine_docs.errors import Problem
from engine_docs.evidence import Evidence


def makers(evidence: Evidence) -> dict[str, Maker]:
    """The kinds of made parts that need the contract."""
    contract = evidence.contract
    groups = {group.letter: group for group in contract.groups}

    def by_letter(make: Callable[[Evidence, Group], str]) -> Maker:
        def made(letter: str) -> str:
            if letter not in groups:
                raise Problem(f"no group {letter} in the contract")
            return make(evidence, groups[letter])

        return made

    return {
        "lines": by_letter(lines_of_group),
        "tests": by_letter(tests_of_group),
        "summary": lambda _: summary(evidence),
        "differences": lambda _: differences(contract),
        "mutations": lambda _: mutations(evidence),
    }


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table. Cells are one line each; a bar in one would end it."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


# What stands in a line's row


def lines_of_group(evidence: Evidence, group: Group) -> str:
    head = ("line", "statement", "tests", "Foundation", "its tests can fail")
    return table(head, (_row(evidence, line) for line in group.lines))


def _row(evidence: Evidence, line: Line) -> tuple[str, ...]:
    return line.id, line.statement, _tests(evidence, line.id), _foundation(evidence, line.id), _proof(evidence, line.id)


def _tests(evidence: Evidence, line: str) -> str:
    tests = evidence.contract.tests_of(line)
    if not tests:
        return f"none: {evidence.contract.tables.untested.get(line, 'not there yet')}"
    verdicts = [evidence.verdicts.engine.get(test.name, "not run") for test in tests]
    counts = ", ".join(
        f"{verdicts.count(kind)} {kind}" for kind in ("passed", "failed", "skipped", "not run") if kind in verdicts
    )
    part = evidence.contract.tables.partly_tested.get(line)
    return f"{counts}; without a test: {part}" if part else counts


def _foundation(evidence: Evidence, line: str) -> str:
    verdicts = [
        evidence.verdicts.foundation.get(test.name, "not run")
        for test in evidence.contract.tests_of(line)
        if test.is_shared
    ]
    said = [evidence.contract.tables.differences[line]] if line in evidence.contract.tables.differences else []
    if verdicts:
        said.insert(0, f"{verdicts.count('passed')} of {len(verdicts)} shared passed")
    return "; ".join(said)


def _proof(evidence: Evidence, line: str) -> str:
    proofs = [f"`{mutation.name}`" for mutation in evidence.mutations_noticed_by(line)]
    shown = proofs[:3] + ([f"{len(proofs) - 3} more mutations"] if len(proofs) > 3 else [])
    if evidence.is_broken_by_foundation(line):
        shown.append("fails on Foundation")
    if shown:
        return ", ".join(shown)
    return "**weak**" if evidence.is_weak(line) else ""


# The other tables


def tests_of_group(evidence: Evidence, group: Group) -> str:
    wanted = {line.id for line in group.lines}
    tests = [test for test in evidence.contract.tests if wanted.intersection(test.lines)]
    tests.sort(key=lambda test: (str(test.file), test.name))
    parts: list[str] = []
    for file, of_file in groupby(tests, key=lambda test: test.file):
        names = "".join(f"  - {_escaped(test)}: {_verdict(evidence, test)}\n" for test in of_file)
        parts.append(f"- `Tests/{file}`\n{names}")
    return "".join(parts)


def _escaped(test: NamedTest) -> str:
    return test.name.replace("*", "\\*").replace("_", "\\_").replace("<", "\\<")


def _verdict(evidence: Evidence, test: NamedTest) -> str:
    side = evidence.verdicts.foundation if test.is_of_foundation else evidence.verdicts.engine
    return side.get(test.name, "not run")


def summary(evidence: Evidence) -> str:
    contract, made = evidence.contract, evidence.verdicts.made
    lines = [line.id for line in contract.lines]
    tested = [line for line in lines if contract.tests_of(line)]
    weak = [line for line in lines if evidence.is_weak(line)]
    failed = sorted(name for name, verdict in evidence.verdicts.engine.items() if verdict != "passed")
    rows = [
        ("lines", str(len(lines))),
        ("with tests that name them", str(len(tested))),
        ("without", ", ".join(line for line in lines if line not in tested) or "none"),
        ("whose tests were seen to fail where they should", str(len(tested) - len(weak))),
        ("**weak**: tested, and not seen to fail yet", f"{len(weak)}: {', '.join(weak)}" if weak else "none"),
        ("engine's tests that name lines, passed", f"{len(evidence.verdicts.engine) - len(failed)}"),
        ("of them not passed", "; ".join(failed) or "none"),
        ("the verdicts are of", f"{made['date']}, commit {made['commit']}, {made['compiler']}"),
    ]
    return table(("", ""), rows)


def differences(contract: Contract) -> str:
    statements = {line.id: line.statement for line in contract.lines}
    found = [line.id for line in contract.lines if line.id in contract.tables.differences]
    return table(
        ("line", "the engine's contract", "Foundation on Linux", "shown by a test"),
        (
            (
                line,
                statements[line],
                contract.tables.differences[line],
                "yes" if contract.difference_tests_of(line) else "",
            )
            for line in found
        ),
    )


def mutations(evidence: Evidence) -> str:
    if not evidence.mutations:
        return "None are stored.\n"
    rows = (
        (f"`{item.name}`", f"`{item.file}`", "caught" if item.is_caught else "**survived**", item.caught_by)
        for item in evidence.mutations
    )
    return table(("mutation", "file", "verdict", "by"), rows)
