"""Proof 1: equal builds are not reported as different."""

from collections import Counter
from pathlib import Path

from opbench_proofs.binomial import is_beyond_chance, upper_bound
from opbench_proofs.blocks import Recording, draw_gates, is_alarm, paired_gate
from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import TINY, WORK

TITLE = "A/A: equal builds are not reported as different"
RATE = 0.01
WORKLOADS = Path(__file__).resolve().parents[2] / "workloads"


def shipped() -> list[str]:
    """All shipped workloads, except those of the engine's goals, whose shapes are among these."""
    return [str(file) for folder in (WORKLOADS, WORKLOADS / "more") for file in sorted(folder.glob("*.json"))]


def prove(setting: Setting) -> Outcome:
    """Judges gates drawn from recorded blocks of one build against itself, with all figures of the default policy, and some gates
    measured directly. The long form draws from every shipped workload.

    The short form's few gates may contain a false alarm by chance. It fails if there are more than the rate causes once in a
    thousand times; all gates drawn from one recording share its blocks and count as one, by the majority of their verdicts.
    """
    blocks, drawn, real = (25, 40, 3) if setting.is_short else (40, 20, 10)
    tool = setting.tool
    work = tool.write("work.json", WORK)
    workloads = [work] if setting.is_short else [work, tool.write("tiny.json", TINY), *shipped()]
    statuses: Counter[int] = Counter()
    alarming_recordings = 0
    for number, workload in enumerate(workloads):
        run_id = f"aa-{Path(workload).stem}"
        tool.ab(run_id, workload, "--backend", "engine", "--blocks", str(blocks))
        recording = Recording(tool.samples(run_id))
        gates = draw_gates(tool, drawn, number, paired_gate(recording))
        drawn_here = Counter(gate.status for gate in gates)
        statuses += drawn_here
        alarming_recordings += 2 * _alarms(drawn_here) > drawn_here.total()
    real_statuses: Counter[int] = Counter()
    for number in range(real):
        run_id = f"aa-real-{number}"
        tool.ab(run_id, work, "--seed", str(number))
        real_statuses[tool.gate("--ab", run_id).status] += 1
    alarms, real_alarms, total = _alarms(statuses), _alarms(real_statuses), statuses.total()
    figures = [
        f"{alarms} false alarms in {total} gates drawn from {blocks} recorded blocks of each of {len(workloads)} "
        f"workloads "
        f"({statuses[0]} pass, {statuses[7]} inconclusive); "
        f"with 95 % confidence their rate is at most {upper_bound(alarms, total):.2%}",
        f"{real_alarms} false alarms in {real} gates measured one by one "
        f"({real_statuses[0]} pass, {real_statuses[7]} inconclusive)",
    ]
    if setting.is_short:
        held = not is_beyond_chance(alarming_recordings + real_alarms, len(workloads) + real, RATE)
    else:
        held = alarms <= RATE * total and real_alarms == 0
    return Outcome(Verdict.of(held), figures)


def _alarms(statuses: Counter[int]) -> int:
    return sum(count for status, count in statuses.items() if is_alarm(status))
