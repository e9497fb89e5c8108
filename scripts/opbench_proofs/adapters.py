"""Proof 10: opbench's forms of Dispatch take as long as programs written by hand for the shape."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import OpBench, ToolFailure
from opbench_rows import read

TITLE = "Adapters: opbench's forms of Dispatch take as long as programs written by hand"
SOURCE = Path(__file__).with_name("adapters.swift")
FORMS = {"dispatch": "closure", "dispatch:function": "function"}
"""The backends, and their names in the program."""
SHAPES = {
    "tiny": ("independent", {"items": 20000, "items_per_operation": 1}),
    "refill": ("independent", {"items": 20000, "items_per_operation": 1, "submission": "refill", "window": 256}),
    "chain": ("chain", {"depth": 2000, "chains": 8}),
    "layered": ("graph", {"kind": "layered_random", "width": 64, "layers": 100, "degree": 3}),
}
"""By the program's names: the shape, and the program's built-in parameters."""
MOST, MOST_SHORT = 1.05, 2.0
"""Limits of the ratio to the program's time. The short form looks only for defects: between processes, the time of one and
the same program varies by half."""
TURNS, TURNS_SHORT = 15, 5


def prove(setting: Setting) -> Outcome:
    """Measures adapters and programs in turns, each in a process, and compares the two of each turn.

    A cell exceeds the limit if even the second least of 15 ratios does, or the least of 5: a median at the limit does that
    once in 2,000 times, or in 32.
    """
    program = _build(setting.tool)
    for shape, (kind, parameters) in SHAPES.items():
        workload = {"name": shape, "summary": "A shape that a program is written for", "shape": kind,
                    "parameters": parameters | {"work_ns": 0}, "backends": list(FORMS), "sample_kinds": ["throughput"]}  # fmt: skip
        setting.tool.write(f"{shape}.json", workload)
    turns, limit = (TURNS_SHORT, MOST_SHORT) if setting.is_short else (TURNS, MOST)
    ratios: dict[tuple[str, str], list[float]] = {(shape, backend): [] for shape in SHAPES for backend in FORMS}
    times: dict[tuple[str, str], list[float]] = {key: [] for key in ratios}
    for turn in range(turns):
        by_hand = _program_times(program) if turn % 2 else {}
        measured = _adapter_times(setting.tool, f"turn-{turn}")
        by_hand = by_hand or _program_times(program)
        for key in ratios:
            ratios[key].append(measured[key] / by_hand[key])
            times[key].append(by_hand[key])
    figures, judged = [], []
    for (shape, backend), found in ratios.items():
        judged.append(judge(found, limit))
        figures.append(
            f"{shape}, {backend}: {median(times[shape, backend]):.0f} ns per operation by hand; adapter ÷ program "
            f"{median(found):.3f} ({min(found):.3f} to {max(found):.3f})"
        )
    (setting.output / "ratios.json").write_text(
        json.dumps({" ".join(key): found for key, found in ratios.items()}, indent=2), encoding="utf-8"
    )
    return Outcome(next((one for one in (Verdict.REFUTED, Verdict.UNDECIDED) if one in judged), Verdict.HELD), figures)


def judge(ratios: Sequence[float], limit: float) -> Verdict:
    """Refuted if beyond the limit, held if the median is within it, otherwise undecided."""
    if sorted(ratios)[len(ratios) // 8] > limit:
        return Verdict.REFUTED
    return Verdict.HELD if median(ratios) <= limit else Verdict.UNDECIDED


def _build(tool: OpBench) -> Path:
    """Builds the program, with opbench's allocator."""
    program = tool.folder / "adapters"
    allocator = [] if "system malloc" in tool.run("--version").stdout else ["-ljemalloc"]
    command = ["swiftc", "-O", "-wmo", "-swift-version", "6", "-parse-as-library", str(SOURCE), "-o", str(program)]
    built = subprocess.run([*command, *allocator], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise ToolFailure(f"{SOURCE.name} cannot be built: {built.stderr.strip()}")
    return program


def _program_times(program: Path) -> dict[tuple[str, str], float]:
    def take(shape: str, form: str) -> float:
        done = subprocess.run([program, shape, form], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolFailure(f"{program.name} {shape} {form} ended with {done.returncode}: {done.stderr.strip()}")
        return float(done.stdout)

    return {(shape, backend): take(shape, form) for shape in SHAPES for backend, form in FORMS.items()}


def _adapter_times(tool: OpBench, run_id: str) -> dict[tuple[str, str], float]:
    tool.run("run", *(f"{shape}.json" for shape in SHAPES), "--run-id", run_id, "--no-progress", "--blocks", "1")
    return {
        (row["workload"], row["backend"]): float(row["value"]) / int(row["operations"])
        for row in read(tool.samples(run_id))
        if (row["metric"], row["stat"], row["phase"], row["status"]) == ("time", "total", "total", "ok")
    }
