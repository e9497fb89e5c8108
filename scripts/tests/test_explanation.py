"""scripts/prove-explanation without opbench: definitions of defects, builds of a copy, and an explanation's table."""

from pathlib import Path

import pytest
from opbench_proofs import explanation
from opbench_proofs.defects import Builds, Defect, DefectMistake, read_defects
from opbench_proofs.explanation import (
    DEFINITIONS,
    ROOT,
    Named,
    Try,
    rank,
    read_explanation,
    read_slowest,
    read_tail,
)
from opbench_proofs.tool import ToolFailure

TEXT = """\
// A comment.

# first
says: something
file: OperationEngine/Queue/Some.swift
workload: empty
names: Runner.run, Runner.serve
--- old
    a()
--- new
    a()
    // b: c
    b()

# second
says: more
file: OperationEngine/Some.swift
workload: asleep
names: Queue.add
reasons: limit, wake-up
--- old
c
--- new
"""
TABLE = """### cell on engine

| what | base | head | change | interval |
|---|--:|--:|--:|--:|
| time | 100 ns | 200 ns | +100 % | +90.0 % … +110 % |
| CPU time | 200 ns | 300 ns | +50.0 % | +45.0 % … +55.0 % |
| time in 8 turns | 100 ns | 200 ns | +100 ns | +90.0 ns … +110 ns |
| CPU time in 8 turns | 200 ns | 300 ns | +100 ns | +90.0 ns … +110 ns |
| waiting, wake-up | 1 ns | 81 ns | +80 ns | +70 ns … +90 ns |
| OperationEngine.Inbox.push(A &#124; B) -&#62; () | 1 ns | 81 ns | +80 ns | +70 ns … +90 ns |
| OperationEngine.Runner.serve(OperationEngine.QueueCore) -&#62; () | 1 ns | 11 ns | +10 ns | +7 ns … +12 ns |
| unexplained, in functions that changed by less than 5 ns, or not beyond chance |  |  | +10 ns |  |
| unexplained, in no sample |  |  | +1 ns |  |
| allocations by OperationEngine.Runner.run() -&#62; () | 1.00 | 2.00 | +1.00 | +1.00 … +1.00 |
| futex calls | 0.00 | 0.00 | −0.00 | −0.03 … +0.01 |
"""


def definitions(tmp_path: Path, text: str = TEXT) -> list[Defect]:
    path = tmp_path / "defects.txt"
    path.write_text(text, encoding="utf-8")
    return read_defects(path)


def test_the_definitions_fit_the_sources() -> None:
    defects = read_defects(DEFINITIONS)
    assert len(defects) == 6
    assert {defect.workload for defect in defects} <= set(explanation.WORKLOADS)
    for defect in defects:
        text = (ROOT / defect.file).read_text(encoding="utf-8")
        assert defect.applied(text) != text


def test_a_definition_has_its_fields_and_texts(tmp_path: Path) -> None:
    first, second = definitions(tmp_path)
    assert first == Defect(
        "first", "something", Path("Sources/OperationEngine/Queue/Some.swift"), "empty",
        ("Runner.run", "Runner.serve"), "    a()", "    a()\n    // b: c\n    b()",
    )  # fmt: skip
    assert (second.old, second.new, second.reasons) == ("c", "", ("limit", "wake-up"))
    assert first.applied("{\n    a()\n}\n") == "{\n    a()\n    // b: c\n    b()\n}\n"


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("says: something\n", "", "first"),
        ("says: something\n", "shows: something\nsays: x\n", "first"),
        ("# second", "# first", "first"),
        ("names: Queue.add\n", "names: ,\n", "second"),
        ("// A comment.", "A comment.", "A comment."),
    ],
)
def test_a_wrong_definition_is_rejected(tmp_path: Path, old: str, new: str, named: str) -> None:
    with pytest.raises(DefectMistake, match=named):
        definitions(tmp_path, TEXT.replace(old, new))


@pytest.mark.parametrize(("text", "count"), [("b()\n", 0), ("    a()\n    a()\n", 2)])
def test_an_old_text_must_occur_once(tmp_path: Path, text: str, count: int) -> None:
    with pytest.raises(DefectMistake, match=str(count)):
        definitions(tmp_path)[0].applied(text)


def test_functions_match_by_short_and_full_names(tmp_path: Path) -> None:
    defect = definitions(tmp_path)[0]
    for name in (
        "Runner.run(_:)",
        "OperationEngine.Runner.serve(OperationEngine.QueueCore) -> ()",
        "static OperationEngine.Runner.run() -> ()",
    ):
        assert defect.is_named(name)
    for name in (
        "OtherRunner.run(_:)",
        "Runner.runGuest(_:)",
        "run(_:)",
        "Queue.add(Runner.run) -> ()",
        "no caller in engine or workload",
    ):
        assert not defect.is_named(name)


def test_culprits_match_with_their_reason(tmp_path: Path) -> None:
    first, second = definitions(tmp_path)
    assert second.is_culprit("Queue.add", "limit") and second.is_culprit("Queue.add 2", "wake-up")
    for name, reason in (("Queue.adds", "limit"), ("Queue.add", "processor"), (None, "limit"), ("Queue.add", None)):
        assert not second.is_culprit(name, reason)
    assert not first.is_culprit("Runner.run", None)


def test_the_slowest_operations_are_read() -> None:
    rows = """\
| slowest 1 % | 60 µs | 2 ms | +1.94 ms | +1.90 ms … +2.00 ms |
| slowest 1 %, limit | 10 µs | 1.90 ms | +1.89 ms | +1.80 ms … +1.95 ms |
| slowest 1 %, own body | 10 µs | 20 µs | +10 µs | +9 µs … +11 µs |
| slowest 1 %, culprit: operation 417, 2.00 ms, in 8 of 8 turns | | | | |
"""
    place = TABLE.index("| waiting")
    table = TABLE[:place] + rows + TABLE[place:]
    change = "+1.94 ms (+1.90 ms … +2.00 ms)"
    assert read_slowest(table) == (change, Named("operation 417", "limit", "+1.80 ms … +1.95 ms"))
    assert read_slowest(TABLE) == ("", None)
    assert read_slowest("".join(rows.splitlines(keepends=True)[:3])) == (change, None)
    assert read_explanation(table) == read_explanation(TABLE)
    tail = '{"classes": [{"culprits": [{"name": "operation 417"}], "reasons": [{"name": "limit", "ns": 5}]}]}'
    assert read_tail(tail) == ("operation 417", "limit")
    assert read_tail('{"classes": [{"culprits": [], "reasons": []}]}') == (None, None)


def test_a_table_is_read_up_to_the_functions(tmp_path: Path) -> None:
    change, functions = read_explanation(TABLE)
    assert change == "+100 % (+90.0 % … +110 %)"
    assert functions == [
        Named("OperationEngine.Inbox.push(A | B) -> ()", "+80 ns", "+70 ns … +90 ns"),
        Named("OperationEngine.Runner.serve(OperationEngine.QueueCore) -> ()", "+10 ns", "+7 ns … +12 ns"),
    ]
    first, second = definitions(tmp_path)
    assert (rank(first, functions), rank(second, functions)) == (2, None)
    with pytest.raises(ToolFailure):
        read_explanation(TABLE.replace("| unexplained, ", "| the rest, "))


@pytest.mark.parametrize(
    ("is_found", "seconds", "place", "long", "short"),
    [
        (True, 10, 1, True, True),
        (False, 10, 1, False, False),
        (True, 10, 2, False, False),
        (True, 10, None, False, False),
        (True, 61, 1, False, True),
    ],
)
def test_a_try_holds(is_found: bool, seconds: float, place: int | None, long: bool, short: bool) -> None:
    one = Try("lock", is_found, 1, seconds, place, "", None)
    assert one.holds(judges_time=True) == long
    assert one.holds(judges_time=False) == short


def test_a_copy_has_one_defect_and_keeps_the_dates_of_the_rest(tmp_path: Path) -> None:
    package = tmp_path / "package"
    sources = package / "Sources" / "OperationEngine"
    (sources / "Queue").mkdir(parents=True)
    (package / "Tests").mkdir()
    (package / "Package.swift").write_text("// package")
    (package / "Tests" / "Linked").symlink_to(sources, target_is_directory=True)
    (sources / "Queue" / "Some.swift").write_text("    a()\n")
    (sources / "Some.swift").write_text("c\n")
    builds = Builds(package, tmp_path / "builds")
    first, _ = definitions(tmp_path)
    builds.update(None)
    copy = builds.tree / "Sources" / "OperationEngine"
    assert (copy / "Queue" / "Some.swift").read_text() == "    a()\n"
    assert (builds.tree / "Tests" / "Linked" / "Some.swift").read_text() == "c\n"
    date = (copy / "Some.swift").stat().st_mtime_ns
    builds.update(first)
    assert "    b()\n" in (copy / "Queue" / "Some.swift").read_text()
    assert (copy / "Some.swift").stat().st_mtime_ns == date
    (sources / "Some.swift").unlink()
    builds.update(None)
    assert (copy / "Queue" / "Some.swift").read_text() == "    a()\n"
    assert not (copy / "Some.swift").exists()


@pytest.mark.parametrize("words", [["--only", "nothing"], ["--opbench", "/nowhere"], ["--bad"]])
def test_bad_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        explanation.main(words)
    assert ending.value.code == 64
    assert "prove-explanation: " in capsys.readouterr().err
