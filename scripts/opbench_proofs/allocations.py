"""Proof 3: one more allocation per operation is always detected."""

from opbench_proofs.binomial import lower_bound
from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import REGRESSION, WORK

TITLE = "One more allocation per operation is always detected"


def prove(setting: Setting) -> Outcome:
    """Runs gates only on counts, with and without the allocation."""
    gates = 5 if setting.is_short else 50
    tool = setting.tool
    workload = tool.write("memory.json", WORK | {"name": "proof-memory", "sample_kinds": ["memory"]})
    policy = tool.write(
        "allocations.json",
        {"version": 1, "rules": [{"backend": "engine", "metric": "allocations", "max_regression": 0, "min_absolute": 0.05}]},
    )
    caught = alarms = 0
    for number in range(gates):
        tool.ab(f"more-{number}", workload, "--inject-allocations", "1", "--policy", policy)
        caught += tool.gate("--ab", f"more-{number}", "--policy", policy).status == REGRESSION
        tool.ab(f"equal-{number}", workload, "--policy", policy)
        alarms += tool.gate("--ab", f"equal-{number}", "--policy", policy).status != 0
    figures = [
        f"detected in {caught} of {gates} gates (with 95 % confidence in at least {lower_bound(caught, gates):.1%})",
        f"{alarms} of {gates} gates on equal builds did not pass",
    ]
    return Outcome(Verdict.of(caught == gates and alarms == 0), figures)
