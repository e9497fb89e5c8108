"""The command line: runs the proofs and prints their results."""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from opbench_proofs import adapters, allocations, coordinated_omission, coverage, drift, false_alarms, sensitivity
from opbench_proofs.arguments import RESULTS, Arguments, keep
from opbench_proofs.proof import Outcome, Setting, Verdict
from opbench_proofs.tool import OpBench, ToolFailure

DESCRIPTION = """\
Proves that opbench's gates are right on this machine. The long form is the proof, on an idle machine: a claim that
cannot be decided has not held. The short form checks in some minutes that each proof works. Its few gates bound no rate
closely, so it fails only for results beyond chance: 1 and 2 if there are more false alarms or missed slowdowns than the
claimed rates cause once in a thousand times, 7 if the truth is outside an interval of twice the width, 10 if an adapter
always takes twice as long. 9 judges forged figures, the same each time, and measures nothing. 10 tests oneTBB's forms in
an opbench built with OPBENCH_PEERS=1, and otherwise says that it did not. A proof is undecided only if opbench itself
reported uncertainty: inconclusive gates that state a lower power than required (2, 7), samples flagged noisy (4, 7; in 7,
CPU time is still judged), and in 10 ratios that scatter around the limit. 3 counts allocations, which other load does not
change, and is judged alike in both forms."""

EXAMPLES = """\
examples:
  scripts/prove-measurement                      all proofs in their long form
  scripts/prove-measurement --short
  scripts/prove-measurement --only 2,7 --output results/proofs

exit codes: 0 every claim held (--short: or was undecided) · 1 one did not, or could not be tested · 64 bad usage"""

Proof = Callable[[Setting], Outcome]
PROOFS: dict[int, tuple[str, Proof]] = {
    number: (module.TITLE, module.prove)
    for number, module in (
        (1, false_alarms), (2, sensitivity), (3, allocations), (4, coordinated_omission), (7, drift), (9, coverage),
        (10, adapters),
    )
}  # fmt: skip
"""The proofs by number: the claim and its test."""


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    options = _parse(arguments)
    results = {}
    verdicts = set()
    for number in options.only:
        title, prove = PROOFS[number]
        print(f"{number}. {title}", flush=True)
        begun = time.monotonic()
        outcome = _tried(prove, options)
        seconds = time.monotonic() - begun
        for figure in outcome.figures:
            print(f"   {figure}")
        print(f"   {outcome.verdict.value}, {seconds:.0f} s", flush=True)
        verdicts.add(outcome.verdict)
        results[number] = {"claim": title, "verdict": outcome.verdict.value, "figures": outcome.figures, "seconds": round(seconds)}
    keep("proofs", {"form": "short" if options.short else "long", "proofs": results}, options.output)
    return 0 if verdicts <= ({Verdict.HELD, Verdict.UNDECIDED} if options.short else {Verdict.HELD}) else 1


def _tried(prove: Proof, options: argparse.Namespace) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="opbench-proof-") as folder:
        try:
            return prove(Setting(OpBench(options.binary, Path(folder)), options.short))
        except ToolFailure as failure:
            return Outcome(Verdict.REFUTED, [str(failure)])


def _numbers(words: str) -> list[int]:
    """The numbers of proofs in a list."""
    known = {str(number): number for number in PROOFS}
    if not set(words.split(",")) <= set(known):
        raise argparse.ArgumentTypeError(f"takes numbers among {', '.join(known)}")
    return [known[word] for word in words.split(",")]


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Arguments(
        prog="prove-measurement",
        description=DESCRIPTION + "\n\n" + "\n".join(f"  {number:>2}  {title}" for number, (title, _) in PROOFS.items()),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--binary", type=Path, help="the opbench to test (default: the one built here)")
    parser.add_argument("--short", action="store_true", help="fewer gates, for some minutes")
    parser.add_argument(
        "--only", type=_numbers, metavar="LIST", default=list(PROOFS), help="run only these proofs, by number, separated by commas"
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", default=RESULTS, help="the folder of the figures (default: results/proofs)"
    )
    options = parser.parse_args(arguments)
    if options.binary is None or not options.binary.is_file():
        parser.error(f"there is no program {options.binary}; give the path of a built opbench as --binary")
    return options
