"""The proof of coordinated omission without opbench: figures that agree with theory hold, and a tool that omits is detected."""

import csv
from pathlib import Path

import pytest
from opbench_proofs import coordinated_omission as proof
from opbench_proofs.proof import Verdict

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


def verdict(tmp_path: Path, figures: dict[tuple[str, str, str, str], float], flags: str = "") -> Verdict:
    with open(tmp_path / "samples.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (workload, stalls, metric, stat), value in figures.items():
            for phase, status, seconds in (("", "ok", value), ("warmup", "ok", 7), ("", "crashed", 8)):
                writer.writerow((workload, "engine", phase, status, metric, stat, seconds * 1e9, "ns", stalls, flags))
    return proof.judge(proof.figures(tmp_path / "samples.csv")).verdict


def without(key: tuple[str, str, str, str]) -> dict[tuple[str, str, str, str], float]:
    return {other: value for other, value in SOUND.items() if other != key}


def test_figures_that_agree_with_the_theory_hold_and_missing_ones_do_not(tmp_path: Path) -> None:
    assert verdict(tmp_path, SOUND) is Verdict.HELD
    assert verdict(tmp_path, {}) is Verdict.REFUTED


@pytest.mark.parametrize("key", SOUND)
def test_each_figure_is_required_and_compared_with_the_theory(key: tuple[str, str, str, str], tmp_path: Path) -> None:
    assert verdict(tmp_path, without(key)) is Verdict.REFUTED
    # As if the stall did not appear where it must, or appeared where it cannot.
    assert verdict(tmp_path, SOUND | {key: 0.0001 if SOUND[key] > 0.05 else 0.09}) is Verdict.REFUTED


@pytest.mark.parametrize("key", SOUND)
def test_noise_excuses_late_figures_but_not_early_or_absent_ones(key: tuple[str, str, str, str], tmp_path: Path) -> None:
    assert verdict(tmp_path, SOUND | {key: 0.5}, flags="short;noisy") is Verdict.UNDECIDED
    assert verdict(tmp_path, SOUND | {key: 0.5}, flags="short") is Verdict.REFUTED
    assert verdict(tmp_path, without(key), flags="noisy") is Verdict.REFUTED
    if SOUND[key] > 0.05:
        assert verdict(tmp_path, SOUND | {key: 0.05}, flags="noisy") is Verdict.REFUTED
