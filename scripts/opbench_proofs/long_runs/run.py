"""A run of opbench that something happens to, and all that must hold after it."""

import csv
import ctypes
import io
import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
KILLER = HERE.parents[1] / "tests/kill_at.c"
PR_SET_CHILD_SUBREAPER = 36
PATIENCE = 300.0
ENDING = 20.0
"""Seconds that a process has to end whose parent is gone."""


class Unexpected(Exception):
    """Something did not hold."""


def expect(held: bool, what: str) -> None:
    if not held:
        raise Unexpected(what)


@dataclass
class Ended:
    """How opbench ended."""

    status: int
    """Minus the signal's number if one ended it."""
    output: str
    errors: str

    def expect(self, status: int, *words: str) -> "Ended":
        """Holds the exit code, and that standard error has these words."""
        expect(self.status == status, f"ended with {self.status} instead of {status}:\n{self.errors[-2000:]}")
        for word in words:
            expect(word in self.errors, f"standard error does not say {word!r}:\n{self.errors[-2000:]}")
        return self


class Bench:
    """The opbench that is tried, in a folder of its own."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary
        self.folder = folder
        self.faults = self.library(HERE / "faulty_child.c", "faulty_child.so")
        self.killer = self.library(KILLER, "kill_at.so")
        self.fake = self.compiled(HERE / "fake_sample.c", "fake_sample", "-static")
        self.disk = folder / "disk"
        self.disk.mkdir()
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        # Who loses its parent becomes a child of this process, so that none is overlooked.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)

    def library(self, source: Path, name: str) -> Path:
        return self.compiled(source, name, "-shared", "-fPIC", "-ldl")

    def compiled(self, source: Path, name: str, *options: str) -> Path:
        compiler = shutil.which("cc") or shutil.which("clang") or "cc"
        target = self.folder / name
        subprocess.run([compiler, "-O1", "-Wall", "-Werror", "-o", target, source, *options], check=True)
        return target

    def environment(self, preload: list[Path], variables: dict[str, str]) -> dict[str, str]:
        own = {"FAULT_DISK": str(self.disk), "TMPDIR": str(self.temporary)}
        if preload:
            own["LD_PRELOAD"] = ":".join(map(str, preload))
        return os.environ | own | variables

    def start(
        self, *words: str, preload: list[Path] | None = None, streams: tuple[object, object] | None = None,
        before: object = None, **variables: str,
    ) -> subprocess.Popen[bytes]:
        """Starts opbench; its streams go to files, which `finish` reads, since a pipe would be held open by who is left."""
        output, errors = streams or ((self.folder / "output").open("wb"), (self.folder / "errors").open("wb"))
        return subprocess.Popen(
            [self.binary, *words], cwd=self.folder, env=self.environment(preload or [], variables), stdout=output,
            stderr=errors, stdin=subprocess.DEVNULL, preexec_fn=before, start_new_session=True,
        )

    def finish(self, process: subprocess.Popen[bytes], patience: float = PATIENCE) -> Ended:
        try:
            status = process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Unexpected(f"opbench did not end within {patience:.0f} s") from None
        def text(name: str) -> str:
            path = self.folder / name
            return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

        return Ended(status, text("output"), text("errors"))

    def go(self, *words: str, patience: float = PATIENCE, **how: object) -> Ended:
        return self.finish(self.start(*words, **how), patience)

    def workload(self, name: str, items: list[int], backends: list[str]) -> str:
        content = {
            "name": name, "summary": "s", "shape": "independent", "parameters": {"items": items, "work_ns": 0},
            "backends": backends, "metrics": ["throughput"],
        }
        (self.folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        return f"{name}.json"

    def leftovers(self) -> list[str]:
        """Processes that have lost their parents and do not end; they are ended then."""
        deadline = time.monotonic() + ENDING
        while True:
            try:
                while os.waitpid(-1, os.WNOHANG)[0] != 0:
                    pass
            except ChildProcessError:
                return []
            if time.monotonic() > deadline:
                break
            time.sleep(0.002)
        left = []
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = entry.read_text().rpartition(")")[2].split()
                if int(fields[1]) == os.getpid() and fields[0] != "Z":
                    left.append(f"{entry.parent.name} {(entry.parent / 'comm').read_text().strip()}")
                    os.kill(int(entry.parent.name), 9)
            except OSError:
                continue
        return left

    def passing(self) -> list[str]:
        """What is left of temporary files and folders."""
        return sorted(path.name for path in self.temporary.iterdir())


class Run:
    """One run's folder."""

    def __init__(self, bench: Bench, run_id: str, workload: str, *options: str, results: Path | None = None) -> None:
        self.bench = bench
        self.results = results or bench.folder / "results"
        self.path = self.results / run_id
        self.words = ["run", "--quick", "--no-progress", "--output", str(self.results), "--run-id", run_id, *options, workload]

    def start(self, *more: str, **how: object) -> subprocess.Popen[bytes]:
        return self.bench.start(*self.words, *more, **how)

    def start_or_resume(self, **how: object) -> subprocess.Popen[bytes]:
        """As one would after a crash: with `--resume` if the run's folder is there."""
        return self.start(*(["--resume"] if self.path.exists() else []), **how)

    def resume(self, **how: object) -> Ended:
        return self.bench.finish(self.start_or_resume(**how))

    def saved(self) -> bytes:
        """The bytes of all samples that are whole: up to the last `status` row."""
        try:
            lines = (self.path / "samples.csv").read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return b""
        ends = [number for number, line in enumerate(lines) if b",status," in line and line.endswith(b"\n")]
        return b"".join(lines[: ends[-1] + 1]) if ends else b""

    def count(self) -> int:
        """How many samples are saved."""
        return self.saved().count(b",status,")

    def wait_for_samples(self, process: subprocess.Popen[bytes], count: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.count() < count:
            expect(process.poll() is None, f"opbench has ended before {count} samples")
            expect(time.monotonic() < deadline, f"no {count} samples within {PATIENCE:.0f} s")
            time.sleep(0.001)

    def rows(self, name: str = "samples.csv") -> list[dict[str, str]]:
        """The rows of a file, every line of which must be whole."""
        data = (self.path / name).read_bytes()
        expect(data.endswith(b"\n"), f"{name} ends amid a line")
        rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
        expect(len({len(row) for row in rows}) == 1, f"{name} has lines of several lengths")
        return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]

    def check_files(self) -> None:
        """Every file parses: by Python's own reader, by pandas and by opbench."""
        import pandas

        for path in sorted(self.path.iterdir()):
            expect(not path.name.startswith(".opbench-"), f"{path.name} is left")
            if path.suffix == ".csv":
                expect(len(pandas.read_csv(path, dtype=str)) == len(self.rows(path.name)), f"pandas reads {path.name} otherwise")
        manifest = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        expect(manifest["run_id"] == self.path.name, "run.json names another run")
        self.bench.go("runs", "--output", str(self.results)).expect(0)
        if self.rows():
            self.bench.go("show", str(self.path)).expect(0)

    def check_whole(self) -> int:
        """Every sample is there once, and the run says so; the number of samples."""
        manifest = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        planned = [line.split(" ", 1)[0] for line in manifest["order"]]
        rows = self.rows()
        ends = [row["sample_id"] for row in rows if row["metric"] == "status"]
        expect(sorted(ends) == sorted(planned), f"{len(ends)} samples ended, {len(planned)} were planned")
        keys = [tuple(row[name] for name in ("sample_id", "phase", "operation_class", "iteration", "metric", "stat")) for row in rows]
        expect(len(set(keys)) == len(keys), "a row is there twice")
        expect((manifest["state"], manifest["samples_done"]) == ("finished", len(planned)), "run.json does not say that it is whole")
        self.check_files()
        return len(planned)
