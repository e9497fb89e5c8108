"""Proof 9: intervals and verdicts on forged figures, whose true values are known."""

import csv
import json
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from opbench_proofs.binomial import is_beyond_chance
from opbench_proofs.blocks import STAGES, Row
from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import INCONCLUSIVE, PASS, REGRESSION, OpBench
from opbench_rows import parse, read

TITLE = "Coverage: intervals contain the truth as often as they claim, and gates err as rarely as they claim"
MISSED = 0.05
"""The rate at which an interval of 95 % misses the truth."""
ALPHA = 0.01
MARGIN = 0.02
EFFECTS = {"equal": 1.0, "worse by the margin": 1 + MARGIN}
POLICY = {
    "version": 1,
    "alpha": ALPHA,
    "rules": [{"metric": metric, "phase": "total", "max_regression": MARGIN} for metric in ("time", "time_ratio")],
}
WORKLOAD = {
    "name": "proof-coverage", "summary": "A template for forged rows", "shape": "independent",
    "parameters": {"items": 1000, "work_ns": 0}, "backends": ["engine", "dispatch"], "sample_kinds": ["throughput"],
}  # fmt: skip
LEAST_BLOCKS = 15
"""The number of blocks that a regression needs."""
SCALE = 0.01
"""The relative size of a disturbance of 1."""
TIME = 1e9


@dataclass
class Noise:
    """The disturbance of samples: of their logarithm, in units of `SCALE`."""

    draw: Callable[[random.Random], float]
    median: float


NOISES = {
    "normal noise": Noise(lambda numbers: numbers.gauss(0, 1), 0),
    "skewed noise": Noise(lambda numbers: numbers.expovariate(1), math.log(2)),
    # Student's t with two degrees of freedom, whose variance is infinite.
    "heavy tails": Noise(lambda numbers: numbers.gauss(0, 1) / math.sqrt(numbers.expovariate(1)), 0),
}


@dataclass
class Tally:
    """Counts errors that may occur at some rate."""

    what: str
    rate: float
    wrong: int = 0
    cases: int = 0

    def count(self, wrong: Iterable[bool]) -> None:
        for one in wrong:
            self.wrong += one
            self.cases += 1

    @property
    def is_refuted(self) -> bool:
        return is_beyond_chance(self.wrong, self.cases, self.rate)

    def __str__(self) -> str:
        share = self.wrong / self.cases
        return f"{self.what} {share:.2%} of {self.cases} (at most {self.rate:.0%}{'; refuted' if self.is_refuted else ''})"


def prove(setting: Setting) -> Outcome:
    """Forges runs of many cells, half of them equal on both sides and half worse by exactly the margin, and has the gate judge
    them, stage by stage as if `ab` had measured them, and as separate runs. Counts the intervals that miss the truth, the
    figures worse by the margin that passed at some stage, and the equal figures whose p-value is below their look's part of
    alpha.

    The random numbers are always the same. A rate is refuted if this many cases occur less than once in a thousand times.
    """
    cells, stages = (500, STAGES[:-1]) if setting.is_short else (1000, STAGES)
    tool, figures, refuted = setting.tool, [], False
    tool.write("policy.json", POLICY)
    sides = Template(tool, ["ab", str(tool.binary), str(tool.binary)], {"stages": list(STAGES)})
    run = Template(tool, ["run"], {})
    for name, noise in NOISES.items():
        numbers = random.Random(name)
        tallies, others = _interleaved(tool, sides, noise, numbers, 2 * cells, stages)
        tallies += _apart(tool, run, noise, numbers, 2 * cells)
        refuted = refuted or any(tally.is_refuted for tally in tallies)
        figures.append(f"{name}: " + "; ".join([*map(str, tallies), *others]))
    return Outcome(Verdict.of(not refuted), figures)


def effect(cell: int) -> float:
    """The ratio of the new side's figure to the other's in a cell."""
    return list(EFFECTS.values())[cell % 2]


def cell_id(cell: int) -> str:
    return f"proof-coverage items={cell + 1}"


class Template:
    """A real run, whose columns and description forged runs have."""

    def __init__(self, tool: OpBench, command: list[str], members: dict[str, object]) -> None:
        self.tool = tool
        workload = tool.write("coverage.json", WORKLOAD)
        tool.run(*command, workload, "--run-id", command[0], "--blocks", "1", "--quick", "--no-progress")
        samples = tool.samples(command[0])
        description = json.loads(samples.with_name("run.json").read_text(encoding="utf-8"))
        self.description = json.dumps(description | members)
        rows = read(samples)
        self.columns = list(rows[0])
        self.row = next(row for row in rows if (row["metric"], row["stat"], row["phase"]) == ("time", "total", "total"))
        self.row |= {"iteration": "", "sample_flags": ""}
        self.written = 0

    def write(self, times: Iterable[tuple[int, str, str, int, float]]) -> str:
        """Writes a run: cell, backend, side, block and time of each sample. Returns its name."""
        self.written += 1
        name = f"{self.row['run_id']}-{self.written}"
        changed = ["sample_id", "cell_id", "param_items", "backend", "side", "block", "value"]
        places = [self.columns.index(column) for column in changed]
        folder = self.tool.folder / name
        folder.mkdir()
        (folder / "run.json").write_text(self.description, encoding="utf-8")
        with open(folder / "samples.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            for number, (cell, backend, side, block, time) in enumerate(times):
                row = [self.row[column] for column in self.columns]
                values = [f"{number}-throughput", cell_id(cell), cell + 1, backend, side, block, repr(time)]
                for place, value in zip(places, values, strict=True):
                    row[place] = str(value)
                writer.writerow(row)
        return name


def judged(tool: OpBench, metric: str, *words: str) -> dict[int, Row]:
    """The gate's rows of a metric by cell, in the columns of compare.csv."""
    tool.run("gate", *words, "--policy", "policy.json", "--csv", "judged.csv", allowed=(PASS, REGRESSION, INCONCLUSIVE))
    rows = [row for row in read(tool.folder / "judged.csv") if row["metric"] == metric and row["backend"] == "engine"]
    return {int(row["cell_id"].rpartition("=")[2]) - 1: row for row in rows}


def misses(row: Row, truth: float, low: str = "ci_low", high: str = "ci_high") -> bool:
    """Whether the truth is outside an interval."""
    return not float(row[low]) <= truth <= float(row[high])


def _interleaved(
    tool: OpBench, template: Template, noise: Noise, numbers: random.Random, cells: int, stages: tuple[int, ...]
) -> tuple[list[Tally], list[str]]:
    def time(factor: float) -> float:
        return TIME * factor * math.exp(SCALE * noise.draw(numbers))

    times = [[(time(1), time(effect(cell))) for _ in range(stages[-1])] for cell in range(cells)]
    passed, alarmed, regressed = set(), set(), set()
    looks = sum(stage >= LEAST_BLOCKS for stage in STAGES)
    tallies = []
    for stage in stages:
        name = template.write(
            (cell, "engine", side, block, pair[place])
            for cell in range(cells)
            for block, pair in enumerate(times[cell][:stage])
            for place, side in enumerate(("base", "head"))
        )
        rows = judged(tool, "time", "--ab", name)
        tallies.append(Tally(f"intervals of {stage} pairs miss the truth in", MISSED))
        tallies[-1].count(misses(rows[cell], effect(cell)) for cell in range(cells))
        passed |= {cell for cell in range(cells) if rows[cell]["verdict"] in ("pass", "improved")}
        if stage >= LEAST_BLOCKS:
            alarmed |= {cell for cell in range(cells) if float(rows[cell]["p"]) < ALPHA / looks}
            regressed |= {cell for cell in range(cells) if rows[cell]["verdict"] == "regression"}
    equal, worse = ([cell for cell in range(cells) if effect(cell) == one] for one in EFFECTS.values())
    for what, those, found in (("worse by the margin pass", worse, passed), ("equal ones have a low p", equal, alarmed)):
        tallies.append(Tally(what, ALPHA))
        tallies[-1].count(cell in found for cell in those)
    return tallies, [
        f"equal ones pass {len(passed.intersection(equal)) / len(equal):.0%}",
        f"{len(regressed.intersection(equal))} of them called worse",
    ]


def _apart(tool: OpBench, template: Template, noise: Noise, numbers: random.Random, cells: int) -> list[Tally]:
    """Judges ratios to Dispatch of separate runs, and a single run's medians and ratios within blocks."""
    base, head = (
        template.write(
            (cell, backend, "", block, TIME * factor * math.exp(SCALE * noise.draw(numbers)))
            for cell in range(cells)
            for block in range(LEAST_BLOCKS)
            for backend, factor in (("engine", effect(cell) if is_head else 1.0), ("dispatch", 2.0))
        )
        for is_head in (False, True)
    )
    rows = judged(tool, "time_ratio", "--baseline", base, "--candidate", head)
    apart = Tally(f"intervals of runs apart, {LEAST_BLOCKS} blocks each, in", MISSED)
    apart.count(misses(rows[cell], effect(cell)) for cell in range(cells))
    passes = Tally("worse by the margin pass there", ALPHA)
    passes.count(rows[cell]["verdict"] in ("pass", "improved") for cell in range(cells) if effect(cell) > 1)
    shown = parse(tool.run("show", base, "--format", "csv").stdout, "show")
    shown = [row for row in shown if row["backend"] == "engine"]
    medians = Tally("intervals of medians in", MISSED)
    middle = TIME / float(template.row["operations"]) * math.exp(SCALE * noise.median)
    medians.count(misses(row, middle, "time_ns_per_op_ci_low", "time_ns_per_op_ci_high") for row in shown)
    ratios = Tally("intervals of ratios to Dispatch in", MISSED)
    ratios.count(misses(row, 0.5, "time_ratio_ci_low", "time_ratio_ci_high") for row in shown)
    return [apart, passes, medians, ratios]
