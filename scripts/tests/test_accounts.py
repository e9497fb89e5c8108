"""A run's accounts agree with what is known: bytes held with the objects' size, allocations with the injected ones, CPU time
with the kernel's account of the processes."""

import csv
import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import OPBENCH

pytestmark = pytest.mark.skipif(not OPBENCH.exists(), reason=f"{OPBENCH} is not built")


def measure(folder: Path, command: list[object], *options: str, **workload: object) -> tuple[list[dict[str, str]], float]:
    """The rows of a run, and the CPU time in seconds that the kernel charges to opbench and all its processes."""
    (folder / "w.json").write_text(json.dumps({"name": "w", "summary": "s"} | workload), encoding="utf-8")
    words = [*command, "w.json", "--run-id", "r", "--no-progress", *options]
    process = subprocess.Popen([OPBENCH, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    with open(folder / "results/r/samples.csv", newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["value"]], usage.ru_utime + usage.ru_stime


def test_bytes_held_are_those_of_the_objects(tmp_path: Path) -> None:
    """Sizes that are size classes of jemalloc, so that an object takes exactly its size."""
    small, large = 1024, 4096
    rows, _ = measure(
        tmp_path, ["run"], "--quick", shape="memory_fence", backends=["engine", "dispatch"], sample_kinds=["memory"],
        parameters={"operations": 3000, "payload_bytes": [small, large], "form": "subclass"},
    )  # fmt: skip
    held = {
        (row["backend"], int(row["param_payload_bytes"])): float(row["value"]) / int(row["operations"])
        for row in rows if (row["metric"], row["phase"]) == ("retained_bytes", "mark:pending")
    }  # fmt: skip
    for backend in ("engine", "dispatch"):
        assert held[backend, large] - held[backend, small] == pytest.approx(large - small, rel=0.03)


def test_injected_allocations_are_counted(tmp_path: Path) -> None:
    """The engine's own vary by a few, with the threads that it needs."""
    rows, _ = measure(
        tmp_path, ["ab", OPBENCH, OPBENCH], "--blocks", "1", "--inject-allocations", "3", shape="independent",
        backends=["engine"], sample_kinds=["memory"], parameters={"items": 5000, "form": "subclass", "work_ns": 0},
    )  # fmt: skip
    counts = {row["side"]: float(row["value"]) for row in rows if row["metric"] == "allocations"}
    assert counts["head"] - counts["base"] == pytest.approx(3 * 5000, rel=0.05)


def test_cpu_time_is_a_large_part_of_the_kernels_and_never_more(tmp_path: Path) -> None:
    """Processes use some before they can ask for it, and after."""
    rows, kernel = measure(
        tmp_path, ["run"], "--quick", shape="independent", backends=["engine", "dispatch"],
        sample_kinds=["throughput", "latency"], parameters={"items": 2000, "form": "block", "work_ns": 500},
    )  # fmt: skip
    description = json.loads((tmp_path / "results/r/run.json").read_text(encoding="utf-8"))

    def sums(metric: str) -> float:
        return sum(float(row["value"]) for row in rows if row["metric"] == metric) / 1e9

    assert 0 < sums("cpu_time") < sums("process_cpu_time")
    assert 0.7 <= (sums("process_cpu_time") + description["progress"]["runner_cpu_ns"] / 1e9) / kernel <= 1.01
