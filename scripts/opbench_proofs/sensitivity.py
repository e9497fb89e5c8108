"""Proof 2: a slowdown of a known size is detected, and how often, by its size."""

import random
from pathlib import Path

from opbench_proofs.binomial import is_beyond_chance, lower_bound
from opbench_proofs.blocks import Draw, Recording, draw_gates, only, paired_gate
from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import INCONCLUSIVE, REGRESSION, WORK, Gate, OpBench

TITLE = "A slowdown of 5 % is detected"
EFFECT = 0.05
POWER = 0.95
MOST_SECONDS = 180
UNPAIRED_BLOCKS = 15


def prove(setting: Setting) -> Outcome:
    """Runs measured gates at 5 %, and draws the curve of power against effect from recorded blocks.

    The short form's few gates may miss one by chance. It fails if more miss it than the claimed power allows once in a
    thousand times. A gate that is inconclusive and reports that it detects only more than 5 % has missed nothing, and if all
    are, the proof is undecided. The time is not judged, because a busy machine affects it.
    """
    tool = setting.tool
    workload = tool.write("work.json", WORK)
    gates = 4 if setting.is_short else 20
    caught, undecided, longest = 0, 0, 0.0
    for number in range(gates):
        run_id = f"slow-{number}"
        seconds = tool.ab(run_id, workload, "--inject-slowdown", str(EFFECT), "--seed", str(number))
        gate = tool.gate("--ab", run_id)
        caught += gate.status == REGRESSION
        undecided += was_too_busy(gate)
        longest = max(longest, seconds + gate.seconds)
    figures = [
        f"detected in {caught} of {gates} measured paired gates "
        f"(with 95 % confidence in at least {lower_bound(caught, gates):.1%}), each within {longest:.0f} s",
    ]
    if undecided:
        figures.append(f"{undecided} reported that they detect only more than {EFFECT:.0%}")
    figures += _curves(setting)
    if setting.is_short:
        return Outcome(verdict_of_few(caught, gates - caught - undecided), figures)
    return Outcome(Verdict.of(caught >= POWER * gates and longest <= MOST_SECONDS), figures)


def verdict_of_few(caught: int, missed: int) -> Verdict:
    """The verdict on the power, from gates that could have detected the slowdown."""
    if caught == missed == 0:
        return Verdict.UNDECIDED
    return Verdict.of(not is_beyond_chance(missed, caught + missed, 1 - POWER))


def was_too_busy(gate: Gate) -> bool:
    """Whether a gate is inconclusive, and reports for each figure that it would not detect such a slowdown."""
    return gate.status == INCONCLUSIVE and all(
        row.detects is None or row.detects > EFFECT for row in gate.rows()
    )


def _curves(setting: Setting) -> list[str]:
    """The share of gates that detect an effect, by its size: interleaved, and in runs from different times."""
    effects = [0.0, EFFECT] if setting.is_short else [0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.10]
    blocks, drawn = (15, 10) if setting.is_short else (60, 200)
    tool = setting.tool
    workload = tool.write("ratio.json", WORK | {"name": "proof-ratio", "backends": ["engine", "dispatch"]})
    recordings = {}
    for effect in effects:
        run_id = f"effect-{effect:g}"
        tool.ab(run_id, workload, "--backend", "engine,dispatch", "--blocks", str(blocks), "--inject-slowdown", str(effect))
        recordings[effect] = Recording(tool.samples(run_id))
    paired, unpaired = [], []
    for number, effect in enumerate(effects):
        interleaved = draw_gates(tool, drawn, number, paired_gate(recordings[effect]))
        apart = draw_gates(tool, drawn, number, _unpaired_gate(recordings[0.0], recordings[effect]))
        paired.append(_share_caught(interleaved))
        unpaired.append(_share_caught(apart))
    _draw(setting.output / "power.svg", effects, paired, unpaired)
    names = ", ".join(f"{effect:.0%}" for effect in effects)
    return [
        f"power at slowdowns of {names}, interleaved (time, CPU time): " + ", ".join(f"{share:.0%}" for share in paired),
        f"in runs from different times (time ÷ Dispatch's, {UNPAIRED_BLOCKS} blocks each): "
        + ", ".join(f"{share:.0%}" for share in unpaired),
        "an unpaired gate reports about itself: " + _own_power(apart[-1]),
        f"the curves are in {setting.output / 'power.svg'}",
    ]


def _share_caught(gates: list[Gate]) -> float:
    return sum(gate.status == REGRESSION for gate in gates) / len(gates)


def _unpaired_gate(base: Recording, head: Recording) -> Draw:
    """Draws gates on blocks of two runs with the default policy, ignoring which were taken together."""

    def draw(tool: OpBench, random_numbers: random.Random, name: str) -> Gate:
        for recording, side in ((base, "base"), (head, "head")):
            numbers = random_numbers.sample(recording.numbers(), min(UNPAIRED_BLOCKS, len(recording.blocks)))
            recording.write(recording.draw(numbers, only(side)), tool.folder / f"{name}-{side}")
        return tool.gate("--baseline", f"{name}-base", "--candidate", f"{name}-head", "--lenient")

    return draw


def _own_power(gate: Gate) -> str:
    """The content of an unpaired gate's column `detects`."""
    row = next(row for row in gate.rows() if row.backend == "engine" and row.figure.startswith("time_ratio"))
    return "nothing" if row.detects is None else f"detects {row.detects:.2%} in 95 of 100 cases"


def _draw(path: Path, effects: list[float], paired: list[float], unpaired: list[float]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    percent = [effect * 100 for effect in effects]
    axes.plot(percent, [share * 100 for share in paired], "o-", label="two interleaved builds (7 to 40 blocks)")
    axes.plot(percent, [share * 100 for share in unpaired], "s--", label=f"separate runs ({UNPAIRED_BLOCKS} blocks each)")
    axes.set_xlabel("injected slowdown (%)")
    axes.set_ylabel("gates that report a regression (%)")
    axes.set_ylim(-3, 103)
    axes.legend()
    figure.savefig(path)
