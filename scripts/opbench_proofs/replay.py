"""The command of scripts/prove-replay."""

import argparse
import tempfile
from dataclasses import asdict
from pathlib import Path

from opbench_proofs import replay_programs, replay_schedule
from opbench_proofs.arguments import keep, run
from opbench_proofs.tool import OpBench


def prove(options: argparse.Namespace) -> bool:
    """Prints and keeps all claims, and says whether they held."""
    found = []
    with tempfile.TemporaryDirectory(prefix="prove-replay-") as folder:
        tool, times = OpBench(options.binary, Path(folder)), 1 if options.short else 7
        for proof in (replay_schedule, replay_programs):
            for claim in proof.claims(tool, times):
                found.append(claim)
                print(
                    f"{claim.load}{f', {claim.change}' if claim.change else ''}: {claim.figure} expected "
                    f"{claim.expected:.3f}, replayed {claim.replayed:.3f} ({claim.difference:+.1%})"
                    f"{'' if claim.held else ' DID NOT HOLD'}",
                    flush=True,
                )
    keep("replay", [asdict(one) | {"held": one.held} for one in found])
    return bool(found) and all(one.held for one in found)


if __name__ == "__main__":
    run("prove-replay", prove, {"--short": {"action": "store_true"}})
