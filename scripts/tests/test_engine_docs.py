"""The documentation agrees with the sources, and differences are detected. What the makers of tables and pictures make is
compared with the kept articles by scripts/docs."""

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from engine_docs import articles, command, goals, modules, picture, times
from engine_docs.comments import undocumented
from engine_docs.contract import Contract, Line, read_groups
from engine_docs.evidence import Evidence, read_mutations, read_tests
from engine_docs.examples import read_examples
from engine_docs.layout import BASELINE, REFERENCE, ROOT, SESSION, Problem
from engine_docs.words import report

LINES = """\
# words
## A First
A1 one
  partly without a test: a part
  Foundation, shown by a test: fails: does not
A2 two
  no test: no "reason"
  Foundation: absent
A3 three
  misuse: a row

## B Second
  Foundation: absent: no second
B1 four
B2 five
  Foundation: differs: so

## R Misuse
R all
"""


@pytest.fixture
def contract(tmp_path: Path) -> Contract:
    (tmp_path / "lines.txt").write_text(LINES)
    return Contract(tmp_path / "lines.txt")


def event(record: str, **payload: object) -> str:
    # As in Swift Testing's output: characters in a name that some treat as line ends are not escaped.
    return json.dumps({"kind": record, "payload": payload, "version": 0}, ensure_ascii=False)


def ended(test: str, *symbols: str) -> str:
    messages = [{"symbol": symbol, "text": ""} for symbol in symbols]
    return event("event", kind="testEnded", testID=test, messages=messages)


def named(test: str, title: str, *lines: str) -> str:
    return json.dumps({"test": test, "title": title, "lines": lines})


SHARED, FOUNDATION = "EngineTests.S/a()/A.swift:1:2", "FoundationOracleTests.S/a()/A.swift:1:2"
ERRORS, SECOND = "EngineTests.S/b()/B.swift:3:2", "EngineTests.S/c()/B.swift:9:2"
DIFFERENCE = "FoundationOracleTests.D/d()/D.swift:1:2"

NAMED = [
    named(SHARED, "shared", "A1"),
    named(FOUNDATION, "shared", "A1"),
    named(ERRORS, "errors", "A3", "R"),
    named(SECOND, "sec*ond", "A3", "B1", "B2"),
    named(DIFFERENCE, "Foundation does not", "A1"),
]
EVENTS = [
    event("event", kind="testStarted", testID="shared\u2028"),
    ended(SHARED, "pass"),
    ended(FOUNDATION, "fail"),
    ended(ERRORS, "fail", "pass"),
    event("event", kind="testSkipped", testID=SECOND, messages=[]),
    ended(DIFFERENCE, "pass"),
]


@pytest.fixture
def evidence(contract: Contract) -> Evidence:
    """A1 has a shared test that fails on Foundation; A3, B and R have tests of the engine."""
    return Evidence(contract, read_tests(NAMED, EVENTS))


def test_lines_are_read_by_group_with_their_notes(contract: Contract) -> None:
    first, second, misuse = contract.groups
    assert [line.id for line in first.lines] == ["A1", "A2", "A3"] and first.title == "First"
    assert first.lines == (
        Line("A1", "one", partly_untested="a part", foundation="fails: does not", is_shown=True),
        Line("A2", "two", untested='no "reason"', foundation="absent"),
        Line("A3", "three", misuses=("a row",)),
    )
    assert [line.foundation for line in second.lines] == ["absent: no second", "differs: so"]
    assert misuse.lines == (Line("R", "all"),)


@pytest.mark.parametrize(
    "bad",
    [
        "## A First\nB1 elsewhere\n", "A1 in no group\n", "## A First\nnot a line\n", "  no test: of nothing\n",
        "## A First\n  no test: all\n", "## A First\nA1 one\n  because: no such note\n",
    ],
)  # fmt: skip
def test_a_misplaced_line_or_note_is_a_problem(bad: str) -> None:
    with pytest.raises(Problem):
        read_groups(bad)


def test_a_run_is_read_from_both_files(evidence: Evidence) -> None:
    assert {test.id: test.verdict for test in evidence.tests} == {
        SHARED: "passed", FOUNDATION: "failed", ERRORS: "failed", SECOND: "skipped", DIFFERENCE: "passed",
    }  # fmt: skip
    assert [(test.title, test.lines) for test in evidence.tests_of("A1")] == [("shared", ("A1",))]
    assert evidence.unproved() == ["A3", "B1", "B2", "R"]


def test_a_run_that_tests_every_line_as_noted_has_no_gaps(contract: Contract, evidence: Evidence) -> None:
    # A3 is the line that is not tested on Foundation.
    (gap,) = evidence.gaps()
    assert gap.startswith("A3 ")
    twin = named(ERRORS.replace("EngineTests", "FoundationOracleTests"), "errors", "A3", "R")
    assert Evidence(contract, read_tests([*NAMED, twin])).gaps() == []


@pytest.mark.parametrize(
    ("removed", "added", "line"),
    [
        (3, None, "B1"), (4, None, "A1"), (2, None, "A3"), (None, ("EngineTests.S/e()/B.swift:5:2", "more", "A2"), "A2"),
        (None, ("EngineTests.S/e()/B.swift:5:2", "more", "A9"), "A9"),
        (None, ("FoundationOracleTests.D/e()/D.swift:5:2", "more", "B2"), "B2"),
        (None, ("EngineTests.S/e()/B.swift:5:2", "more", "R", "B1"), "B1"),
    ],
)  # fmt: skip
def test_every_gap_is_named(contract: Contract, removed: int | None, added: tuple[str, ...] | None, line: str) -> None:
    without = set(Evidence(contract, read_tests(NAMED)).gaps())
    rows = [row for index, row in enumerate(NAMED) if index != removed] + ([named(*added)] if added else [])
    found = set(Evidence(contract, read_tests(rows)).gaps()) - without
    assert any(line in gap for gap in found), found


def test_the_table_has_a_row_for_each_line_and_test(evidence: Evidence, tmp_path: Path) -> None:
    mutations = tmp_path / "mutations.csv"
    mutations.write_text("mutation,caught,lines_caught\nbroken,yes,A1 B1\nkept,no,A1\n")
    rows = list(csv.DictReader(evidence.as_csv(read_mutations(mutations)).splitlines()))
    assert {row["line"]: row["mutations"] for row in rows} == {
        "A1": "broken", "A2": "", "A3": "", "B1": "broken", "B2": "", "R": "",
    }  # fmt: skip
    assert [(row["line"], row["verdict"], row["title"], row["test_verdict"]) for row in rows] == [
        ("A1", "passed", "shared", "passed"), ("A1", "passed", "Foundation does not", "passed"),
        ("A1", "passed", "shared", "failed"), ("A2", "no test", "", ""), ("A3", "failed", "errors", "failed"),
        ("A3", "failed", "sec*ond", "skipped"), ("B1", "skipped", "sec*ond", "skipped"),
        ("B2", "skipped", "sec*ond", "skipped"), ("R", "failed", "errors", "failed"),
    ]  # fmt: skip
    assert rows[0]["statement"] == "one" and rows[2]["module"] == "FoundationOracleTests" and rows[2]["test"] == FOUNDATION


def test_a_run_writes_its_tables_and_fails_for_unproved_lines(
    contract: Contract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "CONTRACT_LINES", tmp_path / "lines.txt")
    assert command.main(["contract", str(tmp_path)]) == 1 and str(tmp_path) in capsys.readouterr().err
    twin = ERRORS.replace("EngineTests", "FoundationOracleTests")
    (tmp_path / "contract-tests.jsonl").write_text("\n".join([*NAMED, named(twin, "errors", "A3", "R")]) + "\n")
    (tmp_path / "test-events.jsonl").write_text("\n".join(EVENTS) + "\n")
    assert command.main(["lines", str(tmp_path)]) == 0
    assert command.main(["contract", str(tmp_path)]) == 1
    assert "A3, B1, B2, R" in capsys.readouterr().err
    passed = [ended(test, "pass") for test in (SHARED, ERRORS, SECOND, DIFFERENCE)]
    (tmp_path / "test-events.jsonl").write_text("\n".join(passed) + "\n")
    assert command.main(["contract", str(tmp_path)]) == 0
    assert (tmp_path / "contract.csv").exists()


def test_examples_are_dedented_and_named_once(tmp_path: Path) -> None:
    file = tmp_path / "Tests.swift"
    file.write_text("    // example: one\n    //: import B\n    //:\n    let a = 1\n        + 2\n    // end of example\n")
    assert read_examples(tmp_path) == {"one": "```swift\nimport B\n\nlet a = 1\n    + 2\n```\n"}
    (tmp_path / "More.swift").write_text(file.read_text())
    with pytest.raises(Problem, match="a second example one"):
        read_examples(tmp_path)


def test_stale_parts_are_noticed(tmp_path: Path) -> None:
    article = tmp_path / "A.md"
    article.write_text("before\n<!-- made: word x -->\nold\n<!-- end -->\nafter\n")
    made = {"word": lambda name: f"new {name}\n"}
    new = "before\n<!-- made: word x -->\nnew x\n<!-- end -->\nafter\n"
    assert articles.stale([article], made) == {article: new}
    article.write_text(new)
    assert articles.stale([article], made) == {}
    with pytest.raises(Problem, match="A.md"):
        articles.stale([article], {})


def test_public_symbols_without_a_comment_are_listed_and_synthesized_ones_are_not(tmp_path: Path) -> None:
    location = {"uri": "file:///x/A.swift", "position": {"line": 4, "character": 0}}
    symbols = [
        {"pathComponents": ["A", "b"], "location": location},
        {"pathComponents": ["A", "c"], "location": location, "docComment": {"lines": []}},
        {"pathComponents": ["A", "synthesized"]},
    ]
    graph = tmp_path / "A.symbols.json"
    graph.write_text(json.dumps({"symbols": symbols}))
    assert undocumented(graph) == ["/x/A.swift:5: A.b"]


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: goals.maker(folder)("engine"), lambda folder: times.cells(folder, "run"),
        lambda folder: times.makers(folder, folder)["peers"]("onetbb"),
        lambda folder: picture.stale(folder, folder / "session.txt", []),
    ],
)  # fmt: skip
def test_a_missing_record_is_a_problem(make, tmp_path: Path) -> None:
    with pytest.raises(Problem, match=str(tmp_path)):
        make(tmp_path)


def test_a_session_without_a_regression_is_a_problem() -> None:
    session = SESSION.read_text(encoding="utf-8")
    assert picture.excerpt(picture.read(session))
    with pytest.raises(Problem):
        picture.excerpt(picture.read(session.replace("regression", "pass")))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Sources/A.swift", 'let reason = "whoever ends it"\n'), ("Sources/A.swift", "    /// What it does.\n"),
        ("scripts/run", "# It goes on until then.\n"), ("README.md", "A figure that tells.\n"),
    ],
)  # fmt: skip
def test_an_avoided_word_is_found(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    [line] = report(tmp_path)
    assert line.startswith(f"{name}:1: ") and "; better: " in line


def test_other_uses_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("/// A doc comment\n/// What is more.\nThere is none. x is None\n")
    assert not report(tmp_path)


MODULES = {
    "targets": [
        {"name": "top", "type": "executable", "dependencies": [
            {"byName": ["middle", None]}, {"byName": ["low", None]}, {"product": ["Elsewhere", "package", None, None]},
        ]},
        {"name": "middle", "type": "regular", "dependencies": [{"target": ["low", None]}, {"byName": ["C", None]}]},
        {"name": "low", "type": "regular", "dependencies": []},
        {"name": "C", "type": "system", "dependencies": []},
        {"name": "tool", "type": "executable", "path": "Tests/Tool", "dependencies": [{"byName": ["top", None]}]},
        {"name": "Tests", "type": "test", "dependencies": [{"byName": ["top", None]}]},
    ]
}  # fmt: skip


def test_the_picture_of_the_modules_has_the_shortest_list_of_arrows() -> None:
    graph = modules.read(MODULES)
    assert graph == {"top": {"middle", "low"}, "middle": {"low", "C"}, "low": set(), "C": set()}
    assert modules.diagram(graph).splitlines()[2:-1] == ["    top --> middle", "    middle --> C & low"]


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 90


def test_the_readmes_claim_is_the_runs() -> None:
    assert times.speed(BASELINE, "engine-system", "engine-jemalloc") in README


def test_the_readme_quotes_the_recorded_session() -> None:
    recorded = iter(SESSION.read_text(encoding="utf-8").splitlines())
    quoted = [line for line in README.split("```\n")[1].splitlines() if line != "…"]
    assert [line for line in quoted if line not in recorded] == []


def test_the_readmes_proofs_are_recorded() -> None:
    proofs = json.loads((REFERENCE / "proofs.json").read_text(encoding="utf-8"))["proofs"]
    assert {proof["verdict"] for proof in proofs.values()} == {"held"}
    figures = " ".join(figure for proof in proofs.values() for figure in proof["figures"])
    claims = re.findall(r"^- .*", README, re.M)
    assert len(claims) == 5
    assert [bold for claim in claims for bold in re.findall(r"\*\*(.+?)\*\*", claim) if bold not in figures] == []


def test_the_table_of_orderings_counts_those_of_the_sources() -> None:
    """Each atomic access of the engine that is stronger than relaxed belongs to a word in the table."""
    letters = {"acquiring": "A", "releasing": "R", "acquiringAndReleasing": "AR", "sequentiallyConsistent": "SC"}
    engine = ROOT / "Sources/OperationEngine"
    in_sources: Counter[tuple[str, str]] = Counter()
    for path in engine.rglob("*.swift"):
        orderings = re.findall(rf"[oO]rdering: \.({'|'.join(letters)})\b", path.read_text(encoding="utf-8"))
        in_sources.update((path.stem, letters[ordering]) for ordering in orderings)
    article = (engine / "OperationEngine.docc/TheSleepProtocol.md").read_text(encoding="utf-8")
    rows = article.partition("| word | accesses |")[2].partition("\n\n")[0].splitlines()[2:]
    in_table: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for file, counts in re.findall(r"`([\w+]+)`((?: \d+ (?:A|R|AR|SC)\b)+)", row.split(" | ")[1]):
            for count, letter in re.findall(r"(\d+) (\w+)", counts):
                in_table[file, letter] += int(count)
    assert in_table == in_sources
