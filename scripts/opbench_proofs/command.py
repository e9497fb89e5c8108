"""The command line: runs the proofs and prints their results."""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from opbench_proofs import (
    accounts,
    adapters,
    allocations,
    coordinated_omission,
    coverage,
    drift,
    false_alarms,
    queueing,
    sensitivity,
    traces,
)
from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import OpBench, ToolFailure

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Proves that opbench's gates are right on this machine. The long form is the proof, on an idle machine: a claim that
cannot be decided has not held. The short form checks in some minutes that each proof works. Its few gates bound no rate
closely, so it fails only for results beyond chance: 1 and 2 if there are more false alarms or missed slowdowns than the
claimed rates cause once in a thousand times, 7 if the truth is outside an interval of twice the width, 8 if operations take
less than theory's minimum, 10 if an adapter always takes twice as long, 11 if a trace misses the plan in each of eight tries.
9 judges forged figures, the same each time, and measures nothing. 10 tests oneTBB's forms in an opbench built with
OPBENCH_PEERS=1, and otherwise says that it did not. A proof is undecided only if opbench itself reported
uncertainty: inconclusive gates that state a lower power than required (2, 7), samples flagged noisy (4, 7, 8; in 7, CPU time is
still judged), and in 10 ratios that scatter around the limit. 3, 5 and 6 count things that other load does not change, and
are judged alike in both forms."""

EXAMPLES = """\
examples:
  scripts/prove-measurement                      all proofs in their long form
  scripts/prove-measurement --short
  scripts/prove-measurement --only 2,7 --output results/proofs

exit codes: 0 every claim held (--short: or was undecided) · 1 one did not, or could not be tested · 64 bad usage"""

Proof = Callable[[Setting], Outcome]


def proofs() -> dict[int, tuple[str, Proof]]:
    """The proofs by number: the claim and its test."""
    modules = {
        1: false_alarms, 2: sensitivity, 3: allocations, 4: coordinated_omission, 7: drift, 8: queueing, 9: coverage,
        10: adapters, 11: traces,
    }  # fmt: skip
    found: dict[int, tuple[str, Proof]] = {number: (module.TITLE, module.prove) for number, module in modules.items()}
    for number, which in ((5, "memory"), (6, "accounts")):
        found[number] = (accounts.TITLES[which], lambda setting, which=which: accounts.prove(setting, which))
    return dict(sorted(found.items()))


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(64, f"prove-measurement: {message}\nSee scripts/prove-measurement --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    known = proofs()
    options = _parse(arguments, known)
    results = {}
    verdicts = set()
    for number in options.only or known:
        title, prove = known[number]
        print(f"{number}. {title}", flush=True)
        begun = time.monotonic()
        outcome = _tried(prove, number, options)
        seconds = time.monotonic() - begun
        for figure in outcome.figures:
            print(f"   {figure}")
        print(f"   {outcome.verdict.value}, {seconds:.0f} s", flush=True)
        verdicts.add(outcome.verdict)
        results[number] = {"claim": title, "verdict": outcome.verdict.value, "figures": outcome.figures, "seconds": round(seconds)}
    options.output.mkdir(parents=True, exist_ok=True)
    form = "short" if options.short else "long"
    text = json.dumps({"form": form, "proofs": results}, indent=2, ensure_ascii=False)
    (options.output / "proofs.json").write_text(text + "\n", encoding="utf-8")
    return 0 if verdicts <= ({Verdict.HELD, Verdict.UNDECIDED} if options.short else {Verdict.HELD}) else 1


def _tried(prove: Proof, number: int, options: argparse.Namespace) -> Outcome:
    output = options.output / str(number)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="opbench-proof-") as folder:
        try:
            return prove(Setting(OpBench(options.binary, Path(folder)), output, options.short))
        except ToolFailure as failure:
            return Outcome(Verdict.REFUTED, [str(failure)])


def _parse(arguments: list[str], known: dict[int, tuple[str, Proof]]) -> argparse.Namespace:
    parser = Arguments(
        prog="prove-measurement",
        description=DESCRIPTION + "\n\n" + "\n".join(f"  {number}  {title}" for number, (title, _) in known.items()),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--default-binary", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--binary", type=Path, help="the opbench to test (default: the one built here)")
    parser.add_argument("--short", action="store_true", help="fewer gates, for some minutes")
    parser.add_argument("--only", metavar="LIST", help="run only these proofs, by number, separated by commas")
    parser.add_argument(
        "--output", type=Path, metavar="DIR", default=ROOT / "results" / "proofs",
        help="the folder of the figures (default: results/proofs)",
    )
    options = parser.parse_args(arguments)
    options.binary = options.binary or options.default_binary
    if options.binary is None or not options.binary.is_file():
        parser.error(f"there is no program {options.binary}; give the path of a built opbench as --binary")
    options.output = options.output.resolve()
    if options.only is not None:
        try:
            options.only = [int(word) for word in options.only.split(",")]
        except ValueError:
            options.only = [0]
        if not set(options.only) <= set(known):
            parser.error(f"--only takes numbers from {min(known)} to {max(known)}")
    return options
