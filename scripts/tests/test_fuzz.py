"""scripts/fuzz without libFuzzer: what it makes of what a program says."""

from pathlib import Path

import pytest
from opbench_proofs import fuzz

PROGRAM = """#!/bin/sh
case $1 in
readers) echo "policy 4096"; echo "csv 8192";;
words) echo '"word"';;
seeds) echo x > "$3/made-0";;
heaps) printf 'csv\\tquotes\\t12 ms\\n'; HEAPS;;
csv) echo "#3 NEW cov: 7 ft: 1"; echo "Test unit written to /found/csv-crash-1"; exit 77;;
*)
    echo "#9 DONE cov: 41 ft: 80 corp: 3/5b"
    echo "stat::number_of_executed_units: 200"
    echo "stat::peak_rss_mb: 61"
    echo "taken: 50 refused: 150"
    ;;
esac
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "fuzz"
    path.write_text(PROGRAM.replace("HEAPS", "true"), encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setattr(fuzz, "SCRATCH", tmp_path / "scratch")
    monkeypatch.setattr(fuzz, "build", lambda with_address: path)
    return path


def test_the_program_is_built_of_the_readers_that_the_tests_hold() -> None:
    """By a link, which a copy of the sources may have turned into a file; SwiftPM then builds without them."""
    readers = fuzz.ROOT / "Tests/FuzzDriver/Readers"
    assert readers.resolve() == (fuzz.ROOT / "Tests/FuzzTests/Readers").resolve()


def test_a_run_that_finds_nothing(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--only", "policy"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("policy"))
    assert line.split()[:4] == ["policy", "200", "25.0", "%"]
    assert "61 MB" in line and " 41 " in line and line.endswith("nothing")


def test_an_input_that_breaks_something_is_named_with_its_command(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--short"]) == 1
    assert f"{program} csv /found/csv-crash-1" in capsys.readouterr().out


def test_what_takes_too_long_is_told(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = "printf 'csv\\trows\\t11000 ms: too slow\\n'; exit 1"
    program.write_text(PROGRAM.replace("HEAPS", slow), encoding="utf-8")
    assert fuzz.main(["--only", "policy"]) == 1
    assert "  csv, rows, 11000 ms: too slow" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--only", "nothing"], ["--runs", "0"], ["--runs", "x"]])
def test_bad_usage(program: Path, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        fuzz.main(arguments)
    assert ended.value.code == 64
