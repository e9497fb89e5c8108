"""Commits that only move code are no regressions where each side is linked in several layouts; a true one is found."""

import argparse
import os
import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path

from opbench_proofs.arguments import ROOT, keep, run
from opbench_proofs.binomial import upper_bound
from opbench_proofs.tool import REGRESSION, WORK, OpBench, ToolFailure

CLONE = ROOT / ".build-layouts" / "clone"
SHORT = WORK | {
    "name": "proof-short",
    "summary": "Operations of 500 ns, one at a time: short enough for the engine's own time, and its layout, to matter",
    "parameters": {"items": 4000, "work_ns": 500, "max_concurrent": 1},
}
MOVED = Path("Sources/CLinux/unused.c")
"""A file of the module that most others depend on: what the linker places behind it moves."""
DATE = "2026-01-01T00:00:00Z"
LAYOUTS = "15"
EFFECT = 0.05
EFFECT_GATES = 20
LEAST_FOUND = 19


def unused(number: int) -> str:
    """Functions that nothing calls and the linker keeps, of a few bytes to some thousand."""
    draw = random.Random(number)
    functions = []
    for index in range(draw.randint(1, 4)):
        lines = "".join(f"    x = x * {draw.randrange(3, 999, 2)}u ^ x >> {draw.randint(1, 31)};\n" for _ in range(draw.randint(1, 200)))
        name = f"unused_{number}_{index}"
        functions.append(
            f"unsigned {name}(unsigned x);\n__attribute__((used, retain)) unsigned {name}(unsigned x) {{\n{lines}    return x;\n}}\n"
        )
    return "\n".join(functions)


def git(*words: str) -> str:
    """Runs git in the clone; returns what it prints."""
    names = ["-c", "user.name=proof", "-c", "user.email=proof@localhost"]
    # The same commits each time, so that their builds are found again.
    dates = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE}
    done = subprocess.run(
        ["git", *names, *words], cwd=CLONE, capture_output=True, text=True, check=False, env=os.environ | dates
    )
    if done.returncode != 0:
        raise ToolFailure(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def make_commits(count: int) -> tuple[str, list[str]]:
    """The commits of the clone: its base, and those that move code, each a child of the base. Builds of before are kept."""
    if not CLONE.exists():
        CLONE.parent.mkdir(exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(CLONE)], check=True)
    git("fetch", "--quiet", "origin", "HEAD")
    base = git("rev-parse", "FETCH_HEAD")
    commits = []
    for number in range(count):
        git("checkout", "--quiet", "--force", "--detach", base)
        (CLONE / MOVED).write_text(unused(number), encoding="utf-8")
        git("add", str(MOVED))
        git("commit", "--quiet", "--no-verify", "-m", f"move code {number}")
        commits.append(git("rev-parse", "HEAD"))
    git("checkout", "--quiet", "--force", "--detach", base)
    return base, commits


def gate(tool: OpBench, run_id: str, base: str, head: str, workload: str, *options: str) -> int:
    """Measures both commits; returns the gate's exit code."""
    refs = ("--base-ref", base, "--head-ref", head, "--product", "opbench")
    tool.run("ab", *refs, workload, "--run-id", run_id, "--no-progress", *options)
    return tool.gate("--ab", run_id).status


def prove(parsed: argparse.Namespace) -> bool:
    """Runs all gates, keeps the figures, and says whether they hold."""
    tool = OpBench(parsed.binary, CLONE)
    base, moved = make_commits(parsed.commits)
    for former in (CLONE / "results").glob("layouts-*"):
        shutil.rmtree(former)
    short, work = tool.write("layouts-short.json", SHORT), tool.write("layouts-work.json", WORK)
    seen: dict[str, Counter[int]] = {"one layout": Counter(), f"{LAYOUTS} layouts": Counter()}
    for number, head in enumerate(moved):
        for attempt in range(parsed.gates):
            for name, options in (("one layout", ()), (f"{LAYOUTS} layouts", ("--layouts", LAYOUTS))):
                run_id = f"layouts-{number}-{attempt}-{len(options)}"
                seen[name][gate(tool, run_id, base, head, short, *options, "--seed", str(attempt + 1))] += 1
        print(f"commit {number}: {_words(seen)}", flush=True)
    found = 0
    for attempt in range(EFFECT_GATES):
        options = ("--layouts", LAYOUTS, "--inject-slowdown", str(EFFECT), "--seed", str(attempt + 1))
        found += gate(tool, f"layouts-slow-{attempt}", base, base, work, *options) == REGRESSION
    alarms = seen[f"{LAYOUTS} layouts"]
    print(f"{alarms[REGRESSION]} of {alarms.total()} gates of moved code are red with layouts: "
          f"with 95 % confidence at most {upper_bound(alarms[REGRESSION], alarms.total()):.1%}")
    print(f"{seen['one layout'][REGRESSION]} of {alarms.total()} without")
    print(f"a slowdown of {EFFECT:.0%} is found {found} times of {EFFECT_GATES}")
    held = alarms[REGRESSION] == 0 and found >= LEAST_FOUND
    gates = {name: dict(sorted(counter.items())) for name, counter in seen.items()}
    keep("layouts", {"held": held, "gates": gates, "found": [found, EFFECT_GATES]})
    return held


def _words(seen: dict[str, Counter[int]]) -> str:
    return "; ".join(f"{name}: {counter[REGRESSION]} red of {counter.total()}" for name, counter in seen.items())


if __name__ == "__main__":
    count = {"type": int, "choices": range(1, 101), "default": 10, "metavar": "N"}
    run("prove-layouts", prove, {"--commits": count, "--gates": count})
