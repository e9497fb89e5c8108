"""scripts/prove-measurement without opbench: bounds, gates drawn from blocks, output and exit codes."""

import csv
import json
import math
import random
import subprocess
from pathlib import Path

import pytest
from opbench_proofs import adapters, command, coverage, false_alarms
from opbench_proofs.binomial import at_least, is_beyond_chance, lower_bound, upper_bound
from opbench_proofs.blocks import Recording, only, paired_gate
from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.drift import Ratio, verdict
from opbench_proofs.sensitivity import verdict_of_few, was_too_busy
from opbench_proofs.tool import Gate, OpBench, ToolFailure

COLUMNS = ["run_id", "sample_id", "cell_id", "backend", "side", "block", "sample_flags", "metric", "value"]


def record(folder: Path, blocks: int) -> Recording:
    """A run of two sides whose values are block numbers."""
    rows = [
        [f"{block * 2 + place:05d}-throughput", side, block, "", block]
        for block in range(blocks)
        for place, side in enumerate(("base", "head"))
    ]
    rows += [["90000-memory", "base", 0, "", -1], ["00000r-throughput", "base", 0, "noisy;rerun", 77]]
    folder.mkdir()
    with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for sample, side, block, flags, value in rows:
            writer.writerow(["r", sample, "c", "engine", side, block, flags, "time", value])
    (folder / "run.json").write_text("{}", encoding="utf-8")
    return Recording(folder / "samples.csv")


class ScriptedTool(OpBench):
    """Answers gates from a list, and records their numbers of blocks."""

    def __init__(self, folder: Path, statuses: list[int]) -> None:
        super().__init__(Path("/bin/false"), folder)
        self.statuses = statuses
        self.blocks: list[int] = []

    def gate(self, *words: str) -> Gate:
        with open(self.folder / words[1] / "samples.csv", newline="", encoding="utf-8") as file:
            self.blocks.append(len({row["block"] for row in csv.DictReader(file)}))
        return Gate(self.statuses.pop(0), "", 0)


def test_bounds_are_those_of_clopper_and_pearson() -> None:
    # With no success in n trials the bound is 1 − (1 − confidence)^(1 ÷ n).
    assert upper_bound(0, 300) == pytest.approx(1 - 0.05 ** (1 / 300))
    assert lower_bound(20, 20) == pytest.approx(0.05 ** (1 / 20))
    assert upper_bound(5, 5) == pytest.approx(1) and lower_bound(0, 5) == pytest.approx(0)
    bound = upper_bound(3, 40)
    assert sum(math.comb(40, count) * bound**count * (1 - bound) ** (40 - count) for count in range(4)) == pytest.approx(0.05)
    assert at_least(2, 4, 0.01) == pytest.approx(1 - 0.99**4 - 4 * 0.01 * 0.99**3)
    assert at_least(0, 9, 0.5) == pytest.approx(1) and at_least(3, 10_000, 0.5) == pytest.approx(1)


def test_a_drawn_run_has_renumbered_blocks(tmp_path: Path) -> None:
    recording = record(tmp_path / "run", 4)
    rows = recording.draw([3, 0])
    assert [(row["block"], row["side"], row["value"]) for row in rows] == [
        ("0", "base", "3"),
        ("0", "head", "3"),
        ("1", "head", "0"),
        ("1", "base", "77"),
    ]
    assert [row["value"] for row in recording.draw([2, 1], only("head"))] == ["2", "1"]
    assert {row["side"] for row in recording.draw([2, 1], only("head"))} == {""}
    recording.write(rows, tmp_path / "drawn")
    assert (tmp_path / "drawn" / "run.json").exists()
    assert Recording(tmp_path / "drawn" / "samples.csv").numbers() == [0, 1]


@pytest.mark.parametrize(
    ("statuses", "blocks"), [([0], [7]), ([7, 2], [7, 15]), ([7, 7, 7, 7], [7, 15, 25, 40]), ([7, 7, 0], [7, 15, 25])]
)
def test_a_drawn_gate_goes_through_the_stages(tmp_path: Path, statuses: list[int], blocks: list[int]) -> None:
    tool = ScriptedTool(tmp_path, list(statuses))
    recording = record(tmp_path / "run", 50)
    assert paired_gate(recording)(tool, random.Random(1), "drawn").status == statuses[-1]
    assert tool.blocks == blocks


@pytest.mark.parametrize(("statuses", "asked"), [([0], [2]), ([2, 0], [2, 7]), ([2, 2], [2, 7])])
def test_a_drawn_gate_uses_more_counts_if_two_do_not_pass(
    tmp_path: Path, statuses: list[int], asked: list[int]
) -> None:
    recording = record(tmp_path / "run", 30)
    recording.others = {"allocations": {block: [dict(recording.blocks[0][0]) | {"metric": "count"}] for block in range(9)}}
    counted = []

    class Counting(ScriptedTool):
        def gate(self, *words: str) -> Gate:
            with open(self.folder / words[1] / "samples.csv", newline="", encoding="utf-8") as file:
                counted.append(sum(row["metric"] == "count" for row in csv.DictReader(file)))
            return super().gate(*words)

    gate = paired_gate(recording)(Counting(tmp_path, list(statuses)), random.Random(1), "drawn")
    assert (gate.status, counted) == (statuses[-1], asked)


TABLE = """\
**gate: inconclusive** (1 inconclusive, 1 pass)

| cell | backend | figure | base | new | ratio | 95 % interval | p adjusted | margin | detects | verdict |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
| work items=400 | engine | time total | 22.8 µs | 21.2 µs | 1.01× | 0.91–1.13 | 0.885 | 2 % | 24.5 % | inconclusive: wide interval, 7 of 15 blocks |
| work items=400 | engine | allocations | 1 | 1 | 1.00× | - | - | 0 % | - | pass |

ratio: the median of the ratios within each block, not the quotient of the medians beside it.

1 figure is inconclusive (wide interval, 7 of 15 blocks); 15 blocks may tell:

    opbench ab --blocks 15 old new w.json
"""


def test_the_power_of_a_gate_is_read() -> None:
    assert Gate(7, TABLE, 0).detects() == [pytest.approx(0.245), None]
    with pytest.raises(ToolFailure):
        Gate(7, TABLE.replace("detects", "notices"), 0).detects()


@pytest.mark.parametrize(
    ("status", "detects", "excused"), [(7, "24.5 %", True), (7, "4.5 %", False), (0, "24.5 %", False), (7, "-", True)]
)
def test_a_gate_is_excused_only_by_its_own_report(status: int, detects: str, excused: bool) -> None:
    assert was_too_busy(Gate(status, TABLE.replace("24.5 %", detects), 0)) == excused


def test_few_gates_are_judged_beyond_chance() -> None:
    assert not is_beyond_chance(1, 4, 0.01)
    assert is_beyond_chance(2, 4, 0.01)
    verdicts = {(4, 0): "HELD", (1, 2): "HELD", (1, 3): "REFUTED", (0, 2): "HELD", (0, 3): "REFUTED", (0, 0): "UNDECIDED"}
    assert {case: verdict_of_few(*case).name for case in verdicts} == verdicts


class MeasuringTool(ScriptedTool):
    """Records blocks whenever two builds are to be measured."""

    def ab(self, run_id: str, workload: str, *options: str) -> float:
        (self.folder / "results").mkdir(exist_ok=True)
        record(self.folder / "results" / run_id, 25)
        return 0


@pytest.mark.parametrize(
    ("drawn", "measured", "verdict"),
    [
        ([0] * 40, [0, 7, 0], Verdict.HELD),
        # Forty gates drawn from one recording count as one case, not as forty.
        ([2] * 40, [0, 0, 0], Verdict.HELD),
        ([0] * 40, [2, 0, 0], Verdict.HELD),
        ([2] * 40, [2, 0, 0], Verdict.REFUTED),
        ([0] * 40, [2, 2, 0], Verdict.REFUTED),
    ],
)
def test_the_short_form_allows_one_false_alarm(
    tmp_path: Path, drawn: list[int], measured: list[int], verdict: Verdict
) -> None:
    tool = MeasuringTool(tmp_path, drawn)
    gate = tool.gate
    tool.gate = lambda *words: Gate(measured.pop(0), "", 0) if "real" in words[1] else gate(*words)  # type: ignore[method-assign]
    assert false_alarms.prove(Setting(tool, True)).verdict == verdict


RIGHT, WRONG, WIDE = Ratio(1.05, 1.04, 1.06, False), Ratio(0.76, 0.63, 0.87, False), Ratio(1.05, 0.9, 1.2, True)
MISLED = Ratio(2.0, 1.6, 2.1, False)


@pytest.mark.parametrize(
    ("time", "cpu", "apart", "noise", "expected"),
    [
        (RIGHT, RIGHT, MISLED, 1.0, Verdict.HELD),
        (WIDE, RIGHT, MISLED, 0.0, Verdict.HELD),
        # Wall-clock times mean nothing if no half was quiet; CPU time still does.
        (WRONG, RIGHT, MISLED, 0.6, Verdict.UNDECIDED),
        (WRONG, RIGHT, MISLED, 0.5, Verdict.REFUTED),
        (RIGHT, WRONG, MISLED, 1.0, Verdict.REFUTED),
        (RIGHT, RIGHT, RIGHT, 0.0, Verdict.REFUTED),
        (RIGHT, RIGHT, RIGHT, 0.6, Verdict.UNDECIDED),
        (RIGHT, WIDE, MISLED, 0.0, Verdict.UNDECIDED),
        (RIGHT, Ratio(1.05, 0.9, 1.2, False), MISLED, 1.0, Verdict.REFUTED),
    ],
)
def test_drift_is_judged_only_if_the_machine_was_quiet_enough(
    time: Ratio, cpu: Ratio, apart: Ratio, noise: float, expected: Verdict
) -> None:
    assert verdict(time, cpu, apart, noise, True) == expected


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verdict: Verdict, *words: str) -> int:
    asked = lambda setting: Outcome(verdict, [f"short: {setting.is_short}"])  # noqa: E731
    monkeypatch.setattr(command, "PROOFS", {1: ("One", asked), 2: ("Two", asked)})
    return command.main(["--binary", "/bin/true", "--output", str(tmp_path / "out"), *words])


def test_claims_figures_and_exit_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, tmp_path, Verdict.HELD, "--short", "--only", "2") == 0
    assert capsys.readouterr().out == "2. Two\n   short: True\n   held, 0 s\n"
    written = json.loads((tmp_path / "out" / "proofs.json").read_text(encoding="utf-8"))
    assert (written["form"], written["proofs"]["2"]["verdict"]) == ("short", "held")
    assert run(monkeypatch, tmp_path, Verdict.REFUTED, "--short") == 1
    # An undecided proof fails only the long form.
    assert run(monkeypatch, tmp_path, Verdict.UNDECIDED, "--short") == 0
    assert run(monkeypatch, tmp_path, Verdict.UNDECIDED) == 1


@pytest.mark.parametrize("words", [["--only", "9"], ["--only", "x"], ["--binary", "/nonexistent"], ["--long"]])
def test_bad_usage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, tmp_path, Verdict.HELD, *words)
    assert ended.value.code == 64
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", coverage.NOISES)
def test_forged_noise_has_the_median_that_is_taken_for_the_truth(name: str) -> None:
    noise, numbers = coverage.NOISES[name], random.Random(1)
    below = sum(noise.draw(numbers) < noise.median for _ in range(10_000))
    assert not is_beyond_chance(below, 10_000, 0.5) and not is_beyond_chance(10_000 - below, 10_000, 0.5)


def test_a_tally_is_refuted_beyond_chance() -> None:
    tally = coverage.Tally("missed", 0.05)
    tally.count(number < 50 for number in range(1000))
    assert not tally.is_refuted and str(tally) == "missed 5.00% of 1000 (at most 5%)"
    tally.count(True for _ in range(40))
    assert tally.is_refuted


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([1.0] * 15, Verdict.HELD),
        ([1.0] + [1.06] * 14, Verdict.REFUTED),
        ([1.0] * 2 + [1.06] * 13, Verdict.UNDECIDED),
        ([1.0] * 8 + [2.0] * 7, Verdict.HELD),
        ([1.06] * 5, Verdict.REFUTED),
        ([1.0] + [1.06] * 4, Verdict.UNDECIDED),
    ],
)
def test_an_adapter_exceeds_the_limit_if_its_least_ratios_do(ratios: list[float], verdict: Verdict) -> None:
    assert adapters.judge(ratios, 1.05) is verdict


class ListingTool(OpBench):
    """Answers whether it has the backend."""

    def __init__(self, folder: Path, status: int, error: str) -> None:
        super().__init__(Path("/bin/false"), folder)
        self.answer = subprocess.CompletedProcess([], status, stderr=error)

    def run(self, *words: str, allowed: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
        return self.answer


def test_onetbb_is_tested_if_the_build_has_it(tmp_path: Path) -> None:
    cells, missing = adapters.cells_of(ListingTool(tmp_path, 0, ""))
    assert {("tiny", "tbb"), ("chain", "tbb:flow"), ("tiny", "dispatch")} < set(cells) and not missing
    assert ("tiny", "tbb:flow") not in cells
    without, missing = adapters.cells_of(ListingTool(tmp_path, 64, "Error: --backend: this program was built without tbb; build it"))
    assert without == [cell for cell in cells if "tbb" not in cell[1]] and "not tested" in missing[0]
    with pytest.raises(ToolFailure):
        adapters.cells_of(ListingTool(tmp_path, 64, "Error: probe.json:1: bad JSON"))
