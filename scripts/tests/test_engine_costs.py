"""scripts/engine-costs without the engine: scripted counts, verdicts and exit codes."""

import json
from pathlib import Path

import pytest
from engine_costs import command
from engine_costs.callgrind import read_counts
from engine_costs.measure import Cost, Environment, Program

HERE = Environment(swift="6.3.1", glibc="2.36", valgrind="3.19.0", architecture="x86_64")

# Every process costs 77 allocations and 5,000,000 instructions in addition to its operations. Three instructions per
# operation are atomic: the one at 0x10.
PROGRAM = """#!/bin/sh
case $1 in
    list) printf 'tiny\\tan operation\\tsteady\\nrunning\\tone that never waits\\tvaries\\n' ;;
    count) echo $((ALLOCATIONS * $3 + 77)) $([ $2 = tiny ] && echo $((144 * $3)) || echo -) ;;
    play) ;;
esac
"""
VALGRIND = """#!/bin/sh
for argument; do case $argument in --callgrind-out-file=*) file=${argument#*=} ;; esac; done
while [ "$1" != play ]; do shift; done
cat >"$file" <<TEXT
positions: instr line
events: Ir
ob=(1) /lib/engine
fn=(1) run
0x10 0 $((3 * $3 + 1000))
+4 0 $((INSTRUCTIONS * $3 - 3 * $3 + 4999000))
cob=(2) /lib/other
cfn=(2) called
calls=1 0x70 0
* 0 123456
TEXT
"""
OBJDUMP = """#!/bin/sh
echo '0000000000000010 <run>:'
echo '      10:  lock xadd %rax,(%rdi)'
echo '      14:  xchg   %ax,%ax'
echo '      1c:  xchg   %rax,(%rdi)'
"""


class Bench:
    """The command with a scripted program and a scripted valgrind."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        self.program, self.expected = folder / "EngineCosts", folder / "expected.json"
        for path, text in ((self.program, PROGRAM), (folder / "valgrind", VALGRIND), (folder / "objdump", OBJDUMP)):
            path.write_text(text)
            path.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=":")
        self.is_in(HERE)

    def is_in(self, environment: Environment) -> None:
        self.monkeypatch.setattr(Environment, "here", staticmethod(lambda with_valgrind: environment))

    def run(self, *arguments: str, allocations: int = 2, instructions: int = 1000) -> int:
        self.monkeypatch.setenv("ALLOCATIONS", str(allocations))
        self.monkeypatch.setenv("INSTRUCTIONS", str(instructions))
        return command.main(["--program", str(self.program), "--expected", str(self.expected), *arguments])


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_recorded_costs_exclude_those_of_the_process(bench: Bench) -> None:
    assert bench.run("--update") == 0
    costs = json.loads(bench.expected.read_text())["costs"]
    assert costs["tiny"] == {"allocations": 2.0, "held_bytes": 144.0, "atomics": 3.0, "instructions": 1000.0}
    assert costs["running"]["held_bytes"] is None
    assert json.loads(bench.expected.read_text())["meanings"]["tiny"] == "an operation"


@pytest.mark.parametrize(
    ("counts", "status"),
    [
        ({}, 0), ({"allocations": 3}, 2), ({"instructions": 1011}, 2), ({"instructions": 1009}, 0), ({"instructions": 980}, 0),
        ({"allocations": 1}, 0),
    ],
)  # fmt: skip
def test_more_fails_and_less_passes(bench: Bench, counts: dict[str, int], status: int) -> None:
    bench.run("--update")
    assert bench.run(**counts) == status


def test_a_single_increase_does_not_count(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bench.run("--update") == 0
    counted = []

    def measure(program: Program, names: list[str], with_instructions: bool) -> dict[str, Cost]:
        counted.append(names)
        return {name: Cost(2.0, 144.0 if name == "tiny" else None, 3.0, 1100.0 if len(counted) == 1 else 1000.0) for name in names}

    monkeypatch.setattr(Program, "measure", measure)
    assert bench.run() == 0
    assert counted == [["tiny", "running"], ["tiny", "running"]]


def test_varying_figures_may_be_off_by_more(bench: Bench) -> None:
    bench.run("--update")
    assert bench.run("--only", "tiny", instructions=1030) == 2
    assert bench.run("--only", "running", instructions=1030) == 0
    assert bench.run("--only", "running", instructions=1050) == 2


def test_with_another_compiler_only_allocations_are_judged(bench: Bench) -> None:
    bench.run("--update")
    bench.is_in(Environment(swift="6.4", glibc="2.36", valgrind="3.19.0", architecture="x86_64"))
    assert bench.run(instructions=2000) == 0
    assert bench.run(allocations=3) == 2


def test_some_can_be_updated_while_the_others_stay(bench: Bench) -> None:
    bench.run("--update")
    assert bench.run("--update", "--only", "tiny", instructions=500) == 0
    costs = json.loads(bench.expected.read_text())["costs"]
    assert (costs["tiny"]["instructions"], costs["running"]["instructions"]) == (500.0, 1000.0)
    bench.is_in(Environment(swift="6.4", glibc="2.36", valgrind="3.19.0", architecture="x86_64"))
    assert bench.run("--update", "--only", "tiny") == 64


def test_a_scenario_that_only_one_side_has_is_a_failure(bench: Bench) -> None:
    bench.run("--update", "--only", "tiny")
    assert bench.run() == 2
    bench.run("--update")
    bench.program.write_text(PROGRAM.replace("running\\tone that never waits\\tvaries\\n", ""))
    assert bench.run() == 2


@pytest.mark.parametrize("arguments", [["--only", "huge"], ["--frobnicate"], ["--update", "--no-instructions"]])
def test_bad_usage_is_64(bench: Bench, arguments: list[str]) -> None:
    try:
        status = bench.run(*arguments)
    except SystemExit as exit_:
        status = exit_.code
    assert status == 64


@pytest.mark.parametrize("text", [None, "", "{}", '{"made_with": {"swift": 1}, "costs": {}}'])
def test_an_unusable_file_is_named_with_the_remedy(
    bench: Bench, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    if text is not None:
        bench.expected.write_text(text)
    assert bench.run() == 64
    said = capsys.readouterr().err
    assert str(bench.expected) in said and "--update" in said


def test_a_failing_program_does_not_pass(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.run("--update")
    bench.program.write_text(PROGRAM.replace("count) echo", "count) echo '9 ran, not 10' >&2; exit 1; echo"))
    assert bench.run() == 1
    assert "9 ran, not 10" in capsys.readouterr().err


def test_the_cost_of_a_call_is_the_callees_and_names_are_defined_once(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    file.write_text(
        "ob=(1) /a\nfn=(1) f\n0x100 0 5\ncob=(2) /b\ncfn=(2) g\ncalls=3 0x200 0\n* 0 700\n+8 7 1\n"
        "ob=(2)\nfn=(2)\n0x200 0 30\n-16 0 2\nob=(1)\nfn=(1)\n0x100 0 1\n"
    )
    assert read_counts(file) == {("/a", 0x100): 6, ("/a", 0x108): 1, ("/b", 0x200): 30, ("/b", 0x1F0): 2}
