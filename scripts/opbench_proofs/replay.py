"""The command of scripts/prove-replay."""

import shutil
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from opbench_proofs import replay_programs, replay_schedule
from opbench_proofs.arguments import Arguments, keep
from opbench_proofs.tool import OpBench, ToolFailure


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    parser = Arguments(prog="prove-replay", add_help=False)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--short", action="store_true")
    parsed = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="prove-replay-"))
    found = []
    try:
        tool, times = OpBench(parsed.binary, folder), 1 if parsed.short else 7
        for proof in (replay_schedule, replay_programs):
            for claim in proof.claims(tool, times):
                found.append(claim)
                print(
                    f"{claim.load}{f', {claim.change}' if claim.change else ''}: {claim.figure} expected "
                    f"{claim.expected:.3f}, replayed {claim.replayed:.3f} ({claim.difference:+.1%})"
                    f"{'' if claim.held else ' DID NOT HOLD'}",
                    flush=True,
                )
    except ToolFailure as failure:
        print(f"prove-replay: {failure}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder)
    keep("replay", [asdict(one) | {"held": one.held} for one in found])
    return 0 if found and all(one.held for one in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
