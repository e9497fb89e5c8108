"""What a run says about the contract, for people and for programs: contract.md and contract.csv."""

import csv
import io
from collections import Counter
from itertools import groupby

from engine_docs.contract import Group, Line
from engine_docs.evidence import Evidence
from engine_docs.markdown import table
from engine_docs.run import NamedTest

KINDS = ("passed", "failed", "skipped", "not run")
COLUMNS = ("line", "statement", "verdict", "test", "module", "title", "test_verdict")


def verdict(evidence: Evidence, line: Line) -> str:
    """`passed` if a test of the line has and none has failed."""
    found = Counter(test.verdict for test in evidence.run.tests_of(line.id))
    for kind in ("failed", "passed", "skipped", "not run"):
        if found[kind]:
            return kind
    return "no test"


# For programs


def as_csv(evidence: Evidence) -> str:
    """A row for each line and each test that names it, Foundation's included; one row for a line without tests."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in evidence.contract.lines:
        about = (line.id, line.statement, verdict(evidence, line))
        tests = [test for test in evidence.run.tests.values() if line.id in test.lines]
        for test in tests:
            writer.writerow((*about, test.id, test.module, test.title, test.verdict))
        if not tests:
            writer.writerow((*about, "", "", "", ""))
    return text.getvalue()


# For people


def as_markdown(evidence: Evidence, made: str) -> str:
    """The whole report; `made` says of what run."""
    parts = ["# The contract and its tests\n", made, _summary(evidence)]
    for group in evidence.contract.groups:
        parts += [f"## {group.letter}: {group.title}\n", _lines(evidence, group), _tests(evidence, group)]
    parts += ["## Mutations\n", _mutations(evidence)]
    return "\n".join(parts)


def _summary(evidence: Evidence) -> str:
    lines, run = evidence.contract.lines, evidence.run
    tested = [line for line in lines if run.tests_of(line.id)]
    weak = [line.id for line in lines if evidence.is_weak(line)]
    survivors = [mutation.name for mutation in evidence.mutations if not mutation.is_caught]
    failed = sorted(test.title for test in run.engine if test.verdict != "passed")
    rows = [
        ("lines", str(len(lines))),
        ("with tests that name them", str(len(tested))),
        ("without", ", ".join(line.id for line in lines if line not in tested) or "none"),
        ("lines without a test that passed", ", ".join(evidence.unproved()) or "none"),
        ("engine's tests that name lines, passed", str(len(run.engine) - len(failed))),
        ("of them not passed", "; ".join(failed) or "none"),
    ]
    if evidence.mutations:
        rows += [
            ("mutations caught", f"{len(evidence.mutations) - len(survivors)} of {len(evidence.mutations)}"),
            ("survivors", ", ".join(survivors) or "none"),
            ("**weak**: tested, and not seen to fail yet", f"{len(weak)}: {', '.join(weak)}" if weak else "none"),
        ]
    else:
        rows.append(("mutations", "no results here; `scripts/mutate` makes them"))
    return table(("", ""), rows)


def _lines(evidence: Evidence, group: Group) -> str:
    head = ("line", "statement", "tests", "Foundation", "its tests can fail")
    rows = (
        (line.id, line.statement, _counts(evidence, line), _foundation(evidence, line), _proof(evidence, line))
        for line in group.lines
    )
    return table(head, rows)


def _counts(evidence: Evidence, line: Line) -> str:
    found = Counter(test.verdict for test in evidence.run.tests_of(line.id))
    if not found:
        return f"none: {line.untested or 'not there yet'}"
    counts = ", ".join(f"{found[kind]} {kind}" for kind in KINDS if found[kind])
    return f"{counts}; without a test: {line.partly_untested}" if line.partly_untested else counts


def _foundation(evidence: Evidence, line: Line) -> str:
    twins = [twin for test in evidence.run.tests_of(line.id) if (twin := evidence.run.on_foundation(test))]
    said = [line.foundation] if line.foundation else []
    if twins:
        said.insert(0, f"{sum(twin.verdict == 'passed' for twin in twins)} of {len(twins)} shared passed")
    return "; ".join(said)


def _proof(evidence: Evidence, line: Line) -> str:
    proofs = [f"`{mutation.name}`" for mutation in evidence.mutations_noticed_by(line)]
    shown = proofs[:3] + ([f"{len(proofs) - 3} more mutations"] if len(proofs) > 3 else [])
    if evidence.is_broken_by_foundation(line):
        shown.append("fails on Foundation")
    if shown or not evidence.mutations:
        return ", ".join(shown)
    return "**weak**" if evidence.is_weak(line) else ""


def _tests(evidence: Evidence, group: Group) -> str:
    wanted = {line.id for line in group.lines}
    shared = {twin.id for test in evidence.run.engine if (twin := evidence.run.on_foundation(test))}
    tests = [test for id, test in evidence.run.tests.items() if wanted.intersection(test.lines) and id not in shared]
    tests.sort(key=lambda test: (test.file, test.title))
    parts: list[str] = []
    for file, of_file in groupby(tests, key=lambda test: test.file):
        parts.append(f"- `{file}`\n" + "".join(f"  - {_entry(test)}\n" for test in of_file))
    return "".join(parts)


def _entry(test: NamedTest) -> str:
    title = test.title.replace("*", "\\*").replace("_", "\\_").replace("<", "\\<")
    return f"{' '.join(test.lines)}: {title}: {test.verdict}"


def _mutations(evidence: Evidence) -> str:
    if not evidence.mutations:
        return "No results here.\n"
    head = ("mutation", "file", "verdict", "lines", "by")
    rows = (
        (
            f"`{item.name}`", f"`{item.file}`", "caught" if item.is_caught else "**survived**",
            " ".join(sorted(item.lines)), item.caught_by,
        )
        for item in evidence.mutations
    )  # fmt: skip
    return table(head, rows)
