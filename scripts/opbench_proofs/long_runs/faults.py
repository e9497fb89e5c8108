"""What else may happen to a run: samples that go wrong, signals, full and read-only disks, another run in its place."""

import os
import resource
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from opbench_proofs.long_runs.run import Bench, Ended, Run, expect

# By the last digit of `items`: what is wrong, the status, and how the note begins.
KINDS = {
    0: ("nothing", "ok", ""),
    1: ("nothing", "ok", ""),
    2: ("aborts", "crashed", "SIGABRT"),
    3: ("reads from nowhere", "crashed", "SIGSEGV"),
    4: ("computes without end", "timeout", "ended after"),
    5: ("allocates until its limit", "crashed", "SIGABRT; out of memory"),
    6: ("fills a disk", "crashed", "exit status 74"),
    7: ("prints without end", "crashed", "SIGABRT; and so on"),
    8: ("leaves a process behind", "ok", ""),
    9: ("stops itself", "timeout", "ended after"),
}


class Mount:
    """A small disk in memory; needs root."""

    def __init__(self, path: Path, options: str) -> None:
        self.path = path
        path.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "opbench-proof", path], check=True)

    def again(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", self.path], check=True)

    def __enter__(self) -> "Mount":
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "--lazy", self.path], check=True)


class Faults:
    """One case after the other."""

    def __init__(self, bench: Bench, cells_of_kind: int, blocks: int, timeout: float) -> None:
        self.bench = bench
        self.cells_of_kind = cells_of_kind
        self.blocks = blocks
        self.timeout = timeout
        self.plain = bench.workload("plain", [10, 11, 20], ["dispatch", "engine"])
        self.number = 0

    def run(self, *options: str, results: Path | None = None, blocks: int = 12) -> Run:
        self.number += 1
        return Run(self.bench, f"fault{self.number}", self.plain, "--blocks", str(blocks), *options, results=results)

    def cases(self) -> list[tuple[str, Callable[[], str]]]:
        """What happens, and what tries it and says how it ended."""
        cases: list[tuple[str, Callable[[], str]]] = [("samples that go wrong", self.faulty_samples)]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            cases.append((number.name, lambda number=number: self.signalled(number)))
        cases += [
            ("SIGHUP under nohup", self.nohup),
            ("SIGTERM twice", self.twice),
            ("nobody reads its output", self.closed_output),
            ("nobody reads its progress", self.closed_errors),
            ("stopped for longer than the timeout", lambda: self.stopped(False)),
            ("stopped together with its sample", lambda: self.stopped(True)),
            ("two runs into one folder", self.two_runs),
            ("beyond the limit of file sizes", self.file_size),
        ]
        if os.geteuid() == 0:
            cases += [
                ("a full disk", self.full_disk), ("a folder on a read-only disk", self.read_only),
                ("a full folder of temporary files", self.full_temporary),
            ]
        else:
            cases += [("a folder that may not be written", self.read_only_folder)]
        return [*cases, ("explain: SIGTERM, then SIGKILL", self.explain)]

    def settle(self, run: Run, resume: int | None = 0) -> None:
        """What holds after every case: files parse, nothing is left; and after `--resume` every sample is there once."""
        left = self.bench.leftovers()
        expect(not left, f"still running: {left}")
        expect(not self.bench.passing(), f"left in the folder of temporary files: {self.bench.passing()}")
        run.check_files()
        if resume is not None:
            run.resume().expect(resume)
            run.check_whole()

    # MARK: Samples

    def faulty_samples(self) -> str:
        items = [10 * (1 + number) + kind for number in range(self.cells_of_kind) for kind in KINDS]
        workload = self.bench.workload("faulty", sorted(items), ["dispatch", "engine"])
        run = Run(self.bench, "faulty", workload, "--blocks", str(self.blocks), "--timeout", str(self.timeout))
        with Mount(self.bench.disk, "size=8m") if os.geteuid() == 0 else nullcontext():
            process = run.start(preload=[self.bench.faults])
            self.bench.finish(process, patience=7200).expect(3)
        found: Counter[str] = Counter()
        taken: Counter[tuple[str, str]] = Counter()
        for row in run.rows():
            if row["metric"] != "status":
                continue
            what, status, note = KINDS[int(row["param_items"]) % 10]
            key = (row["cell_id"], row["backend"])
            if status != "ok" and row["status"] == "skipped":
                expect(taken[key] == 2, f"{key} is not taken any more after {taken[key]} failures")
                found["not taken any more"] += 1
                continue
            taken[key] += 1
            right = row["status"] == status and row["notes"].startswith(note)
            expect(right, f"{what}: {row['status']}, {row['notes']!r} instead of {status}, {note!r} ({row['sample_id']})")
            found[what if status == "ok" else f"{what}: {status}"] += 1
        self.settle(run, resume=3)
        return "exit code 3; " + ", ".join(f"{what} {count}" for what, count in sorted(found.items()))

    # MARK: Signals

    def signalled(self, number: int) -> str:
        run = self.run(blocks=25)
        process = run.start()
        run.wait_for_samples(process, 10)
        begun = time.monotonic()
        process.send_signal(number)
        self.bench.finish(process).expect(128 + number, "to continue: the same with --run-id")
        seconds = time.monotonic() - begun
        count = run.count()
        self.settle(run)
        return f"exit code {128 + number} within {seconds:.1f} s, {count} samples kept, then whole"

    def nohup(self) -> str:
        run = self.run()
        process = run.start(before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        run.wait_for_samples(process, 3)
        process.send_signal(signal.SIGHUP)
        self.bench.finish(process).expect(0)
        self.settle(run)
        return "exit code 0"

    def twice(self) -> str:
        run = self.run(blocks=25)
        process = run.start()
        run.wait_for_samples(process, 10)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        ended = self.bench.finish(process)
        expect(ended.status == 143, f"ended with {ended.status}")
        self.settle(run)
        return "exit code 143, then whole"

    def closed(self, which: int) -> tuple[Run, Ended]:
        run = self.run()
        reader, writer = os.pipe()
        os.close(reader)
        other = (self.bench.folder / ("errors" if which == 0 else "output")).open("wb")
        try:
            with other:
                process = run.start(streams=(writer, other) if which == 0 else (other, writer))
        finally:
            os.close(writer)
        return run, self.bench.finish(process)

    def closed_output(self) -> str:
        run, ended = self.closed(0)
        expect(ended.status == -signal.SIGPIPE, f"ended with {ended.status}")
        expect("Error" not in ended.errors, ended.errors)
        run.check_whole()
        self.settle(run)
        return "ended by SIGPIPE, silently, all rows saved"

    def closed_errors(self) -> str:
        run, ended = self.closed(1)
        expect(ended.status == 0, f"ended with {ended.status}")
        run.check_whole()
        self.settle(run)
        return "exit code 0"

    def stopped(self, with_sample: bool) -> str:
        # Long enough for a sample on any machine, and short enough to be waited for.
        timeout = max(2.0, self.timeout)
        run = self.run("--timeout", str(timeout))
        process = run.start()
        run.wait_for_samples(process, 5)
        stopped = [process.pid]
        os.kill(process.pid, signal.SIGSTOP)
        if with_sample:
            children = Path(f"/proc/{process.pid}/task").glob("*/children")
            for child in " ".join(path.read_text() for path in children).split():
                stopped.append(int(child))
                os.kill(int(child), signal.SIGSTOP)
        time.sleep(timeout + 2)
        for other in reversed(stopped):
            try:
                os.kill(other, signal.SIGCONT)
            except ProcessLookupError:
                pass
        self.bench.finish(process).expect(0)
        run.check_whole()
        bad = [row["sample_id"] for row in run.rows() if row["status"] not in ("ok", "unsupported")]
        expect(not bad, f"samples that were well are called bad: {bad}")
        self.settle(run)
        return f"exit code 0 after a stop of {timeout + 2:.0f} s with a timeout of {timeout:.0f} s, no sample ended"

    # MARK: Folders

    def two_runs(self) -> str:
        run = self.run(blocks=20)
        process = run.start()
        run.wait_for_samples(process, 5)
        for more in (["--resume"], []):
            other = subprocess.run(
                [self.bench.binary, *run.words, *more], cwd=self.bench.folder, capture_output=True, text=True, check=False
            )
            Ended(other.returncode, other.stdout, other.stderr).expect(64, str(run.path), "another process is writing this run")
        self.bench.finish(process).expect(0)
        run.check_whole()
        self.settle(run)
        return "the later ones: exit code 64; the first: 0, whole"

    def file_size(self) -> str:
        run = self.run(blocks=20)
        limit = 40_000
        ended = self.bench.finish(run.start(before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
        ended.expect(1, str(run.path), "ulimit -f", "to continue: the same with --run-id")
        count = run.count()
        self.settle(run)
        return f"exit code 1, {count} samples kept, then whole"

    def full_disk(self) -> str:
        with Mount(self.bench.folder / "small", "size=200k") as mount:
            run = self.run(blocks=20, results=mount.path)
            self.bench.finish(run.start()).expect(
                1, str(run.path), "No space left on device; make room there", "to continue: the same with --run-id"
            )
            count = run.count()
            run.check_files()
            # Still no room: nothing gets worse.
            self.bench.finish(run.start_or_resume()).expect(1, "No space left on device")
            expect(run.count() >= count, "samples are lost")
            mount.again("size=50m")
            self.settle(run)
        return f"exit code 1, {count} samples kept, again 1; with room then whole"

    def read_only(self) -> str:
        with Mount(self.bench.folder / "small", "size=1m") as mount:
            mount.again("ro")
            run = self.run(results=mount.path)
            self.bench.finish(run.start()).expect(64, str(run.path), "Read-only file system", "--output")
            left = sorted(path.name for path in mount.path.iterdir())
            expect(not left, f"left there: {left}")
        return "exit code 64, nothing written"

    def read_only_folder(self) -> str:
        folder = self.bench.folder / "locked"
        folder.mkdir()
        folder.chmod(0o555)
        run = self.run(results=folder)
        self.bench.finish(run.start()).expect(64, str(run.path), "Permission denied", "--output")
        return "exit code 64, nothing written"

    def full_temporary(self) -> str:
        # One inode is the folder's own.
        with Mount(self.bench.folder / "full", "size=64k,nr_inodes=1") as mount:
            run = self.run()
            self.bench.finish(run.start(TMPDIR=str(mount.path))).expect(0)
            self.settle(run)
            sides = self.sides()
            self.bench.go("explain", "--filter", "items", sides, TMPDIR=str(mount.path)).expect(1, str(mount.path), "TMPDIR")
        return "run: exit code 0, it needs none; explain: exit code 1"

    def sides(self) -> str:
        """A run of this build against itself whose cells `explain` is to explain."""
        path = self.bench.folder / "results/sides"
        if not path.exists():
            words = ["ab", str(self.bench.binary), str(self.bench.binary), "--quick", "--run-id", "sides", "--no-progress"]
            workload = self.bench.workload("sides", [10], ["engine"])
            self.bench.go(*words, workload).expect(0)
        return str(path)

    def explain(self) -> str:
        words = ["explain", "--filter", "items", "--no-progress", self.sides()]
        self.interrupt_explain(words, signal.SIGTERM, 143)
        expect(not self.bench.passing(), f"left in the folder of temporary files: {self.bench.passing()}")
        self.interrupt_explain(words, signal.SIGKILL, -signal.SIGKILL)
        left = self.bench.passing()
        expect(len(left) == 1, f"left in the folder of temporary files: {left}")
        # As if it had been some minutes ago.
        os.utime(self.bench.temporary / left[0], (time.time() - 600,) * 2)
        self.interrupt_explain(words, signal.SIGTERM, 143)
        expect(not self.bench.passing(), f"left in the folder of temporary files: {self.bench.passing()}")
        return "exit code 143, no folder left; by SIGKILL one, which the next explain removes"

    def interrupt_explain(self, words: list[str], number: int, status: int) -> None:
        process = self.bench.start(*words)
        before = set(self.bench.passing())
        deadline = time.monotonic() + 120
        while not set(self.bench.passing()) - before:
            expect(process.poll() is None, f"explain has ended: {(self.bench.folder / 'errors').read_text()[-1000:]}")
            expect(time.monotonic() < deadline, "explain makes no folder")
            time.sleep(0.005)
        process.send_signal(number)
        ended = self.bench.finish(process)
        expect(ended.status == status, f"ended with {ended.status}: {ended.errors[-1000:]}")
        left = self.bench.leftovers()
        expect(not left, f"still running: {left}")
