"""Programs elsewhere that measure queues of their own with OpBenchKit."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from opbench_proofs import kit_costs
from opbench_rows import read

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "Tests/Examples"
# Where builds are kept from one time to the next.
BUILDS = ROOT / ".build-kit"
# Each example's first backend, whether it suspends, and shapes that it cannot execute with what the reason names.
EXPECTED = {
    "pthread-queue": ("mine", True, {"priority_mix": "PrioritizedQueue"}),
    "nio-thread-pool": ("nio:pool", False, {"suspend_resume": "SuspendableQueue", "barriers": "BarrierQueue"}),
}
SHAPES = {
    "independent": {"items": 300, "work_ns": 0},
    "chain": {"depth": 30, "chains": 2, "work_ns": 0},
    "graph": {"kind": "diamond", "width": 5, "layers": 3, "work_ns": 0},
    "wakeup": {"operations": 20},
    "open_loop": {"rate": 2000, "duration_ns": 10_000_000},
    "blocking": {"operations": 4, "block_ns": 10_000},
}
GATE_ENDS = (0, 2, 7)
WITH_MORE_QUEUES = ("pthread-queue",)
# What the kit may add to an operation: the call of a protocol, and the count of what has not ended.
MOST_INSTRUCTIONS = 50
MOST_ALLOCATIONS = 0.01
# opbench's exit code where a sample failed.
BAD_SAMPLE = 3


class Unexpected(Exception):
    """Something did not hold."""


class Example:
    """A copy of a package of Tests/Examples, outside of this repository and in one of its own, of two commits."""

    def __init__(self, name: str, configuration: str, folder: Path) -> None:
        self.name = name
        self.package = folder / name
        self.configuration = configuration
        self.folder = folder
        self.scratch = BUILDS / name
        # As others have it, who know nothing of this package's variables.
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("OPBENCH_")}
        shutil.copytree(EXAMPLES / name, self.package, ignore=shutil.ignore_patterns(".build", "Package.resolved"))
        manifest = self.package / "Package.swift"
        text = manifest.read_text(encoding="utf-8")
        if '"../../.."' not in text:
            raise Unexpected(f"{manifest} does not depend on this package by path")
        manifest.write_text(text.replace('"../../.."', f'"{ROOT}"'), encoding="utf-8")
        if name in WITH_MORE_QUEUES:
            self.add_queues()
        (self.package / ".gitignore").write_text(".build/\n", encoding="utf-8")
        self.git("init", "--quiet")
        for subject in ("before", "after"):
            with next((self.package / "Sources").rglob("main.swift")).open("a", encoding="utf-8") as main:
                main.write(f"// {subject}\n")
            self.git("add", "--all")
            self.git("commit", "--quiet", "--message", subject)

    def add_queues(self) -> None:
        """Declares the queues of kit_queues.swift as well."""
        shutil.copy(Path(__file__).parent / "kit_queues.swift", self.package / "Sources" / self.name / "MoreQueues.swift")
        _edit(
            self.package / "Package.swift", '.product(name: "OpBenchKit", package: "opbench")',
            '.product(name: "OpBenchKit", package: "opbench"), .product(name: "OperationEngine", package: "opbench")',
        )  # fmt: skip
        declared = """OpBenchMain.run(backends: [
    Backend("through", "The engine, through OpBenchKit.", limits: 1...64) { EngineQueue(limit: $0.limit) },
    Backend("twice", "Runs all work twice.") { _ in TwiceQueue() },
"""
        _edit(self.package / "Sources" / self.name / "main.swift", "OpBenchMain.run(backends: [\n", declared)

    def git(self, *words: str) -> None:
        settings = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", "-C", self.package, *settings, *words], check=True)

    def build(self) -> None:
        command = ["swift", "build", "--configuration", self.configuration, "--package-path", self.package]
        command += ["--scratch-path", self.scratch]
        ended = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ended.returncode != 0:
            raise Unexpected("the package does not build:\n" + "\n".join(ended.stdout.splitlines()[-20:]))

    def run(self, *words: object, **how: object) -> str:
        """What the program prints to standard output."""
        return self.ended(*words, **how).stdout

    def ended(
        self, *words: object, ends: tuple[int, ...] = (0,), where: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        program = self.scratch / self.configuration / self.name
        ended = subprocess.run(
            [str(word) for word in (program, *words)], cwd=where or self.folder, env=self.environment,
            capture_output=True, text=True,
        )
        if ended.returncode not in ends:
            raise Unexpected(f"{words[0]} ended with {ended.returncode}:\n{ended.stderr}")
        return ended

    def workload(self, shape: str, parameters: dict, *backends: str) -> Path:
        file = self.folder / f"{shape}.json"
        text = {"name": shape, "summary": "s", "shape": shape, "parameters": parameters, "backends": backends}
        file.write_text(json.dumps(text), encoding="utf-8")
        return file

    def samples(self, run: str) -> list[dict[str, str]]:
        return read(self.folder / "results" / run / "samples.csv")


def prove_rows(example: Example, backend: str, suspends: bool, refused: dict[str, str]) -> str:
    """Rows of every kind for what the queue can express, beside Dispatch's, and reasons for the rest."""
    files = [example.workload(shape, parameters, backend, "dispatch") for shape, parameters in SHAPES.items()]
    if suspends:
        files.append(example.workload("memory_fence", {"operations": 500}, backend, "dispatch"))
    files += [example.workload(shape, {}, backend) for shape in refused]
    example.run("run", "--quick", "--no-progress", "--run-id", "rows", *files)
    rows = example.samples("rows")
    mine = [row for row in rows if row["backend"] == backend]
    for shape in [*SHAPES, *(["memory_fence"] if suspends else [])]:
        for name in (backend, "dispatch"):
            statuses = {row["status"] for row in rows if row["workload"] == shape and row["backend"] == name}
            if statuses != {"ok"}:
                raise Unexpected(f"{shape} on {name} is {statuses or 'missing'}")
    for shape, lacking in refused.items():
        reasons = {(row["status"], row["notes"]) for row in mine if row["workload"] == shape}
        if len(reasons) != 1 or not all(status == "unsupported" and lacking in note for status, note in reasons):
            raise Unexpected(f"{shape} is to be unsupported for want of {lacking}: {reasons}")
    wanted = {"time", "cpu_time", "start_latency", "allocations", "peak_resident", "high_water"}
    missing = wanted - {row["metric"] for row in mine}
    if missing:
        raise Unexpected(f"no figures of {sorted(missing)}")
    counted = [row for row in mine if row["metric"] == "allocations" and row["workload"] == "independent"]
    if not counted or not all(float(row["value"]) >= int(row["operations"]) for row in counted):
        raise Unexpected("a closure for each operation, and fewer allocations: malloc is not jemalloc's")
    return f"{len(SHAPES) + suspends} shapes measured, {len(refused)} refused with a reason, {len(mine)} rows"


def _edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise Unexpected(f"{file} has not {old!r}")
    file.write_text(text.replace(old, new), encoding="utf-8")


def prove_twice(example: Example) -> str:
    """A queue that runs work twice, on threads of its own: samples that say so, in every shape of closures."""
    files = [example.workload(shape, parameters, "twice") for shape, parameters in SHAPES.items() if shape != "blocking"]
    example.run("run", "--quick", "--no-progress", "--blocks", "2", "--run-id", "twice", *files, ends=(BAD_SAMPLE,))
    rows = example.samples("twice")
    endings = Counter((row["status"], row["notes"]) for row in rows if row["metric"] == "status")
    wrong = [(status, note) for status, note in endings if status != "invalid" or "more" not in note]
    if wrong or not endings:
        raise Unexpected(f"work that ran twice is told as {wrong}")
    return f"{endings.total()} samples, all invalid: {endings.most_common(1)[0][0][1]}"


def prove_overhead(example: Example, is_short: bool) -> str:
    """The engine costs hardly more as a declared queue than as a built-in backend."""
    file = example.folder / "through.json"
    text = {"name": "through", "summary": "s", "shape": "independent", "backends": ["engine", "through"],
            "parameters": {"items": 20_000, "work_ns": 0, "max_concurrent": 1}}  # fmt: skip
    file.write_text(json.dumps(text), encoding="utf-8")
    example.run("run", "--quick", "--no-progress", "--metric", "memory", "--run-id", "through", file)
    allocations = {
        name: statistics.median(
            float(row["value"]) / int(row["operations"]) for row in example.samples("through")
            if row["metric"] == "allocations" and row["backend"] == name)
        for name in ("engine", "through")
    }  # fmt: skip
    found = [f"{allocations['through']:.4f} allocations an operation beside {allocations['engine']:.4f}"]
    is_cheap = allocations["through"] - allocations["engine"] <= MOST_ALLOCATIONS
    # Of a build that is not optimised, instructions say nothing.
    if not is_short:
        folder = example.folder / "costs"
        folder.mkdir()
        program = example.scratch / example.configuration / example.name
        try:
            own, through, ratio = kit_costs.ratio(program, file, ("engine", "through"), 3, folder)
        except kit_costs.Uncounted as problem:
            raise Unexpected(f"instructions are not counted: {problem}") from problem
        is_cheap = is_cheap and through - own <= MOST_INSTRUCTIONS
        found.append(f"{through:.1f} instructions beside {own:.1f}, {ratio:.4f}×")
    if not is_cheap:
        raise Unexpected(
            f"the kit adds more than {MOST_INSTRUCTIONS} instructions and {MOST_ALLOCATIONS} allocations: {'; '.join(found)}"
        )
    return "; ".join(found)


def prove_profile(example: Example, backend: str) -> str:
    """A trace."""
    file = example.workload("chain", SHAPES["chain"], backend)
    text = example.run("profile", "--no-progress", "--seconds", "0.05", "--kind", "trace", "--output", "out", file)
    files = list((example.folder / "out").rglob("trace.perfetto-trace"))
    if "trace, by time stamps at every operation: " not in text or len(files) != 1:
        raise Unexpected("no trace")
    return f"a trace of {files[0].stat().st_size} bytes"


def prove_gate(example: Example, backend: str) -> str:
    """Two runs, and a verdict about the queue."""
    file = example.workload("independent", SHAPES["independent"], backend, "dispatch")
    for name in ("a", "b"):
        example.run("run", "--quick", "--no-progress", "--metric", "throughput", "--run-id", name, file)
    table = example.run("gate", "--baseline", "a", "--candidate", "b", ends=GATE_ENDS)
    verdict = next((line for line in table.splitlines() if line.startswith("gate: ")), None)
    if "time_ratio" not in table or verdict is None:
        raise Unexpected(f"nothing about the queue is judged:\n{table}")
    return verdict


def _has_changes() -> bool:
    command = ["git", "-C", ROOT, "status", "--porcelain", "--", "."]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout != ""


def prove_refs(example: Example, backend: str) -> str:
    """Two commits, built in a work tree; then the same again, of which nothing is built."""
    file = example.workload("independent", SHAPES["independent"], backend, "dispatch")
    times = []
    for run in ("refs", "again"):
        begun = time.monotonic()
        ended = example.ended(
            "ab", "--base-ref", "HEAD~1", "--quick", "--no-progress", "--blocks", "1", "--run-id", run, "--output",
            example.folder / "results", "--metric", "throughput", file, where=example.package,
        )
        times.append(time.monotonic() - begun)
        sides = {row["side"] for row in example.samples(run)}
        if sides != {"base", "head"}:
            raise Unexpected(f"the rows have the sides {sides}")
        kept = ended.stderr.count("was built before")
        # Programs made of a clone of opbench that has changes are made anew.
        if kept != (0 if run == "refs" or _has_changes() else 2):
            raise Unexpected(f"{kept} of the two sides were built before:\n{ended.stderr}")
    return f"two sides, {times[0]:.0f} s with the builds and {times[1]:.0f} s without"


def prove(name: str, is_short: bool) -> bool:
    backend, suspends, refused = EXPECTED[name]
    with tempfile.TemporaryDirectory(prefix="opbench-kit-") as folder:
        example = Example(name, "debug" if is_short else "release", Path(folder))
        steps = [
            ("build", lambda: example.build() or example.configuration),
            ("rows", lambda: prove_rows(example, backend, suspends, refused)),
            ("profile", lambda: prove_profile(example, backend)),
            ("gate", lambda: prove_gate(example, backend)),
        ]
        if name in WITH_MORE_QUEUES:
            steps.append(("twice", lambda: prove_twice(example)))
            steps.append(("overhead", lambda: prove_overhead(example, is_short)))
        if not is_short:
            steps.append(("commits", lambda: prove_refs(example, backend)))
        for step, attempt in steps:
            begun = time.monotonic()
            try:
                print(f"{name} {step}: {attempt()} ({time.monotonic() - begun:.0f} s)", flush=True)
            except Unexpected as problem:
                print(f"{name} {step}: DOES NOT HOLD: {problem}", flush=True)
                return False
    return True


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="prove-kit", description=__doc__)
    parser.add_argument("--short", action="store_true", help="debug builds, and no commits")
    parser.add_argument("--only", choices=[*EXPECTED], help="one of the packages")
    options = parser.parse_args(arguments)
    held = [prove(name, options.short) for name in ([options.only] if options.only else EXPECTED)]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
