"""Proof 1: equal builds are not called different."""

import random
from collections import Counter

from opbench_proofs.binomial import upper_bound
from opbench_proofs.blocks import Recording, is_alarm, paired_gate
from opbench_proofs.proof import Outcome, Setting
from opbench_proofs.tool import TINY, WORK

TITLE = "A/A: equal builds are not called different"


def prove(setting: Setting) -> Outcome:
    """Gates drawn from recorded blocks of one build against itself, and some measured as they are."""
    blocks, drawn, real = (25, 40, 2) if setting.is_short else (200, 300, 10)
    tool = setting.tool
    work = tool.write("work.json", WORK)
    workloads = [work] if setting.is_short else [work, tool.write("tiny.json", TINY)]
    statuses: Counter[int] = Counter()
    numbers = random.Random(1)
    for workload in workloads:
        run_id = f"aa-{workload.removesuffix('.json')}"
        tool.ab(run_id, workload, "--blocks", str(blocks))
        recording = Recording(tool.samples(run_id))
        for _ in range(drawn // len(workloads)):
            statuses[paired_gate(tool, recording, numbers)] += 1
    alarms = sum(count for status, count in statuses.items() if is_alarm(status))
    real_statuses: Counter[int] = Counter()
    for number in range(real):
        run_id = f"aa-real-{number}"
        tool.ab(run_id, work, "--seed", str(number))
        real_statuses[tool.gate("--ab", run_id).status] += 1
    real_alarms = sum(count for status, count in real_statuses.items() if is_alarm(status))
    gates = sum(statuses.values())
    figures = [
        f"{alarms} false alarms in {gates} gates drawn from {blocks * len(workloads)} recorded blocks "
        f"({statuses[0]} pass, {statuses[7]} inconclusive); "
        f"with 95 % confidence their rate is at most {upper_bound(alarms, gates):.2%}",
        f"{real_alarms} false alarms in {real} gates measured one by one "
        f"({real_statuses[0]} pass, {real_statuses[7]} inconclusive)",
    ]
    return Outcome(held=alarms <= 0.01 * gates and real_alarms == 0, figures=figures)
