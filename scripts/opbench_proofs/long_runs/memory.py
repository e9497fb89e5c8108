"""How much memory the process takes that starts the samples: with fake samples, which answer at once."""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from opbench_proofs.long_runs.run import Bench, Run, expect

LIMIT = 100 << 20
"""Bytes that it may have at any number of rows."""
PER_ROW = 40
"""Bytes for each row: of its plan, and of what is done. The row itself takes more."""


@dataclass
class Peak:
    """What a run took."""

    rows: int
    samples: int
    resident: int
    files: int
    seconds: float
    cpu: float

    def line(self) -> str:
        return (
            f"{self.rows:9,} rows, {self.samples:6,} samples: {self.resident / (1 << 20):6.1f} MiB at most, "
            f"{self.files} open files, {self.cpu / self.samples * 1000:.2f} ms of CPU time a sample ({self.seconds:.0f} s)"
        )


def measure(bench: Bench, rows: int, rows_of_sample: float, results: Path) -> Peak:
    """Takes a run of some so many rows."""
    blocks = 20
    # Two backends, and two kinds of sample.
    cells = max(1, round(rows / rows_of_sample / (4 * blocks)))
    workload = bench.workload("fake", list(range(1, cells + 1)), ["dispatch", "engine"])
    run = Run(bench, f"rows{rows}", workload, "--blocks", str(blocks), results=results)
    begun = time.monotonic()
    process = run.start(preload=[bench.faults], FAKE_SAMPLE=str(bench.fake))
    files = 0
    while True:
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        try:
            files = max(files, len(os.listdir(f"/proc/{process.pid}/fd")))
        except OSError:
            pass
        time.sleep(0.05)
    process.returncode = os.waitstatus_to_exitcode(status)
    expect(process.returncode == 0, f"ended with {process.returncode}: {(bench.folder / 'errors').read_text()[-2000:]}")
    manifest = json.loads((run.path / "run.json").read_text(encoding="utf-8"))
    with (run.path / "samples.csv").open("rb") as file:
        count = sum(1 for _ in file) - 1
    expect(manifest["samples_done"] == len(manifest["order"]), "samples are missing")
    cpu = manifest["runner_cpu_ns"] / 1e9
    return Peak(count, manifest["samples_done"], usage.ru_maxrss * 1024, files, time.monotonic() - begun, cpu)


def prove(bench: Bench, counts: list[int], results: Path) -> list[str]:
    """Measures runs of so many rows. The lines to print."""
    first = measure(bench, 1000, 10, results)
    peaks = [measure(bench, count, first.rows / first.samples, results) for count in counts]
    lines = [peak.line() for peak in peaks]
    for peak in peaks:
        allowed = min(LIMIT, first.resident + PER_ROW * peak.rows + (8 << 20))
        expect(peak.resident <= allowed, "\n".join([*lines, f"more than {allowed / (1 << 20):.0f} MiB at {peak.rows} rows"]))
        expect(peak.files <= first.files + 8, "\n".join([*lines, f"files stay open: {peak.files}, at first {first.files}"]))
    return lines
