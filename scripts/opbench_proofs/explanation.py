"""Puts defects into the sources, one at a time, and shows that opbench finds each and names it first."""

import argparse
import html
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from opbench_proofs.defects import Builds, Defect, DefectMistake, read_defects
from opbench_proofs.tool import REGRESSION, OpBench, ToolFailure

ROOT = Path(__file__).resolve().parents[2]
DEFINITIONS = ROOT / "Tests" / "Defects" / "definitions.txt"
MOST_SECONDS = 60
"""The limit for finding a defect, and for explaining it."""
LONG_TRIES = 5
ARRIVALS = {"rate": 20_000, "arrivals": "constant", "duration_ns": 50_000_000, "work_ns": 10_000}
WORKLOADS = {
    "empty": {
        "name": "proof-empty",
        "summary": "Operations without work: their time is the engine's own",
        "shape": "independent",
        "parameters": {"items": 20000, "form": "block", "work_ns": 0},
        "backends": ["engine"],
        "sample_kinds": ["throughput", "memory"],
    },
    "asleep": {
        "name": "proof-asleep",
        "summary": "Operations that sleep, so that several are in progress at once on any machine",
        "shape": "blocking",
        "parameters": {"operations": 2000, "block_ns": 50000, "max_concurrent": 8},
        "backends": ["engine"],
        "sample_kinds": ["throughput"],
    },
    "arrivals": {
        "name": "proof-arrivals",
        "summary": "A thousand operations of 10 µs, one each 50 µs",
        "shape": "open_loop",
        "parameters": {**ARRIVALS, "max_concurrent": 8},
        "backends": ["engine"],
        "sample_kinds": ["latency"],
    },
    "one-at-a-time": {
        "name": "proof-one-at-a-time",
        "summary": "The same, one at a time",
        "shape": "open_loop",
        "parameters": {**ARRIVALS, "max_concurrent": 1},
        "backends": ["engine"],
        "sample_kinds": ["latency"],
    },
    "bursts": {
        "name": "proof-bursts",
        "summary": "A thousand operations, each submitted to an idle queue",
        "shape": "wakeup",
        "parameters": {"operations": 1000, "pause_ns": 100_000, "work_ns": 1000},
        "backends": ["engine"],
        "sample_kinds": ["latency"],
    },
}
"""Workloads by their names in the definitions."""

DESCRIPTION = """\
Proves on this machine that opbench finds out what made operations slower, and names the function or the culprit. Puts
the defects of Tests/Defects into a copy of the sources, one at a time, and builds each. `opbench ab` must report each as
a regression, and `opbench explain` must rank the function with the defect first, each within a minute. Of a defect that
makes few operations slow, `opbench profile` and `opbench explain` must name the reason and the culprit first for the
slowest 1 %. This must hold in five of five tries, or in one try with --short. A busy machine takes longer; --short does
not judge times. The builds are kept in .build-explained."""

EXAMPLES = """\
examples:
  scripts/prove-explanation
  scripts/prove-explanation --short --only lock
  scripts/prove-explanation --check              check that every definition still fits the sources; builds nothing

exit codes: 0 all defects were found and explained · 1 one was not, or a definition does not fit · 64 bad usage"""


@dataclass
class Named:
    """A function of an explanation, with its change."""

    name: str
    change: str
    interval: str


@dataclass
class Try:
    """The result of one try with a defect."""

    defect: str
    is_found: bool
    find_seconds: float
    explain_seconds: float
    rank: int | None
    """The rank of the right function; None if it is not named."""
    time: str
    """The change of an operation's time, and its interval."""
    first: Named | None
    is_tail: bool = False
    """Whether the defect makes few operations slow: a profile finds it, and the first is a culprit with its reason."""

    def holds(self, judges_time: bool) -> bool:
        is_quick = max(self.find_seconds, self.explain_seconds) <= MOST_SECONDS
        return self.is_found and self.rank == 1 and (is_quick or not judges_time)

    def line(self) -> str:
        """A row of the table."""
        found = ("named" if self.is_tail else "regression") if self.is_found else "NOT FOUND"
        first = f"{self.first.name} {self.first.change} ({self.first.interval})" if self.first else "nothing"
        return (
            f"{self.defect:<15}{found:<12}{self.find_seconds:>5.0f} s{self.explain_seconds:>9.0f} s"
            f"{self.rank if self.rank is not None else '-':>6}   {self.time}; {first}"
        )


HEADINGS = f"{'defect':<15}{'found':<12}{'takes':>7}{'explain':>11}{'rank':>6}   time; the first function or culprit"
SLOWEST = "slowest 1 %"


def read_rows(markdown: str) -> list[list[str]]:
    """The rows of the tables, the headings included."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[html.unescape(cell.strip()) for cell in line.split("|")[1:-1]] for line in lines]


def read_explanation(markdown: str) -> tuple[str, list[Named]]:
    """The change of the time and the ranked functions, from an explanation of one cell."""
    rows = read_rows(markdown)
    titles = [row[0] for row in rows]
    ends = [place for place, title in enumerate(titles) if title.startswith("unexplained, ")]
    if titles[:1] != ["what"] or titles[2:4] != ["time", "CPU time"] or not ends:
        raise ToolFailure(f"the explanation has unknown rows: {', '.join(titles)}")
    # Times of the run, and of the turns.
    times = [place for place, title in enumerate(titles) if title.startswith("CPU time")]
    functions = [
        Named(row[0], row[3], row[4])
        for row in rows[times[-1] + 1 : ends[0]]
        if not row[0].startswith(("waiting, ", SLOWEST))
    ]
    return f"{rows[2][3]} ({rows[2][4]})", functions


def read_slowest(markdown: str) -> tuple[str, Named | None]:
    """The change of the slowest operations' latency, and the culprit with the first reason, from an explanation of one cell."""
    rows = [row for row in read_rows(markdown) if row[0].startswith(SLOWEST)]
    change = f"{rows[0][3]} ({rows[0][4]})" if rows else ""
    parts = [(row[0].partition(", ")[2], row) for row in rows[1:]]
    culprits = [part.removeprefix("culprit: ") for part, _ in parts if part.startswith("culprit: ")]
    reasons = [(part, row) for part, row in parts if not part.startswith("culprit: ")]
    if not culprits or not reasons:
        return change, None
    reason, row = reasons[0]
    return change, Named(culprits[0].partition(",")[0], reason, row[4])


def read_tail(text: str) -> tuple[str | None, str | None]:
    """The first culprit and the first reason of the first class, from a profile's tail.json."""
    tail = json.loads(text)["classes"][0]
    return next((one["name"] for one in tail["culprits"]), None), next((one["name"] for one in tail["reasons"]), None)


def rank(defect: Defect, functions: list[Named]) -> int | None:
    """The rank of the defect's first function, from 1."""
    return next((place for place, named in enumerate(functions, 1) if defect.is_named(named.name)), None)


def try_once(tool: OpBench, base: Path, head: Path, defect: Defect, number: int) -> Try:
    """Measures both builds, and explains the difference."""
    workload = tool.write(f"{defect.workload}.json", WORKLOADS[defect.workload])
    run_id = f"{defect.name}-{number}"
    begun = time.monotonic()
    options = ("--blocks", "15", "--seed", str(number + 1), "--run-id", run_id, "--no-progress")
    tool.run("ab", str(base), str(head), workload, *options)
    gate = tool.gate("--ab", run_id)
    found = time.monotonic()
    report = tool.folder / f"{run_id}.md"
    tool.run("explain", "--no-progress", "--markdown", str(report), run_id)
    explained = time.monotonic()
    is_found = gate.status == REGRESSION
    change, functions = read_explanation(report.read_text(encoding="utf-8")) if report.exists() else ("", [])
    first = functions[0] if functions else None
    return Try(
        defect.name, is_found, found - begun, explained - found, rank(defect, functions), change, first
    )


def try_tail(tool: OpBench, base: Path, head: Path, defect: Defect, number: int) -> Try:
    """Profiles the build with the defect, and explains the difference of both builds."""
    workload = tool.write(f"{defect.workload}.json", WORKLOADS[defect.workload])
    run_id = f"{defect.name}-{number}"
    begun = time.monotonic()
    words = ["--kind", "trace", "--seconds", "0.2", "--no-progress", "--output", f"profile-{run_id}"]
    OpBench(head, tool.folder).run("profile", *words, workload)
    profile = next((tool.folder / f"profile-{run_id}").glob("*/tail.json"))
    is_found = defect.is_culprit(*read_tail(profile.read_text(encoding="utf-8")))
    found = time.monotonic()
    options = ("--blocks", "2", "--seed", str(number + 1), "--run-id", run_id, "--no-progress")
    tool.run("ab", str(base), str(head), workload, *options)
    report = tool.folder / f"{run_id}.md"
    # Two blocks decide nothing: the filter selects the cell.
    tool.run("explain", "--no-progress", "--seconds", "0.2", "--filter", ".", "--markdown", str(report), run_id)
    change, first = read_slowest(report.read_text(encoding="utf-8"))
    is_named = first is not None and defect.is_culprit(first.name, first.change)
    return Try(
        defect.name, is_found, found - begun, time.monotonic() - found, 1 if is_named else None, change, first, is_tail=True
    )


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(64, f"prove-explanation: {message}\nSee scripts/prove-explanation --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    try:
        defects = read_defects(DEFINITIONS)
        options = _parse(arguments, defects)
        for defect in defects:
            if defect.workload not in WORKLOADS:
                raise DefectMistake(f"{defect.name}: there is no workload {defect.workload}")
            defect.applied((ROOT / defect.file).read_text(encoding="utf-8"))
        if options.check:
            print(f"{len(defects)} definitions fit the sources")
            return 0
        return 0 if _prove([defect for defect in defects if defect.name in options.only], options) else 1
    except (DefectMistake, ToolFailure) as failure:
        print(f"prove-explanation: {failure}", file=sys.stderr)
        return 1


def _prove(defects: list[Defect], options: argparse.Namespace) -> bool:
    builds = Builds(ROOT, ROOT / ".build-explained")
    print("building without a defect and with each; the first time takes some minutes", file=sys.stderr)
    base = builds.build(None)
    heads = {defect.name: builds.build(defect) for defect in defects}
    tries: list[Try] = []
    for defect in defects:
        print(f"{defect.name}: {defect.says}; the right answer is {' or '.join(defect.names)}")
    print("\n" + HEADINGS, flush=True)
    with tempfile.TemporaryDirectory(prefix="opbench-proof-") as folder:
        tool = OpBench(options.opbench or base, Path(folder))
        for number in range(1 if options.short else LONG_TRIES):
            for defect in defects:
                one = try_tail if defect.reasons else try_once
                tries.append(one(tool, base, heads[defect.name], defect, number))
                print(tries[-1].line(), flush=True)
    held = [one.holds(judges_time=not options.short) for one in tries]
    print(f"\n{'held' if all(held) else 'DID NOT HOLD'}: {sum(held)} of {len(held)} tries")
    options.output.mkdir(parents=True, exist_ok=True)
    result = {"form": "short" if options.short else "long", "held": all(held), "tries": [asdict(one) for one in tries]}
    text = json.dumps(result, indent=2, ensure_ascii=False)
    (options.output / "explanation.json").write_text(text + "\n", encoding="utf-8")
    return all(held)


def _parse(arguments: list[str], defects: list[Defect]) -> argparse.Namespace:
    parser = Arguments(
        prog="prove-explanation",
        description=DESCRIPTION + "\n\n" + "\n".join(f"  {defect.name:<15}{defect.says}" for defect in defects),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--short", action="store_true", help="one try of each defect; times are not judged")
    parser.add_argument("--only", metavar="LIST", help="run only these defects, by name, separated by commas")
    parser.add_argument("--check", action="store_true", help="check the definitions against the sources, and end")
    parser.add_argument(
        "--opbench", type=Path, metavar="FILE", help="the program that measures and explains (default: the build without a defect)"
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", default=ROOT / "results" / "proofs",
        help="the folder of the figures (default: results/proofs)",
    )
    options = parser.parse_args(arguments)
    names = [defect.name for defect in defects]
    options.only = options.only.split(",") if options.only is not None else names
    if not set(options.only) <= set(names):
        parser.error(f"--only takes names among {', '.join(names)}")
    if options.opbench is not None and not options.opbench.is_file():
        parser.error(f"there is no program {options.opbench}")
    options.output = options.output.resolve()
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
