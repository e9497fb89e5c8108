"""The job array of scripts/fleet/slurm.sbatch on a real Slurm: two nodes of this machine, one task killed and put back into
the queue, one node drained and resumed. Its parts, merged, have the cells and the rows of an unsharded run."""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from opbench_proofs.cluster import Cluster, ClusterFailure, Task, kill, with_variable
from opbench_rows import read

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "scripts/fleet/slurm.sbatch"
NODES = ["n1", "n2"]
SHARDS = 6
# A shard takes some seconds: long enough to be hit in the middle.
WORKLOADS = {
    "small": {
        "shape": "independent", "parameters": {"items": [200, 400, 800], "form": ["closure", "block"], "work_ns": 20000},
        "backends": ["engine", "dispatch", "foundation"], "metrics": ["throughput", "latency"],
    },
    "chains": {
        "shape": "chain", "parameters": {"depth": [50, 100, 200], "work_ns": [0, 5000]}, "backends": ["engine", "dispatch"],
        "metrics": ["throughput", "memory"],
    },
}
# What names a row among all of a run, besides its place in the order. Not the iteration: how many there are depends on time.
# Nor what a sample has only if there was time for enough rounds.
TIMELY = {"round_trend"}
KEY = ("workload", "cell_id", "backend", "side", "block", "phase", "operation_class", "metric", "stat")


class Refuted(Exception):
    """Something did not hold."""


class Log:
    """What happens, by the second."""

    def __init__(self) -> None:
        self.begun = time.monotonic()

    def __call__(self, text: str) -> None:
        print(f"{time.monotonic() - self.begun:6.1f} s  {text}", flush=True)


class Sweep:
    """A plan and the folder it is measured in."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.binary = binary
        self.folder = folder

    def opbench(self, *words: str, expected: int = 0) -> subprocess.CompletedProcess[str]:
        ended = subprocess.run([self.binary, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        if ended.returncode != expected:
            raise Refuted(f"opbench {' '.join(words)} ended with {ended.returncode}, not {expected}:\n{ended.stderr}")
        return ended

    def plan(self) -> str:
        """Writes the plan; what it says of itself."""
        for name, content in WORKLOADS.items():
            text = json.dumps({"name": name, "summary": "Short operations.", **content})
            (self.folder / f"{name}.json").write_text(text, encoding="utf-8")
        files = [f"{name}.json" for name in WORKLOADS]
        self.opbench("plan", "--blocks", "3", "-o", "plan.json", *files)
        plan = json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))
        return f"plan {plan['plan_sha256'][:12]} of {len(plan['cells'])} cells"

    def saved(self, shard: int) -> int:
        """How many samples of an unfinished part are saved."""
        files = self.folder.glob(f"parts/.*-{shard}of{SHARDS}.*/samples.csv")
        return sum(file.read_text(encoding="utf-8").count(",status,") for file in files)


def keys(run: Path) -> set[tuple[str, ...]]:
    """The rows of a run, without their figures."""
    return {tuple(row[name] for name in KEY) for row in read(run / "samples.csv") if row["metric"] not in TIMELY}


def await_both_nodes(cluster: Cluster, job: str) -> dict[str, Task]:
    """The tasks that run, by their nodes, once there is one on each."""
    running: dict[str, Task] = {}

    def is_so() -> bool:
        running.clear()
        running.update({task.node: task for task in cluster.tasks(job).values() if task.state == "RUNNING"})
        return set(running) == set(NODES)

    cluster.wait("no task runs on each of the nodes", is_so, 60)
    return running


def kill_and_requeue(cluster: Cluster, sweep: Sweep, job: str, task: Task, log: Log) -> None:
    """In the middle of its samples, without a warning."""
    cluster.wait("the task saves no sample", lambda: sweep.saved(task.index) >= 3, 60)
    kill(with_variable("SLURM_ARRAY_TASK_ID", str(task.index)))
    cluster.wait("the killed task goes on", lambda: cluster.tasks(job)[task.index].state != "RUNNING", 30)
    state = cluster.tasks(job)[task.index].state
    log(f"task {task.index} on {task.node} killed after {sweep.saved(task.index)} samples: {state}")
    if state == "COMPLETED":
        raise Refuted("a task that was killed counts as completed")
    cluster.ask("scontrol", "requeue", f"{job}_{task.index}")
    # Slurm makes it wait for two minutes, so that a node that fails is noticed. This one is well.
    cluster.ask("scontrol", "update", f"JobId={job}_{task.index}", "StartTime=now")
    log(f"task {task.index} put back into the queue")


def drain_and_resume(cluster: Cluster, job: str, task: Task, log: Log) -> None:
    """The task that runs there ends, no other starts there until the node is resumed, and then one does."""
    node, other = task.node, next(name for name in NODES if name != task.node)
    cluster.ask("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=proof")
    log(f"{node} drained, while task {task.index} runs on it")
    cluster.wait(f"{node} is not drained", lambda: cluster.node_state(node) == "IDLE+DRAIN", 120)
    if (state := cluster.tasks(job)[task.index].state) != "COMPLETED":
        raise Refuted(f"the task on the drained node is {state}")
    seen = set(cluster.tasks(job)) - pending(cluster, job)
    cluster.wait(f"{other} takes no further task", lambda: bool(started(cluster, job, other) - seen), 120)
    there = [each.index for each in cluster.tasks(job).values() if each.node == node and each.state == "RUNNING"]
    if there or not pending(cluster, job):
        raise Refuted(f"on the drained node run {there}; {len(pending(cluster, job))} tasks wait")
    log(f"{node} is empty, {other} took a further task, {len(pending(cluster, job))} wait")
    before = started(cluster, job, node)
    cluster.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
    cluster.wait(f"{node} takes no task after it was resumed", lambda: bool(started(cluster, job, node) - before), 60)
    log(f"{node} resumed, and took a task")


def pending(cluster: Cluster, job: str) -> set[int]:
    return {task.index for task in cluster.tasks(job).values() if task.state == "PENDING"}


def started(cluster: Cluster, job: str, node: str) -> set[int]:
    return {task.index for task in cluster.tasks(job).values() if task.node == node and task.state != "PENDING"}


def run_array(cluster: Cluster, sweep: Sweep, log: Log) -> str:
    """Submits the template's array, and meddles with it until all tasks are done; its number."""
    cluster.environment["OPBENCH"] = str(sweep.binary)
    job = cluster.ask("sbatch", "--parsable", f"--array=1-{SHARDS}", str(TEMPLATE), "plan.json", folder=sweep.folder)
    log(f"sbatch --array=1-{SHARDS} scripts/fleet/slurm.sbatch plan.json: job {job}")
    running = await_both_nodes(cluster, job)
    for node, task in sorted(running.items()):
        log(f"task {task.index} runs on {node}")
    kill_and_requeue(cluster, sweep, job, running["n1"], log)
    drain_and_resume(cluster, job, running["n2"], log)
    ended = {"COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT"}
    cluster.wait("not all tasks end", lambda: {each.state for each in cluster.tasks(job).values()} <= ended, 300)
    for index, task in sorted(cluster.tasks(job).items()):
        if task.state != "COMPLETED":
            text = "".join(path.read_text(encoding="utf-8") for path in sweep.folder.glob(f"opbench-*-{index}.log"))
            raise Refuted(f"task {index} is {task.state}; its log:\n{text}")
    log("all tasks are done")
    return job


def parts_table(cluster: Cluster, job: str, sweep: Sweep) -> list[str]:
    """A line a shard: where it ran, how often it was begun, and what its part holds."""
    lines = [f"{'shard':<7}{'node':<6}{'restarts':>8}{'cells':>7}{'samples':>9}{'rows':>7}"]
    for index, task in sorted(cluster.tasks(job).items()):
        (part,) = sweep.folder.glob(f"parts/[!.]*-{index}of{SHARDS}")
        rows = read(part / "samples.csv")
        cells, samples = {row["cell_id"] for row in rows}, {row["sample_id"] for row in rows}
        if (hosts := {row["host"] for row in rows}) != {task.node}:
            raise Refuted(f"shard {index} ended on {task.node}, and its rows name {hosts}")
        lines.append(
            f"{f'{index}/{SHARDS}':<7}{task.node:<6}{cluster.restarts(job, index):>8}{len(cells):>7}{len(samples):>9}{len(rows):>7}"
        )
    return lines


def comparison_table(merged: Path, whole: Path) -> tuple[list[str], bool]:
    """Merged against unsharded, and whether they are the same but for the figures."""
    runs = [read(run / "samples.csv") for run in (merged, whole)]
    both = [keys(run) for run in (merged, whole)]
    lines = [f"{'':<24}{'merged':>8}{'unsharded':>11}{'only there':>12}"]
    same = True

    def compare(what: str, sides: list[set]) -> None:
        nonlocal same
        same = same and sides[0] == sides[1]
        only = f"{len(sides[0] - sides[1])}, {len(sides[1] - sides[0])}"
        lines.append(f"{what:<24}{len(sides[0]):>8}{len(sides[1]):>11}{only:>12}")
        lines.extend(f"  {' '.join(each)}" for each in sorted(sides[0] ^ sides[1])[:10])

    compare("cells", [{(row["workload"], row["cell_id"]) for row in rows} for rows in runs])
    # A noisy sample is taken again, under an id of its own: which ones are is the machine's doing.
    places = ("workload", "cell_id", "backend", "side", "block", "status")
    compare("blocks and statuses", [{tuple(row[name] for name in places) for row in rows} for rows in runs])
    compare("keys of rows", both)
    return lines, same


def prove(binary: Path) -> None:
    log = Log()
    with tempfile.TemporaryDirectory(prefix="opbench-sweep-") as name, Cluster(NODES) as cluster:
        sweep = Sweep(binary, Path(name))
        log(f"{cluster.ask('sbatch', '--version')}: a controller and the nodes {' and '.join(NODES)} on 127.0.0.1")
        log(sweep.plan())
        job = run_array(cluster, sweep, log)
        parts = sorted(str(path.relative_to(sweep.folder)) for path in sweep.folder.glob("parts/[!.]*"))
        merge = ["merge", *parts, "-o", "results/sweep"]
        # Without the part of the task that was killed, it has to be named.
        lost = next(index for index in sorted(cluster.tasks(job)) if cluster.restarts(job, index) > 0)
        without = [word for word in merge if f"-{lost}of{SHARDS}" not in word]
        refusal = sweep.opbench(*without, expected=64).stderr
        if f"--shard {lost}/{SHARDS}" not in refusal or (sweep.folder / "results/sweep").exists():
            raise Refuted(f"a missing part is not told of, or something was written:\n{refusal}")
        log(f"merge without part {lost}: exit code 64, names the command for {lost}/{SHARDS}")
        sweep.opbench(*merge)
        log(f"merge of {len(parts)} parts: exit code 0")
        sweep.opbench("run", "--plan", "plan.json", "--shard", "1/1", "--output", "whole", "--no-progress")
        (whole,) = sweep.folder.glob("whole/*")
        lines, same = comparison_table(sweep.folder / "results/sweep", whole)
        print("\n".join(["", *parts_table(cluster, job, sweep), "", *lines]), flush=True)
        if not same:
            raise Refuted("the merged run is not the unsharded one")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="prove-slurm", description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / ".build/release/opbench", help="the opbench that measures")
    options = parser.parse_args(arguments)
    binary = options.binary.resolve()
    if not binary.is_file():
        parser.error(f"there is no program {binary}")
    # As Ctrl-C does: to the end of the cluster, and out.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        prove(binary)
    except (Refuted, ClusterFailure) as problem:
        print(f"DOES NOT HOLD: {problem}", flush=True)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


if __name__ == "__main__":
    sys.exit(main())
