"""Proof 10: opbench's forms of Dispatch and oneTBB take as long as programs written by hand for the shape."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import OpBench, ToolFailure
from opbench_rows import read

TITLE = "Adapters: opbench's forms of Dispatch and oneTBB take as long as programs written by hand"
SOURCES = {
    "dispatch": ("adapters.swift", "swiftc", "-O", "-wmo", "-swift-version", "6", "-parse-as-library"),
    "tbb": ("adapters.cpp", "clang++", "-O2", "-std=c++17", "-ltbb"),
}
"""The programs, by the first word of their backends: the source, the compiler and its options."""
SOURCE_FOLDER = Path(__file__).parent
SHAPES = {
    "tiny": ("independent", {"items": 20000, "items_per_operation": 1}),
    "refill": ("independent", {"items": 20000, "items_per_operation": 1, "submission": "refill", "window": 256}),
    "chain": ("chain", {"depth": 2000, "chains": 8}),
    "layered": ("graph", {"kind": "layered_random", "width": 64, "layers": 100, "degree": 3}),
}
"""By the programs' names: the shape, and the programs' built-in parameters."""
FORMS = {
    "dispatch": ("closure", SHAPES), "dispatch:function": ("function", SHAPES),
    "tbb": ("group", SHAPES), "tbb:flow": ("flow", ["chain", "layered"]),
}  # fmt: skip
"""By backend: the name of the form in its program, and the shapes that have it."""
Cell = tuple[str, str]
"""A shape and a backend."""
MOST, MOST_SHORT = 1.05, 2.0
"""Limits of the ratio to the program's time. The short form looks only for defects: between processes, the time of one and
the same program varies by half."""
TURNS, TURNS_SHORT = 15, 5


def prove(setting: Setting) -> Outcome:
    """Measures adapters and programs in turns, each in a process, and compares the two of each turn.

    A cell exceeds the limit if even the second least of 15 ratios does, or the least of 5: a median at the limit does that
    once in 2,000 times, or in 32.
    """
    cells, missing = cells_of(setting.tool)
    programs = {source: _build(setting.tool, source) for source in SOURCES if any(_source(cell) == source for cell in cells)}
    for shape, (kind, parameters) in SHAPES.items():
        workload = {"name": shape, "summary": "A shape that a program is written for", "shape": kind,
                    "parameters": parameters | {"work_ns": 0}, "backends": [backend for name, backend in cells if name == shape],
                    "sample_kinds": ["throughput"]}  # fmt: skip
        setting.tool.write(f"{shape}.json", workload)
    turns, limit = (TURNS_SHORT, MOST_SHORT) if setting.is_short else (TURNS, MOST)
    ratios: dict[Cell, list[float]] = {cell: [] for cell in cells}
    times: dict[Cell, list[float]] = {cell: [] for cell in cells}
    for turn in range(turns):
        by_hand = _program_times(programs, cells) if turn % 2 else {}
        measured = _adapter_times(setting.tool, f"turn-{turn}")
        by_hand = by_hand or _program_times(programs, cells)
        for key in ratios:
            ratios[key].append(measured[key] / by_hand[key])
            times[key].append(by_hand[key])
    figures, judged = missing, []
    for (shape, backend), found in ratios.items():
        judged.append(judge(found, limit))
        figures.append(
            f"{shape}, {backend}: {median(times[shape, backend]):.0f} ns per operation by hand; adapter ÷ program "
            f"{median(found):.3f} ({min(found):.3f} to {max(found):.3f})"
        )
    return Outcome(next((one for one in (Verdict.REFUTED, Verdict.UNDECIDED) if one in judged), Verdict.HELD), figures)


def judge(ratios: Sequence[float], limit: float) -> Verdict:
    """Refuted if beyond the limit, held if the median is within it, otherwise undecided."""
    if sorted(ratios)[len(ratios) // 8] > limit:
        return Verdict.REFUTED
    return Verdict.HELD if median(ratios) <= limit else Verdict.UNDECIDED


def _source(cell: Cell) -> str:
    return cell[1].split(":")[0]


def cells_of(tool: OpBench) -> tuple[list[Cell], list[str]]:
    """What this opbench can measure, and the figure that says what it cannot."""
    cells = [(shape, backend) for backend, (_, shapes) in FORMS.items() for shape in shapes]
    probe = {"name": "probe", "summary": "Whether this opbench has oneTBB", "shape": "independent", "parameters": {"items": 1},
             "backends": ["serial"]}  # fmt: skip
    asked = tool.run("list", tool.write("probe.json", probe), "--backend", "tbb", allowed=(0, 64))
    if asked.returncode == 0:
        return cells, []
    if "built without tbb" not in asked.stderr:
        raise ToolFailure(f"opbench list ended with {asked.returncode}: {asked.stderr.strip()}")
    left_out = [backend for backend in FORMS if backend.startswith("tbb")]
    figure = f"{', '.join(left_out)}: not tested, because this opbench was built without oneTBB (OPBENCH_PEERS=1)"
    return [cell for cell in cells if cell[1] not in left_out], [figure]


def _build(tool: OpBench, program: str) -> Path:
    """Builds a program with opbench's allocator, and with the oneTBB that lies beside it."""
    source, compiler, *options = SOURCES[program]
    built_program = tool.folder / f"by-hand-{program}"
    allocator = [] if "system malloc" in tool.run("--version").stdout else ["-ljemalloc"]
    if program == "tbb":
        options.append(f"-Wl,-rpath,{tool.binary.resolve().parent}")
    command = [compiler, str(SOURCE_FOLDER / source), "-o", str(built_program), *options, *allocator]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise ToolFailure(f"{source} cannot be built: {built.stderr.strip()}")
    return built_program


def _program_times(programs: dict[str, Path], cells: Sequence[Cell]) -> dict[Cell, float]:
    def take(cell: Cell) -> float:
        program, (shape, backend) = programs[_source(cell)], cell
        form = FORMS[backend][0]
        done = subprocess.run([program, shape, form], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolFailure(f"{program.name} {shape} {form} ended with {done.returncode}: {done.stderr.strip()}")
        return float(done.stdout)

    return {cell: take(cell) for cell in cells}


def _adapter_times(tool: OpBench, run_id: str) -> dict[Cell, float]:
    tool.run("run", *(f"{shape}.json" for shape in SHAPES), "--run-id", run_id, "--no-progress", "--blocks", "1")
    return {
        (row["workload"], row["backend"]): float(row["value"]) / int(row["operations"])
        for row in read(tool.samples(run_id))
        if (row["metric"], row["stat"], row["phase"], row["status"]) == ("time", "total", "total", "ok")
    }
