"""scripts/prove-long-runs without opbench: its table, its moments, what its command line refuses."""

import re
from pathlib import Path

import pytest
from opbench_proofs.long_runs import command, faults, kills


def test_the_table_adds_up():
    moments = {stage: kills.Moments() for stage in kills.STAGES}
    moments["file"].kills, moments["file"].torn, moments["time"].kills = 70, 3, 130
    lines = kills.table(moments, 2000, 2)
    assert [line.split()[-4:] for line in lines[1:5]] == [
        ["70", "0", "3", "0"], ["0", "0", "0", "0"], ["130", "0", "0", "0"], ["200", "0", "3", "0"],
    ]
    assert len({len(line) for line in lines[:5]}) == 1
    assert lines[5].startswith("2000 samples of 2 runs")


def test_a_seed_chooses_the_same_moments_again(tmp_path):
    class Seen(Exception):
        pass

    class Run:
        def start_or_resume(self, **how):
            raise Seen(sorted((name, value) for name, value in how.items() if name.startswith("KILL_") and "COUNTER" not in name))

    class Bench:
        folder, faults, killer = tmp_path, None, None

    def moments(seed):
        proof = kills.Kills(Bench(), seed, 10, 10, 2)
        for _ in range(50):
            with pytest.raises(Seen) as seen:
                proof.kill_once(Run(), proof.random.choice(list(kills.STAGES)))
            yield seen.value.args

    assert list(moments(1)) == list(moments(1)) != list(moments(2))


def test_every_way_to_go_wrong_is_one_of_the_library():
    text = Path(faults.__file__).with_name("faulty_child.c").read_text(encoding="utf-8")
    assert sorted(map(int, re.findall(r"case (\d):", text))) == [kind for kind, (what, *_) in faults.KINDS.items() if what != "nothing"]


@pytest.mark.parametrize("words", [["--only", "kill"], ["--kills", "0"], ["--timeout", "-1"], ["--binary", "/nowhere"], ["--kill"]])
def test_bad_usage_is_refused(words, tmp_path, capsys):
    binary = tmp_path / "opbench"
    binary.write_text("", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        command.parse(["--binary", str(binary), *words])
    assert ended.value.code == 64
    assert "prove-long-runs: " in capsys.readouterr().err


def test_another_seed_is_taken_each_time_and_told(tmp_path):
    binary = tmp_path / "opbench"
    binary.write_text("", encoding="utf-8")
    options = command.parse(["--binary", str(binary), "--short"])
    assert (options.kills, options.only) == (20, ["kills", "faults", "memory"])
    assert isinstance(options.seed, int)
