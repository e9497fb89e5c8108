"""scripts/prove-measurement without opbench: bounds, gates drawn from blocks, what is printed and how it ends."""

import csv
import json
import random
from pathlib import Path

import pytest
from opbench_proofs import command, programs
from opbench_proofs.binomial import lower_bound, tail, upper_bound
from opbench_proofs.blocks import Recording, is_alarm, only, paired_gate
from opbench_proofs.proof import Outcome, Setting
from opbench_proofs.tool import Gate, OpBench

COLUMNS = ["run_id", "sample_id", "cell_id", "backend", "side", "block", "flags", "metric", "value"]


def record(folder: Path, blocks: int) -> Recording:
    """A run of two sides whose value tells the block."""
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
    """Answers gates from a list, and keeps how many blocks each was asked about."""

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
    assert upper_bound(5, 5) == 1
    assert lower_bound(0, 5) == pytest.approx(0)
    bound = upper_bound(3, 40)
    assert 1 - tail(4, 40, bound) == pytest.approx(0.05)


def test_a_drawn_run_has_the_blocks_drawn_numbered_anew(tmp_path: Path) -> None:
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
    ("statuses", "blocks"), [([0], [7]), ([7, 2], [7, 15]), ([7, 7, 7], [7, 15, 25]), ([7, 7, 0], [7, 15, 25])]
)
def test_a_drawn_gate_goes_through_the_stages(tmp_path: Path, statuses: list[int], blocks: list[int]) -> None:
    tool = ScriptedTool(tmp_path, list(statuses))
    recording = record(tmp_path / "run", 30)
    assert paired_gate(tool, recording, random.Random(1)) == statuses[-1]
    assert tool.blocks == blocks


def test_only_a_verdict_of_difference_is_an_alarm() -> None:
    assert [is_alarm(status) for status in (0, 7, 2, 3, 5)] == [False, False, True, True, True]


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, held: bool, *words: str) -> int:
    asked = lambda setting: Outcome(held, [f"short: {setting.is_short}"])  # noqa: E731
    monkeypatch.setattr(command, "proofs", lambda: {1: ("One", asked), 2: ("Two", asked)})
    return command.main(["--binary", "/bin/true", "--output", str(tmp_path / "out"), *words])


def test_the_claims_their_figures_and_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, tmp_path, True, "--short", "--only", "2") == 0
    assert capsys.readouterr().out == "2. Two\n   short: True\n   held, 0 s\n"
    written = json.loads((tmp_path / "out" / "proofs.json").read_text(encoding="utf-8"))
    assert written["form"] == "short"
    assert written["proofs"]["2"]["figures"] == ["short: True"]
    assert run(monkeypatch, tmp_path, False) == 1
    assert "DID NOT HOLD" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--only", "9"], ["--only", "x"], ["--binary", "/nonexistent"], ["--long"]])
def test_bad_usage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, tmp_path, True, *words)
    assert ended.value.code == 64
    assert not (tmp_path / "out").exists()


def test_programs_of_their_own_are_found_and_heard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(programs, "FOLDER", tmp_path)
    program = tmp_path / "5-payload"
    program.write_text('#!/bin/sh\n# Bytes are told within 1 %\necho "$1 $3"\nexit 1\n', encoding="utf-8")
    program.chmod(0o755)
    assert programs.titles() == {5: "Bytes are told within 1 %"}
    assert 5 in command.proofs()
    outcome = programs.prove(Setting(OpBench(Path("/bin/true"), tmp_path), tmp_path, True), 5)
    assert outcome == Outcome(False, [f"{Path('/bin/true').resolve()} --short"])
