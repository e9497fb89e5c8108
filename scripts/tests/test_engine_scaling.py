"""The model of one queue on many processors, its check, and scripts/engine-scaling."""

import csv
import math
from pathlib import Path

import pytest
from engine_docs import articles, scaling
from engine_scaling import command, model, records, tables
from engine_scaling.model import Coefficients, Kind
from engine_scaling.records import BadInput

ARTICLE = Path(__file__).resolve().parents[2] / "Sources/OperationEngine/OperationEngine.docc/ManyCores.md"
BLOCK = Kind("block", turn=200, locked=60, fetches=3)


@pytest.mark.parametrize("work", [0, 300, 5_000, 1_000_000])
def test_one_worker_is_the_measure(work: float) -> None:
    assert model.speedup(BLOCK, work, 50, 1) == 1
    assert model.coefficients(BLOCK, work, 50).speedup(1) == 1


def test_the_form_is_that_of_the_universal_scalability_law() -> None:
    assert Coefficients(0, 0).speedup(64) == 64
    # Amdahl's: nothing but a serial tenth.
    assert math.isclose(Coefficients(0.1, 0).speedup(64), 64 / 7.3)
    law = Coefficients(0.02, 0.0005)
    assert math.isclose(law.speedup(16), 16 / (1 + 0.02 * 15 + 0.0005 * 16 * 15))
    # Beyond the best number more workers are slower, and none is better.
    assert law.speedup(law.best) == max(law.speedup(count) for count in range(1, 1000))
    assert Coefficients(0.5, 0).best > 1000


def test_a_lock_that_is_always_held_lets_no_more_through() -> None:
    assert Coefficients(4, 0.1).speedup(2) == 1 / 4
    for work in (500, 1_000, 30_000):
        sigma = (BLOCK.locked + 3 * 50) / (BLOCK.turn + work)
        for workers in (2, 8, 64, 512):
            assert model.speedup(BLOCK, work, 50, workers) <= 1 / sigma + 1e-9


def test_longer_work_scales_better_and_dearer_lines_worse() -> None:
    for workers in (2, 16, 64):
        by_work = [model.speedup(BLOCK, work, 50, workers) for work in (300, 1_000, 10_000, 1_000_000)]
        assert by_work == sorted(by_work)
        by_line = [model.speedup(BLOCK, 1_000, transfer, workers) for transfer in (300, 100, 50, 1)]
        assert by_line == sorted(by_line)
    assert model.speedup(BLOCK, 1e9, 50, 64) > 63


def test_workers_with_short_turns_stand_aside() -> None:
    assert model.is_short(BLOCK, 249) and not model.is_short(BLOCK, 250)
    two, many = (model.speedup(BLOCK, 0, 50, count) for count in (2, 64))
    assert 0.8 < two < 1 and many < two
    # 30 % of its time one holds the lock: then one fetch goes there and back, else three.
    assert math.isclose(two, 1 / (1 + (0.7 * 300 + 0.3 * 100) / 2500))


def test_the_turn_for_half_is_what_the_law_says() -> None:
    for workers in (8, 16, 64):
        work = model.turn_for_half(BLOCK, 50, workers) - BLOCK.turn
        assert math.isclose(model.speedup(BLOCK, work, 50, workers), workers / 2, rel_tol=1e-9)
    assert model.turn_for_half(Kind("quick", 20, 10, 1), 1, 2) == model.SHORT_TURN


@pytest.mark.parametrize("figures", [(100, 0, 6), (100, 101, 6), (100, 50, 0)])
def test_what_cannot_be_is_refused(figures: tuple[float, float, int]) -> None:
    with pytest.raises(ValueError, match="under the lock"):
        Kind("impossible", *figures)


def test_the_article_has_what_the_model_says() -> None:
    text = ARTICLE.read_text(encoding="utf-8")
    assert text.count("<!-- made: scaling ") == len(tables.TABLES)
    assert articles.remade(text, {"scaling": scaling.maker()}) == text


def test_the_model_is_as_far_off_as_the_article_says() -> None:
    """It is checked where it can be: two workers, held against what was measured with two."""
    measured = records.load()
    errors: dict[bool, list[float]] = {True: [], False: []}
    for row in measured.checks:
        kind = measured.kind(row.kind)
        work = max(0.0, row.turn_ns - kind.turn)
        error = model.speedup(kind, work, measured.fetch, 2) / row.ratio - 1
        errors[model.is_short(kind, work)].append(error)
    text = " ".join(ARTICLE.read_text(encoding="utf-8").split())
    said = {is_short: f"{min(errors[is_short]):+.0%} to {max(errors[is_short]):+.0%}" for is_short in errors}
    assert f"off by {said[False]} where workers wait for the lock, and by {said[True]} where they stand aside" in text


def test_a_run_is_read(tmp_path: Path) -> None:
    columns = ["schema_version", "workload", "cell_id", "backend", "phase", "metric", "value", "operations"]
    columns += ["param_form", "param_work_ns", "param_max_concurrent"]
    rows = [
        [3, "memory-fence", "c", backend, phase, "time", nanoseconds, 100, "block", 0, limit]
        for backend, phase, limit, times in (
            ("engine", "drain", 1, (20_000, 21_000, 19_000)), ("engine", "drain", 2, (40_000, 42_000, 41_000)),
            ("dispatch", "drain", 1, (1,)), ("engine", "submit", 2, (1,)),
        )
        for nanoseconds in times
    ]  # fmt: skip
    with open(tmp_path / "samples.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    (check,) = records.checks([tmp_path])
    assert (check.kind, check.work_ns, check.blocks, check.turn_ns) == ("block", 0, 3, 200)
    assert check.low <= check.ratio == round(20_000 / 41_000, 3) <= check.high
    with open(tmp_path / "samples.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows[:3]])
    with pytest.raises(BadInput, match="limit 1 and at limit 2"):
        records.checks([tmp_path])


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command.main([]) == 0
    printed = capsys.readouterr().out
    assert all(table(records.load()) in printed for table in tables.TABLES.values())
    assert command.main(["--transfer-ns", "500"]) == 0
    dear = capsys.readouterr().out
    assert dear and dear not in printed
    assert command.main(["--check", str(tmp_path / "none")]) == 64
    assert "samples.csv" in capsys.readouterr().err
    for words in (["--transfer-ns", "0"], ["--update"], ["--transfer-ns", "x"]):
        with pytest.raises(SystemExit) as ended:
            command.main(words)
        assert ended.value.code == 64
    capsys.readouterr()
