"""The tables and examples of the documentation agree with the sources, and differences are detected."""

import csv
import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from engine_docs import articles, command, goals, headline, modules, peers, picture, report
from engine_docs.comments import undocumented
from engine_docs.contract import Contract, Line, read_groups
from engine_docs.errors import Problem
from engine_docs.evidence import Evidence
from engine_docs.examples import read_examples
from engine_docs.layout import BASELINE, HEADLINE, REFERENCE, ROOT, SESSION
from engine_docs.mutations import Mutation
from engine_docs.run import Run, read_run
from engine_docs.tables import lines, makers

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
    event("test", kind="function", id=SHARED, displayName="shared\u2028"),
    ended(SHARED, "pass"),
    ended(FOUNDATION, "fail"),
    ended(ERRORS, "fail", "pass"),
    event("event", kind="testSkipped", testID=SECOND, messages=[]),
    ended(DIFFERENCE, "pass"),
]


@pytest.fixture
def run() -> Run:
    """A1 has a shared test that fails on Foundation; A3, B and R have tests of the engine."""
    return read_run(NAMED, EVENTS)


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


def test_a_run_is_read_from_both_files_and_its_sides_are_joined(run: Run) -> None:
    assert {test.id: test.verdict for test in run.tests.values()} == {
        SHARED: "passed", FOUNDATION: "failed", ERRORS: "failed", SECOND: "skipped", DIFFERENCE: "passed",
    }  # fmt: skip
    shared = run.tests[SHARED]
    assert (shared.title, shared.lines, shared.file) == ("shared", ("A1",), "EngineTests/A.swift")
    assert run.tests_of("A1") == [shared] and run.on_foundation(shared) == run.tests[FOUNDATION]
    assert run.differences_of("A1") == [run.tests[DIFFERENCE]]
    assert run.on_foundation(run.tests[ERRORS]) is None


def test_a_run_that_tests_every_line_as_noted_has_no_gaps(
    contract: Contract, run: Run
) -> None:
    # A3 is the line that is not tested on Foundation.
    (gap,) = Evidence(contract, run, []).gaps()
    assert gap.startswith("A3 ")
    twin = named(ERRORS.replace("EngineTests", "FoundationOracleTests"), "errors", "A3", "R")
    assert Evidence(contract, read_run([*NAMED, twin]), []).gaps() == []


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
    without = set(Evidence(contract, read_run(NAMED), []).gaps())
    rows = [row for index, row in enumerate(NAMED) if index != removed] + ([named(*added)] if added else [])
    found = set(Evidence(contract, read_run(rows), []).gaps()) - without
    assert any(line in gap for gap in found), found


def test_a_line_is_proved_by_a_passed_test(contract: Contract, run: Run) -> None:
    assert Evidence(contract, run, []).unproved() == ["A3", "B1", "B2", "R"]


def test_the_table_has_a_row_for_each_line_and_test(contract: Contract, run: Run) -> None:
    mutations = [Mutation("broken", True, frozenset({"A1"})), Mutation("kept", False, frozenset({"A1"}))]
    rows = list(csv.DictReader(report.as_csv(Evidence(contract, run, mutations)).splitlines()))
    assert {row["line"]: row["mutations"] for row in rows} == {
        "A1": "broken", "A2": "", "A3": "", "B1": "", "B2": "", "R": "",
    }  # fmt: skip
    assert [(row["line"], row["verdict"], row["title"], row["test_verdict"]) for row in rows] == [
        ("A1", "passed", "shared", "passed"),
        ("A1", "passed", "Foundation does not", "passed"),
        ("A1", "passed", "shared", "failed"),
        ("A2", "no test", "", ""),
        ("A3", "failed", "errors", "failed"),
        ("A3", "failed", "sec*ond", "skipped"),
        ("B1", "skipped", "sec*ond", "skipped"),
        ("B2", "skipped", "sec*ond", "skipped"),
        ("R", "failed", "errors", "failed"),
    ]
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


def test_the_tables_of_the_documentation_are_generated_from_the_contract(contract: Contract, tmp_path: Path) -> None:
    made = makers(contract)
    absent = tmp_path / "absent.txt"
    absent.write_text("## C Third\n  Foundation: absent: no third\nC1 six\nC2 seven\n")
    assert made["lines"]("contract").split("\n\n")[:4] == [
        "## A: First", "- **A1** one · Foundation ✓: fails: does not\n- **A2** two · Foundation: absent\n- **A3** three",
        "## B: Second", "- **B1** four · Foundation: absent: no second\n- **B2** five · Foundation: differs: so",
    ]  # fmt: skip
    assert lines(Contract(absent)).splitlines()[2:] == ["Foundation on Linux: absent: no third.", "", "- **C1** six", "- **C2** seven"]
    summary = made["summary"]("contract")
    assert '| without, and why | A2: no "reason" |\n' in summary and "| a part of it without | A1: a part |\n" in summary


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


GOAL_COLUMNS = "cell_id,backend,metric,stat,against,head_value,ratio,ci_low,ci_high,at_most,verdict\n"
GOALS = {
    "system": """\
tiny work_ns=0,engine,time,total,dispatch,2e-7,0.25,0.2,0.31,0.3,inconclusive
chain depth=9,engine:within,time,total,dispatch,2e-7,3.5,3.25,3.75,1.0,missed
start,engine,submit_latency,p50,dispatch:notify,1e-6,0.4,0.3,0.45,0.5,met
gone,engine,time,total,,,,,,1,missing
""",
    "jemalloc": """\
tiny work_ns=0,engine,time,total,dispatch,2e-7,0.5,0.4375,0.5625,0.42,missed
pending,engine,retained_bytes,total,foundation,176.5,0.17,,,0.19,inconclusive
pending,engine,retained_bytes,total,,176.5,,,,180,inconclusive
chain depth=9,engine:within,time,total,dispatch,2e-7,1.0,0.75,1.25,1.4,met
start,engine,submit_latency,p50,dispatch,1e-6,0.6,0.5,0.65,0.7,met
gone,engine,time,total,,,,,,1,missing
""",
}


def test_the_table_of_missed_goals_has_both_allocators_side_by_side(tmp_path: Path) -> None:
    for allocator, rows in GOALS.items():
        (tmp_path / f"engine-goals-{allocator}.csv").write_text(GOAL_COLUMNS + rows, encoding="utf-8")
    made = goals.maker(tmp_path)("engine").splitlines()
    assert made[2:] == [
        "| `tiny work_ns=0` | time ÷ Dispatch | ≤ 0.3 | 0.25 (0.2–0.31) inconclusive | ≤ 0.42 | 0.5 (0.438–0.562) missed |",
        "| `chain depth=9` | time of `engine:within` ÷ Dispatch | ≤ 1 | 3.5 (3.25–3.75) missed | ≤ 1.4 | 1 (0.75–1.25) met |",
        "| `gone` | time | ≤ 1 | missing | ≤ 1 | missing |",
        "",
        "With glibc's malloc: 1 met, 1 missed, 1 inconclusive, 1 missing.",
        "With jemalloc: 2 met, 1 missed, 2 inconclusive, 1 missing.",
    ]


SUMMARY = """\
cell_id,backend,axis,operation_class,time_ns_per_op,time_ratio,time_ratio_ci_low,time_ratio_ci_high,ratio_to
a,engine,,,250,0.5,0.2,0.625,dispatch
a,dispatch,,,1000,1,1,1,dispatch
a,dispatch:function,,,500,0.5,0.4,0.6,dispatch
a,foundation,,,2500,2.5,2,3,dispatch
a,engine,,priority=high,7,9,9,9,dispatch
b,engine,,,100,0.25,0.2,0.3125,dispatch
b,dispatch,,,400,1,1,1,dispatch
b,foundation,,,200000,1,1,1,dispatch
c,engine:within,by_hand,,1000000,2,1.5,2.5,dispatch
c,dispatch,by_hand,,500000,1,1,1,dispatch
c,dispatch:function,by_hand,,250000,1,1,1,dispatch
"""


@pytest.fixture
def run_of_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cells = [
        ("one", "", "a", headline.PLAIN), ("two", "", "b", headline.PLAIN), ("three", "by hand", "c", headline.BY_HAND),
    ]  # fmt: skip
    monkeypatch.setattr(headline, "CELLS", cells)
    with_jemalloc = SUMMARY.replace("0.5,0.2,0.625", "0.75,0.5,1")
    for name, rows in (("run", SUMMARY), ("run-system", SUMMARY), ("run-jemalloc", with_jemalloc)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "summary.csv").write_text(rows, encoding="utf-8")
    return tmp_path


def test_the_headline_has_the_greatest_gains_first_and_then_the_losses(run_of_cells: Path) -> None:
    table, _, losses = headline.makers(run_of_cells)["headline"]("run").partition("\n\n")
    assert table.splitlines()[2:] == [
        "| two | 100 ns | 400 ns | 200 µs | 0.25 (0.20–0.31) |",
        "| one | 250 ns | 1,000 ns | 2,500 ns | 0.50 (0.20–0.62) |",
    ]
    assert all(word in losses for word in ("three", "2.00 times", "by hand", "4.0"))


def test_the_table_of_times_has_all_cells(run_of_cells: Path) -> None:
    assert headline.makers(run_of_cells)["times"]("run").splitlines()[2:] == [
        "| one | 250 ns | 1,000 ns | 500 ns | 2,500 ns | 0.50 (0.20–0.62) | 0.75 (0.50–1.00) |",
        "| two | 100 ns | 400 ns | – | 200 µs | 0.25 (0.20–0.31) | 0.25 (0.20–0.31) |",
        "| three, by hand | 1,000 µs | 500 µs | 250 µs | – | 2.00 (1.50–2.50) | 2.00 (1.50–2.50) |",
    ]


def test_the_speed_is_the_least_of_all_cells_with_foundation(run_of_cells: Path) -> None:
    assert headline.speed(run_of_cells, "run") == "at least 10 times as fast"


def test_a_run_without_the_cells_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="summary.csv"):
        headline.cells(tmp_path, "run")


PEER_SUMMARY = """\
cell_id,backend,operation_class,time_ns_per_op
a,engine,,250
a,tbb,,1000
b,engine,,300
b,tbb:flow,,200
"""
PEER_GOALS = """\
cell_id,backend,against,ratio,ci_low,ci_high,verdict
a,engine,tbb,0.25,0.2,0.3125,met
b,engine,tbb:flow,1.5,1.25,1.75,missed
"""
PEER_RUN = {
    "executable": {"description": {"onetbb": "2021.8", "compiler": "Swift 6.3; C: Clang"}},
    "host": {"host_class": "two processors"}, "progress": {"blocks_done": 9}, "plan": {"quick": False},
}  # fmt: skip


@pytest.fixture
def run_of_peers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(peers, "CELLS", [("one", "a", peers.PLAIN), ("two, declared", "b", peers.DECLARED)])
    with_jemalloc = PEER_GOALS.replace("0.25,0.2,0.3125", "0.5,,")
    for allocator, rows in (("system", PEER_GOALS), ("jemalloc", with_jemalloc)):
        (tmp_path / f"peers-{allocator}").mkdir()
        (tmp_path / f"peers-{allocator}/summary.csv").write_text(PEER_SUMMARY, encoding="utf-8")
        (tmp_path / f"peers-{allocator}/run.json").write_text(json.dumps(PEER_RUN), encoding="utf-8")
        (tmp_path / f"engine-peers-{allocator}.csv").write_text(rows, encoding="utf-8")
    return tmp_path


def test_the_table_of_peers_has_both_ratios_and_the_version(run_of_peers: Path) -> None:
    made = peers.makers(run_of_peers, run_of_peers)["peers"]("onetbb").splitlines()
    assert made[2:4] == [
        "| one | 250 ns | 1,000 ns | 0.25 (0.20–0.31) | 0.50 |",
        "| two, declared | 300 ns | 200 ns | 1.50 (1.25–1.75) | 1.50 (1.25–1.75) |",
    ]
    assert all(word in made[5] for word in ("2021.8", "glibc", "Swift 6.3,", "two processors", "9 blocks"))
    assert "trial" not in made[5]


def test_a_quick_run_of_peers_is_marked(run_of_peers: Path) -> None:
    quick = json.dumps(PEER_RUN | {"plan": {"quick": True}})
    (run_of_peers / "peers-jemalloc/run.json").write_text(quick, encoding="utf-8")
    assert "trial" in peers.makers(run_of_peers, run_of_peers)["peers"]("onetbb")


def test_the_sentence_about_onetbb_names_gains_and_losses(run_of_peers: Path) -> None:
    said = peers.makers(run_of_peers, run_of_peers)["onetbb"]("system")
    less, more = said.split("more: ")
    assert "2021.8" in less and "0.25 in one" in less and "1.50 in two, declared" in more


def test_a_run_without_the_peer_is_a_problem(run_of_peers: Path) -> None:
    (run_of_peers / "peers-system/run.json").write_text('{"executable": {"description": {}}}', encoding="utf-8")
    with pytest.raises(Problem, match="onetbb"):
        peers.makers(run_of_peers, run_of_peers)["onetbb"]("system")


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


RED = """\
$ scripts/opbench gate --ab slower
first cell
figure  verdict
------  -------
engine
  time  pass

second <cell>
figure  verdict
------  -------
engine
  time         pass
form=block, engine
  allocations  pass
  time         regression

gate: regression
(exit code 2)
$ scripts/opbench explain slower
CPU time
  of the CPU time, by function
    add(): 1 → 2
      allocation 1
    rest
"""


def test_the_picture_shows_the_first_regression_and_the_first_function() -> None:
    assert picture.excerpt(picture.read(RED)) == [
        "$ scripts/opbench gate --ab slower", "second <cell>", "figure  verdict", "------  -------", "…", "form=block, engine",
        "  time         regression", "…", "gate: regression", "(exit code 2)", "",
        "$ scripts/opbench explain slower", "…", "of the CPU time, by function", "  add(): 1 → 2", "    allocation 1",
    ]  # fmt: skip
    with pytest.raises(Problem):
        picture.excerpt(picture.read(RED.replace("regression", "pass")))


def test_a_stale_picture_is_noticed(run_of_cells: Path) -> None:
    session = run_of_cells / "session.txt"
    session.write_text(RED, encoding="utf-8")
    cells = headline.cells(run_of_cells, "run")
    made = picture.stale(run_of_cells, session, cells)
    assert {path.name for path in made} == set(picture.LOOKS)
    for path, text in made.items():
        ElementTree.fromstring(text)
        assert len(text) < 60_000
        path.write_text(text, encoding="utf-8")
    assert picture.stale(run_of_cells, session, cells) == {}
    session.write_text(RED.replace("add()", "run()"), encoding="utf-8")
    assert len(picture.stale(run_of_cells, session, cells)) == len(picture.LOOKS)


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 90


def test_the_readmes_claim_is_the_runs() -> None:
    assert headline.speed(BASELINE, "engine-system", "engine-jemalloc") in README


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
