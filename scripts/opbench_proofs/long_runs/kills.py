"""A run of faulty samples whose parent is killed again and again, and gone on with until it is whole."""

import os
import random
import signal
import time
from dataclasses import dataclass, field

from opbench_proofs.long_runs.run import Bench, Run, Unexpected, expect

# Calls that touch a file: while a run is opened, and for each sample.
CALLS_OF_START, CALLS_OF_SAMPLE = 40, 6
STAGES = {
    "file": "at a call that touches a file",
    "sample": "while a sample reads, starts, answers",
    "time": "at a random time",
}


@dataclass
class Moments:
    """What came of the kills of one sort."""

    kills: int = 0
    lost: int = 0
    torn: int = 0
    left: int = 0
    seconds: list[float] = field(default_factory=list)


def table(moments: dict[str, Moments], samples: int, runs: int) -> list[str]:
    """The lines that are printed."""
    titles = ["killed", "kills", "samples lost", "rows torn", "left running"]
    rows = [titles]
    for stage, of in moments.items():
        rows.append([STAGES[stage], str(of.kills), str(of.lost), str(of.torn), str(of.left)])
    total = [sum(getattr(of, name) for of in moments.values()) for name in ("kills", "lost", "torn", "left")]
    rows.append(["together", *map(str, total)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(titles))]
    lines = [
        row[0].ljust(widths[0]) + "".join(cell.rjust(width + 2) for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    return [*lines, f"{samples} samples of {runs} runs: after --resume each is there once, and every file parses"]


class Kills:
    """Kills that a seed chooses."""

    def __init__(self, bench: Bench, seed: int, count: int, samples_between: int, timeout: float) -> None:
        self.bench = bench
        self.random = random.Random(seed)
        self.count = count
        self.between = samples_between
        self.timeout = timeout
        self.moments = {stage: Moments() for stage in STAGES}
        self.pace = 0.2
        """Seconds of a sample, as measured."""
        self.samples = 0
        self.runs = 0

    @property
    def done(self) -> int:
        return sum(of.kills for of in self.moments.values())

    def prove(self) -> list[str]:
        """Kills so often, in as many runs as that takes. The lines to print."""
        while self.done < self.count:
            self.runs += 1
            # What starts another process that outlives it is no sample of these: nobody is left to end it.
            per_run = max(10, self.count * self.between // 2 // 20)
            items = [number for number in range(10, 10 + min(per_run, 130)) if number % 10 != 8]
            workload = self.bench.workload("killed", items, ["dispatch", "engine"])
            run = Run(self.bench, f"killed{self.runs}", workload, "--blocks", "5", "--timeout", str(self.timeout))
            self.kill(run)
            self.samples += run.check_whole()
            expect(not self.bench.passing(), f"left in the folder of temporary files: {self.bench.passing()}")
        return table(self.moments, self.samples, self.runs)

    def kill(self, run: Run) -> None:
        """Kills it until it is whole, or until that was often enough."""
        stage = None
        saved = b""
        while True:
            begun, before = time.monotonic(), run.count()
            if self.done >= self.count:
                run.bench.finish(run.start_or_resume(preload=[self.bench.faults])).expect(3)
                self.check(run, stage, saved)
                return
            stage_now = self.random.choice(list(STAGES))
            status = self.kill_once(run, stage_now)
            self.check(run, stage, saved)
            if status != -signal.SIGKILL:
                expect(status == 3, f"ended with {status} before it was killed")
                return
            stage, saved = stage_now, run.saved()
            of = self.moments[stage]
            of.kills += 1
            of.torn += int((run.path / "samples.csv").stat().st_size != len(saved)) if saved else 0
            left = self.bench.leftovers()
            of.left += len(left)
            expect(not left, f"still running after a kill {STAGES[stage]}: {left}")
            if run.count() > before:
                self.pace = 0.8 * self.pace + 0.2 * (time.monotonic() - begun) / (run.count() - before)

    def kill_once(self, run: Run, stage: str) -> int:
        samples = self.random.randint(1, 2 * self.between)
        if stage == "file":
            place = self.random.randint(1, CALLS_OF_START + CALLS_OF_SAMPLE * samples)
            return self.ended(run.start_or_resume(preload=[self.bench.killer, self.bench.faults], KILL_AT=str(place)))
        if stage == "sample":
            counter = self.bench.folder / "counter"
            counter.write_bytes(b"")
            which = self.random.choice(["read", "thread", "answer"])
            return self.ended(
                run.start_or_resume(
                    preload=[self.bench.killer, self.bench.faults], KILL_PARENT=which, KILL_SAMPLE=str(samples),
                    KILL_COUNTER=str(counter),
                )
            )
        process = run.start_or_resume(preload=[self.bench.faults])
        delay = self.random.uniform(0, 0.1 + samples * self.pace)
        deadline = time.monotonic() + delay
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(min(0.01, delay))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        return self.ended(process)

    def ended(self, process: object) -> int:
        return self.bench.finish(process, patience=1200).status

    def check(self, run: Run, stage: str | None, saved: bytes) -> None:
        """What was saved before the last kill is still there, byte for byte."""
        if stage is None or run.saved().startswith(saved):
            return
        kept = os.path.commonprefix([run.saved(), saved])
        self.moments[stage].lost += saved.count(b",status,") - kept.count(b",status,")
        raise Unexpected(f"samples that were saved are gone after a kill {STAGES[stage]}")
