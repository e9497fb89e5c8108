"""A pull request that makes a queue 5 % slower is red, and one that does not is not; the one that adds opbench is green, and so
is one that changes documents alone, unmeasured: by the very steps of the template for GitHub Actions, in clean clones of a
package with a queue of its own."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "Tests/Examples/pthread-queue"
# Always the same place, as on a runner: what is built names its folder. Its .build stays from job to job, as a cache keeps it.
CLONE = ROOT / ".build-ci/package"
PRODUCT = "pthread-queue"
WORKLOAD = """{"name": "work", "summary": "One thread, short operations.", "shape": "independent",
 "parameters": {"items": 4000, "form": "closure", "work_ns": 5000}, "backends": ["mine"], "metrics": ["throughput"]}
"""
# In ThreadQueue.run: a twentieth of what a block of the workload does. Not of the time that it took, in which others may have
# had the processor.
RUNNING = "while let block = next() { block() }"
SLOW = """while let block = next() {
            block()
            let ended = clock_gettime_nsec()
            while clock_gettime_nsec() < ended + 250 {}
        }"""
CLOCK = """
private func clock_gettime_nsec() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
"""
# In main.swift: what the program says of its queue, for another program of the same speed.
DESCRIPTION = "One thread and a lock."
PASS, REGRESSION, INCONCLUSIVE = 0, 2, 7
# Verdicts that a request may get. What the machine does not tell is yellow, and proves nothing.
EXPECTED = {
    "first": ("pass",), "documents": ("pass",), "same": ("pass", "inconclusive"),
    "slower": ("regression", "inconclusive"),
}
# Passed without a comparison.
REASONS = {"first": "nothing to compare with", "documents": "equal programs"}


class Unexpected(Exception):
    """Something did not hold."""


def run_steps(template: Path) -> list[tuple[str, str]]:
    """The names and lines of the template's steps that run something, without the one that installs Debian packages. By its
    indents: the machine that proves needs no YAML parser."""
    steps: list[tuple[str, str]] = []
    name, lines = "", template.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        word, _, rest = line.strip().removeprefix("- ").partition(": ")
        if line.startswith("      - "):
            name = rest if word == "name" else ""
        if line.startswith(("        run:", "      - run:")):
            text = rest
            if rest == "|":
                text = ""
                for more in lines[number + 1 :]:
                    if not more.startswith(" " * 10):
                        break
                    text += more[10:] + "\n"
            steps.append((name, text))
    return [(name, text) for name, text in steps if name != "Install"]


class Origin:
    """The repository that the requests are made to: a package with a queue, the template and its script."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "origin"
        shutil.copytree(EXAMPLE, self.package, ignore=shutil.ignore_patterns(".build", "Package.resolved"))
        manifest = self.package / "Package.swift"
        manifest.write_text(manifest.read_text(encoding="utf-8").replace('"../../.."', f'"{ROOT}"'), encoding="utf-8")
        (self.package / "scripts").mkdir()
        shutil.copytree(ROOT / "scripts/ci", self.package / "scripts/ci")
        (self.package / "workload.json").write_text(WORKLOAD, encoding="utf-8")
        (self.package / ".gitignore").write_text(".build/\nopbench-results/\n", encoding="utf-8")
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("commit", "--quiet", "--allow-empty", "--message", "nothing")
        self.empty = self.git("rev-parse", "HEAD")
        self.commit("a queue")
        self.main = self.git("rev-parse", "HEAD")
        (self.queue,) = self.package.rglob("ThreadQueue.swift")
        (self.program,) = self.package.rglob("main.swift")

    def git(self, *words: str) -> str:
        settings = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        ended = subprocess.run(["git", "-C", self.package, *settings, *words], check=True, capture_output=True, text=True)
        return ended.stdout.strip()

    def commit(self, subject: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)

    def branch(self, name: str) -> str:
        """A request: the first, which adds the queue; or it has more documents, is described otherwise, or is 5 % slower.

        Returns what it is to be merged into."""
        self.git("checkout", "--quiet", "-b", name, "main")
        if name == "first":
            return self.empty
        if name == "documents":
            (self.package / "NOTES.md").write_text("For people.\n", encoding="utf-8")
        elif name == "same":
            replace(self.program, DESCRIPTION, f"Also: {DESCRIPTION}")
        else:
            replace(self.queue, RUNNING, SLOW)
            self.queue.write_text(self.queue.read_text(encoding="utf-8") + CLOCK, encoding="utf-8")
        self.commit(name)
        return self.main


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise Unexpected(f"{file} is not as it is expected to be")
    file.write_text(text.replace(old, new), encoding="utf-8")


def job(origin: Origin, branch: str, base: str, folder: Path) -> tuple[int, str, Path]:
    """Runs the template's steps in a clean clone: the exit code of the job, what it printed, and its results."""
    cache = CLONE.with_name("cache")
    if (CLONE / ".build").exists():
        shutil.rmtree(cache, ignore_errors=True)
        (CLONE / ".build").rename(cache)
    shutil.rmtree(CLONE, ignore_errors=True)
    CLONE.parent.mkdir(exist_ok=True)
    subprocess.run(["git", "clone", "--quiet", "--branch", branch, origin.package, CLONE], check=True)
    if cache.exists():
        cache.rename(CLONE / ".build")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "OPBENCH_"))}
    environment = kept | {
        "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(folder / f"{branch}.md"), "OPBENCH_BASE": base,
        "OPBENCH_PRODUCT": PRODUCT, "OPBENCH_WORKLOADS": "workload.json", "OPBENCH_INCONCLUSIVE": "pass",
        "OPBENCH_POLICY": "scripts/ci/policy.json", "OPBENCH_BLOCKS": "",
        # A step writes to git's configuration.
        "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"),
    }
    status, printed = 0, ""
    for name, line in run_steps(CLONE / "scripts/ci/github.yml"):
        # After a step that failed, only those follow that always do: the summary.
        if status != 0 and name != "Summary":
            continue
        ended = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", line], cwd=CLONE, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        printed += ended.stdout
        if ended.returncode not in (PASS, REGRESSION):
            raise Unexpected(f"the step {name} ended with {ended.returncode}:\n{ended.stderr[-3000:]}")
        status = status or ended.returncode
    return status, printed, CLONE / "opbench-results"


def judge(branch: str, status: int, printed: str, results: Path, summary: Path) -> str:
    """What the job shows has to be what its exit code says."""
    heading = (results / "comment.md").read_text(encoding="utf-8").splitlines()[0]
    if heading not in summary.read_text(encoding="utf-8"):
        raise Unexpected("the summary has no verdict")
    verdict = heading.removeprefix("### opbench gate: ")
    if verdict.startswith("regression") != (status == REGRESSION):
        raise Unexpected(f"the comment says “{heading}”, and the exit code is {status}")
    suite = ElementTree.parse(results / "junit.xml").getroot()
    failures, skipped = int(suite.get("failures", 0)), int(suite.get("skipped", 0))
    if (failures > 0) != (status == REGRESSION) or (skipped == 0 and verdict.startswith("inconclusive")):
        raise Unexpected(f"JUnit has {failures} failures and {skipped} skipped, and the exit code is {status}")
    if ("::error " in printed) != (status == REGRESSION):
        raise Unexpected(f"the annotations do not fit the exit code {status}:\n{printed}")
    if ("::warning " in printed) < verdict.startswith("inconclusive"):
        raise Unexpected(f"nothing is yellow:\n{printed}")
    if verdict.split("(")[0].strip() not in EXPECTED[branch] or (branch in REASONS and REASONS[branch] not in verdict):
        raise Unexpected(f"the request is {'green' if status == PASS else 'red'}: {verdict}\n{printed}")
    return verdict


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="prove-ci", description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="begin without what earlier jobs have built")
    options = parser.parse_args(arguments)
    if options.fresh:
        shutil.rmtree(CLONE.parent, ignore_errors=True)
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="opbench-ci-") as name:
        folder = Path(name)
        origin = Origin(folder)
        for branch in EXPECTED:
            base = origin.branch(branch)
            begun = time.monotonic()
            try:
                status, printed, results = job(origin, branch, base, folder)
                verdict = judge(branch, status, printed, results, folder / f"{branch}.md")
            except Unexpected as problem:
                print(f"{branch}: DOES NOT HOLD: {problem}", flush=True)
                return 1
            verdicts.append(verdict)
            print(f"{branch}: exit code {status}, {verdict} ({time.monotonic() - begun:.0f} s)", flush=True)
    if any(verdict.startswith("inconclusive") for verdict in verdicts):
        print("this machine is too busy to tell of every request: an inconclusive job is yellow, and proves nothing")
        return INCONCLUSIVE
    return 0


if __name__ == "__main__":
    sys.exit(main())
