"""scripts/prove-coordinated-omission: figures that agree with the theory pass, a tool that omits is found out."""

import csv
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "prove-coordinated-omission"
loader = SourceFileLoader("prove_coordinated_omission", str(SCRIPT))
spec = importlib.util.spec_from_loader(loader.name, loader)
assert spec is not None
proof = importlib.util.module_from_spec(spec)
sys.modules[loader.name] = proof
loader.exec_module(proof)

# (workload, stalls, metric, stat) → seconds.
SOUND = {
    ("stall-open-loop", "operation", "intended_latency", "p99"): 0.0905,
    ("stall-open-loop", "operation", "intended_latency", "p99.9"): 0.0992,
    ("stall-open-loop", "operation", "service_latency", "p99"): 0.0904,
    ("stall-open-loop", "submitter", "intended_latency", "p99"): 0.0901,
    ("stall-open-loop", "submitter", "intended_latency", "p99.9"): 0.0991,
    ("stall-open-loop", "submitter", "service_latency", "p99"): 0.0009,
    ("stall-closed-loop", "", "service_latency", "p99"): 0.00002,
    ("stall-closed-loop", "", "service_latency", "p99.9"): 0.00004,
    ("stall-closed-loop", "", "service_latency", "max"): 0.1001,
}
COLUMNS = ("workload", "backend", "phase", "status", "metric", "stat", "value", "unit", "param_stalls", "sample_flags")


def verdict(tmp_path: Path, figures: dict[tuple[str, str, str, str], float], flags: str = "") -> int:
    with open(tmp_path / "samples.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (workload, stalls, metric, stat), value in figures.items():
            for phase, status, seconds in (("", "ok", value), ("warmup", "ok", 7), ("", "crashed", 8)):
                writer.writerow((workload, "engine", phase, status, metric, stat, seconds * 1e9, "ns", stalls, flags))
    return proof.judge(proof.figures(tmp_path / "samples.csv"))


def test_figures_that_agree_with_the_theory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(tmp_path, SOUND) == 0
    output = capsys.readouterr().out
    assert "WRONG" not in output
    assert len(output.splitlines()) == 1 + len(SOUND)


@pytest.mark.parametrize("key", SOUND)
def test_each_figure_is_needed_and_held_against_the_theory(
    key: tuple[str, str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verdict(tmp_path, {other: value for other, value in SOUND.items() if other != key}) == 1
    assert "absent" in capsys.readouterr().out
    # As if the stall were not seen where it must be, or seen where it cannot be.
    assert verdict(tmp_path, SOUND | {key: 0.0001 if SOUND[key] > 0.05 else 0.09}) == 1
    assert capsys.readouterr().out.count("WRONG") == 1


@pytest.mark.parametrize("key", SOUND)
def test_noise_excuses_what_is_late_never_what_is_early_or_absent(
    key: tuple[str, str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verdict(tmp_path, SOUND | {key: 0.5}, flags="short;noisy") == 7
    assert capsys.readouterr().out.count("not decided") == 1
    assert verdict(tmp_path, SOUND | {key: 0.5}, flags="short") == 1
    assert verdict(tmp_path, {other: value for other, value in SOUND.items() if other != key}, flags="noisy") == 1
    if SOUND[key] > 0.05:
        assert verdict(tmp_path, SOUND | {key: 0.05}, flags="noisy") == 1


def test_no_figures_prove_nothing(tmp_path: Path) -> None:
    assert verdict(tmp_path, {}) == 1


def test_a_run_that_fails_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["prove", "--opbench", "false"])
    assert proof.main() == 3
