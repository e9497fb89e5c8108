"""Proof 2: a slowdown of a known size is detected."""

from opbench_proofs.binomial import is_beyond_chance, lower_bound
from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import INCONCLUSIVE, REGRESSION, WORK, Gate

TITLE = "A slowdown of 5 % is detected"
EFFECT = 0.05
POWER = 0.95
MOST_SECONDS = 180


def prove(setting: Setting) -> Outcome:
    """Runs measured gates at 5 %.

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
    return gate.status == INCONCLUSIVE and all(part is None or part > EFFECT for part in gate.detects())
