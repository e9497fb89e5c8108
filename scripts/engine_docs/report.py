"""A run's results for the contract: contract.csv."""

import csv
import io
from collections import Counter

from engine_docs.contract import Line
from engine_docs.evidence import Evidence

COLUMNS = ("line", "statement", "verdict", "mutations", "test", "module", "title", "test_verdict")


def verdict(evidence: Evidence, line: Line) -> str:
    """`passed` if a test of the line has passed and none has failed."""
    found = Counter(test.verdict for test in evidence.run.tests_of(line.id))
    for kind in ("failed", "passed", "skipped", "not run"):
        if found[kind]:
            return kind
    return "no test"


def as_csv(evidence: Evidence) -> str:
    """A row for each line and each test that names it, Foundation's included; one row for a line without tests."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in evidence.contract.lines:
        mutations = " ".join(mutation.name for mutation in evidence.mutations_noticed_by(line))
        about = (line.id, line.statement, verdict(evidence, line), mutations)
        tests = [test for test in evidence.run.tests.values() if line.id in test.lines]
        for test in tests:
            writer.writerow((*about, test.id, test.module, test.title, test.verdict))
        if not tests:
            writer.writerow((*about, "", "", "", ""))
    return text.getvalue()
