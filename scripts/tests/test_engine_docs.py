"""The tables and examples of the documentation say what the sources say, and are noticed when they do not."""

import json
from pathlib import Path

import pytest
from engine_docs import articles, goals, headline
from engine_docs.comments import undocumented
from engine_docs.contract import Contract, read_groups, read_tables, read_tests
from engine_docs.errors import Problem
from engine_docs.evidence import Evidence, read_mutations
from engine_docs.examples import read_examples
from engine_docs.tables import makers, table
from engine_docs.verdicts import Verdicts, load, read_events, store

LINES = """\
# words
## A First
A1 one
A2 two

## R Misuse
R all
"""

TABLES = """\
/// words
let untestedLines: [String: String] = [
    "A2": "no \\"reason\\""
]
let partlyTestedLines: [String: String] = ["A1": "a part"]
let foundationDifferences = own.merging(others) { difference, _ in difference }
private let others = Dictionary(uniqueKeysWithValues: (1...2).map { ("A\\($0)", "absent") } + [("R", "traps")])

private let own: [String: String] = [
    "A1": "fails: does not"
]
"""


def record(record_kind: str, **payload: object) -> str:
    return json.dumps({"kind": record_kind, "payload": payload, "version": 0})


def stream(module: str, name: str, *ends: str) -> list[str]:
    test = f"{module}.Suite/test()/File.swift:1:2"
    messages = [{"symbol": symbol, "text": ""} for symbol in ends]
    return [
        record("test", kind="function", id=test, displayName=name),
        record("event", kind="testEnded", testID=test, messages=messages),
    ]


@pytest.fixture
def contract(tmp_path: Path) -> Contract:
    """Two tests of A1, of which one is shared, one of R, and one of Foundation's difference in A1."""
    (tmp_path / "lines.txt").write_text(LINES)
    (tmp_path / "ContractLines.swift").write_text(TABLES)
    sources = {
        "EngineTests/Shared/A.swift": '@Test("A1: shared")\nfunc a() {}\n',
        "EngineTests/B.swift": '@Test(\n    "A1 R: both", arguments: [1])\n@Test("no line")\n',
        "FoundationOracleTests/D.swift": '@Test("A1: Foundation does not")\n',
    }
    for name, text in sources.items():
        file = tmp_path / "Tests" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "Tests/FoundationOracleTests/Shared").symlink_to("../EngineTests/Shared")
    return Contract(tmp_path / "lines.txt", tmp_path / "Tests", tmp_path / "ContractLines.swift")


def test_lines_are_read_by_group() -> None:
    first, misuse = read_groups(LINES)
    assert [line.id for line in first.lines] == ["A1", "A2"] and first.title == "First"
    assert [(line.id, line.statement) for line in misuse.lines] == [("R", "all")]


@pytest.mark.parametrize("bad", ["## A First\nB1 elsewhere\n", "## A First\nnot a line\n"])
def test_a_misplaced_line_is_a_problem(bad: str) -> None:
    with pytest.raises(Problem):
        read_groups(bad)


def test_tests_are_found_once_with_the_lines_that_they_name(contract: Contract) -> None:
    assert [(test.name, test.lines) for test in contract.tests] == [
        ("A1 R: both", ("A1", "R")),
        ("A1: shared", ("A1",)),
        ("A1: Foundation does not", ("A1",)),
    ]
    assert [test.name for test in contract.tests_of("A1")] == ["A1 R: both", "A1: shared"]
    assert [test.is_shared for test in contract.tests_of("A1")] == [False, True]
    assert [test.name for test in contract.difference_tests_of("A1")] == ["A1: Foundation does not"]


def test_a_test_that_names_no_line_of_the_contract_is_a_problem(contract: Contract, tmp_path: Path) -> None:
    (tmp_path / "Tests/EngineTests/C.swift").write_text('@Test("A3: nowhere")\n')
    with pytest.raises(Problem, match="A3: nowhere"):
        Contract(tmp_path / "lines.txt", tmp_path / "Tests", tmp_path / "ContractLines.swift")


def test_the_tables_in_swift_are_read_with_what_they_are_made_of() -> None:
    tables = read_tables(TABLES)
    assert tables.untested == {"A2": 'no "reason"'} and tables.partly_tested == {"A1": "a part"}
    assert tables.differences["R"] == "traps" and tables.differences["A2"] == "absent"
    assert tables.differences["A1"] == "fails: does not"


def test_a_run_is_read_by_side_and_the_worse_of_two_tests_of_one_name_counts(tmp_path: Path) -> None:
    rows = stream("EngineTests", "A1: shared", "pass") + stream("FoundationOracleTests", "A1: shared", "fail")
    rows += stream("OtherTests", "A1: shared", "fail") + stream("EngineTests", "R: all", "pass")
    verdicts = read_events(rows, {"commit": "abc"})
    assert verdicts.engine == {"A1: shared": "failed", "R: all": "passed"}
    assert verdicts.foundation == {"A1: shared": "failed"}
    store(verdicts, tmp_path / "run.json")
    assert load(tmp_path / "run.json") == verdicts


def evidence_of(contract: Contract, tmp_path: Path, caught_by: str, foundation: dict[str, str]) -> Evidence:
    results = tmp_path / "results.csv"
    results.write_text(f'mutation,tier,file,lines_expected,caught,caught_by\nbroken,1,F.swift,A1,yes,"{caught_by}"\n')
    return Evidence(contract, Verdicts({}, {"A1 R: both": "passed"}, foundation), read_mutations(results))


def test_a_line_is_weak_until_something_has_turned_a_test_of_it_red(contract: Contract, tmp_path: Path) -> None:
    nothing = evidence_of(contract, tmp_path, "another test", {})
    assert [line.id for line in contract.lines if nothing.is_weak(line.id)] == ["A1", "R"]
    mutated = evidence_of(contract, tmp_path, "R A2: a test; another", {})
    assert [line.id for line in contract.lines if mutated.is_weak(line.id)] == ["A1"]
    explored = evidence_of(contract, tmp_path, "explorer: two-wait: A1: nobody woke [two-wait@1:2]", {})
    assert [line.id for line in contract.lines if explored.is_weak(line.id)] == ["R"]
    shown = evidence_of(contract, tmp_path, "another test", {"A1: Foundation does not": "passed"})
    assert [line.id for line in contract.lines if shown.is_weak(line.id)] == ["R"]


def test_a_row_tells_tests_foundation_and_proof(contract: Contract, tmp_path: Path) -> None:
    evidence = evidence_of(contract, tmp_path, "A1: shared", {"A1: shared": "failed"})
    made = makers(evidence)["lines"]("A")
    expected = "1 passed, 1 not run; without a test: a part | 0 of 1 shared passed; fails: does not | `broken`"
    assert f"| A1 | one | {expected} |\n" in made
    assert '| A2 | two | none: no "reason" | absent |  |\n' in made


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert table(("a",), [("x|y",)]) == "| a |\n| --- |\n| x\\|y |\n"


def test_examples_are_dedented_and_named_once(tmp_path: Path) -> None:
    file = tmp_path / "Tests.swift"
    file.write_text("    // example: one\n    //: import B\n    //:\n    let a = 1\n        + 2\n    // end of example\n")
    assert read_examples(tmp_path) == {"one": "```swift\nimport B\n\nlet a = 1\n    + 2\n```\n"}
    (tmp_path / "More.swift").write_text(file.read_text())
    with pytest.raises(Problem, match="a second example one"):
        read_examples(tmp_path)


def test_stale_parts_are_noticed_and_updated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(articles, "ROOT", tmp_path)
    article = tmp_path / "A.md"
    article.write_text("before\n<!-- made: word x -->\nold\n<!-- end -->\nafter\n")
    made = {"word": lambda name: f"new {name}\n"}
    with pytest.raises(Problem, match="A.md"):
        articles.check([article], made)
    assert articles.update([article], made) == [article]
    assert article.read_text() == "before\n<!-- made: word x -->\nnew x\n<!-- end -->\nafter\n"
    articles.check([article], made)


def test_an_unknown_part_is_a_problem_that_names_the_article(tmp_path: Path) -> None:
    article = tmp_path / "A.md"
    article.write_text("<!-- made: nothing x -->\n<!-- end -->\n")
    with pytest.raises(Problem, match="A.md: no such kind"):
        articles.check([article], {})


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


GOALS = """\
row,allocator,cell_id,figure,against,limit,value,low,high,is_interval,samples,verdict
tiny,system,tiny work_ns=0,time,dispatch,0.3,0.25,0.2,0.31,true,7,met?
chain,system,chain depth=9,time,dispatch:within,1.0,3.5,3.25,3.75,false,3,missed
memory,system,pending,held_bytes,,180,,,,,,not measured
tiny,jemalloc,tiny work_ns=0,time,dispatch,0.42,0.5,0.4375,0.5625,true,7,missed
chain,jemalloc,chain depth=9,time,dispatch:within,1.4,1.0,0.75,1.25,true,7,met
memory,jemalloc,pending,held_bytes,,180,,,,,,not measured
"""


def test_the_table_of_goals_has_both_allocators_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "engine-goals.csv").write_text(GOALS, encoding="utf-8")
    made = goals.maker(tmp_path)("engine").splitlines()
    assert made[2:] == [
        "| tiny: `tiny work_ns=0` | time ÷ Dispatch | ≤ 0.3 | 0.25 (0.2–0.31) met? | ≤ 0.42 | 0.5 (0.438–0.562) missed |",
        "| chain: `chain depth=9` | time ÷ `dispatch:within` | ≤ 1 | 3.5 (3.25–3.75, all) missed | ≤ 1.4 | 1 (0.75–1.25) met |",
        "| memory: `pending` | held bytes | ≤ 180 | not measured | ≤ 180 | not measured |",
        "",
        "2 of 4 goals are met.",
    ]


def test_a_missing_or_foreign_table_of_goals_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="no-goals.csv"):
        goals.maker(tmp_path)("no")
    (tmp_path / "other-goals.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(Problem, match="other-goals.csv"):
        goals.maker(tmp_path)("other")


HEADLINE = """\
cell_id,backend,class,throughput_ops_per_s,time_ratio,time_ratio_ci_low,time_ratio_ci_high,ratio_to
a,engine,,4000000,0.25,0.2,0.3125,dispatch
a,dispatch,,1000000,1,1,1,dispatch
a,engine,priority=high,1,9,9,9,dispatch
b,engine,,1000,2,1.5,2.5,dispatch
"""


def test_the_headline_has_times_and_the_ratio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headline, "CELLS", [("one", "a"), ("two", "b")])
    (tmp_path / "run").mkdir()
    (tmp_path / "run/summary.csv").write_text(HEADLINE, encoding="utf-8")
    assert headline.maker(tmp_path)("run").splitlines()[2:] == [
        "| one | 250 ns | 1,000 ns | – | 0.25 (0.20–0.31) |",
        "| two | 1,000 µs | – | – | 2.00 (1.50–2.50) |",
    ]


def test_a_headline_without_its_figures_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="summary.csv"):
        headline.maker(tmp_path)("run")
    (tmp_path / "run").mkdir()
    for text in (HEADLINE, "a,b\n1,2\n"):
        (tmp_path / "run/summary.csv").write_text(text, encoding="utf-8")
        with pytest.raises(Problem, match="summary.csv"):
            headline.maker(tmp_path)("run")
