"""The templates that split a sweep among machines are valid by the schemas of Kubernetes and GitHub, and run here as plain
processes, from the shards to the merged run, with the lines of the guide ManyMachines.md."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
from conftest import OPBENCH, ROOT
from opbench_rows import read
from ruamel.yaml import YAML
from test_quoted_commands import _FENCED, _INDENTED

FLEET = ROOT / "scripts/fleet"
GUIDE = (ROOT / "Sources/opbench/opbench.docc/ManyMachines.md").read_text(encoding="utf-8")
JOB = YAML(typ="safe").load(FLEET / "kubernetes.yaml")
GITHUB = YAML(typ="safe").load(FLEET / "github.yml")

WORKLOAD = {
    "name": "small", "summary": "s", "shape": "independent", "parameters": {"items": [20, 40, 60, 80], "work_ns": 0},
    "backends": ["engine", "dispatch"], "sample_kinds": ["throughput"],
}
# Replaces Slurm's sbatch: runs the tasks of an array in order.
SBATCH = r"""#!/usr/bin/env bash
set -euo pipefail
array='' wrap=''
while [[ ${1-} == --* ]]; do
    case $1 in --array=*) array=${1#*=} ;; --wrap=*) wrap=${1#*=} ;; --parsable | --dependency=afterany:1) ;; *) exit 64 ;; esac
    shift
done
if [[ -n $wrap ]]; then exec bash -c "$wrap"; fi
unset "${!SLURM_@}"
if [[ -z $array ]]; then SLURMD_NODENAME=n1 bash "$@" >alone.log; exit; fi
first=${array%-*} last=${array#*-}
export SLURM_ARRAY_TASK_MIN=$first SLURM_ARRAY_TASK_MAX=$last SLURM_ARRAY_TASK_STEP=1
export SLURM_ARRAY_TASK_COUNT=$((last - first + 1)) SLURM_ARRAY_JOB_ID=1
for ((index = first; index <= last; index++)); do
    SLURM_ARRAY_TASK_ID=$index SLURMD_NODENAME=n$((index % 2 + 1)) bash "$@" >"opbench-1-$index.log"
done
echo 1
"""


class Clone:
    """The files that a reader of the guide has: scripts/opbench, workloads, and a release build."""

    def __init__(self, folder: Path) -> None:
        if not OPBENCH.exists():
            pytest.skip(f"{OPBENCH} is not built")
        self.folder = folder
        self.programs = folder / "bin"
        for name in ("bin", "scripts", "workloads", ".build/release"):
            (folder / name).mkdir(parents=True)
        self.program("bin/sbatch", SBATCH)
        # Few blocks, whatever is requested: the test is about the way from the shards to the run.
        program = f'[ "$1" = run ] && shift && set -- run --quick "$@"\nexec {shlex.quote(str(OPBENCH))} "$@"'
        self.program("opbench", f"#!/bin/sh\n{program}\n")
        for name in ("scripts/opbench", ".build/release/opbench"):
            (folder / name).symlink_to(folder / "opbench")
        (folder / "scripts/fleet").symlink_to(FLEET)
        # The name in the guide.
        (folder / "workloads/tiny-vs-batched.json").write_text(json.dumps(WORKLOAD), encoding="utf-8")

    def program(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / name).chmod(0o755)

    def run(self, text: str, expected: int = 0, folder: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs a line like the shell of a terminal or runner."""
        kept = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("GITHUB_", "OPBENCH", "SLURM", "JOB_COMPLETION"))
        }
        environment = kept | {"PATH": f"{self.programs}:{os.environ['PATH']}"} | variables
        ended = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", text], cwd=folder or self.folder, env=environment, capture_output=True,
            text=True, timeout=120,
        )
        assert ended.returncode == expected, f"{text}\nended with {ended.returncode}:\n{ended.stdout}{ended.stderr}"
        return ended

    def parts(self, folder: str = "parts") -> list[str]:
        return sorted(path.name.split("-")[1] for path in (self.folder / folder).glob("[!.]*"))

    def hosts(self, folder: str = "parts") -> list[str]:
        """The host in the rows of each part."""
        parts = sorted((self.folder / folder).glob("[!.]*"))
        hosts = [{row["host"] for row in read(part / "samples.csv")} for part in parts]
        return [host for (host,) in hosts]


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def keys(run: Path) -> set[tuple[str, ...]]:
    """The identifying columns of a run's rows, without those that depend on time: the number of iterations, and the figures of several rounds."""
    columns = ("workload", "cell_id", "backend", "side", "block", "phase", "operation_class", "metric", "stat")
    return {tuple(row[name] for name in columns) for row in read(run / "samples.csv") if row["metric"] not in ("round_spread", "round_change")}


def section(title: str) -> str:
    """The guide's text below a heading."""
    return GUIDE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def lines_of(title: str) -> list[str]:
    """The commands below a heading, in order."""
    return _INDENTED.findall(section(title))


def blocks_of(title: str) -> list[list[str]]:
    return [block.splitlines() for block in _FENCED.findall(section(title))]


def test_the_guide_from_shards_to_a_page(clone: Clone) -> None:
    printed = [clone.run(line).stdout for line in lines_of("From shards to a page")]
    assert len(printed) == 5
    assert clone.parts() == ["1of2", "2of2"]
    assert clone.hosts() == ["first", "second"]
    assert "\n80 " in printed[3]
    assert "items=80" in (clone.folder / "sweep.html").read_text(encoding="utf-8")


def test_the_job_array_of_the_guide_as_plain_processes(clone: Clone) -> None:
    (build, array, merge), (alone,) = blocks_of("Slurm")
    clone.run(f"{build}\n{array}\ntest \"$job\" = 1")
    assert clone.parts("night") == ["1of4", "2of4", "3of4", "4of4"]
    assert clone.hosts("night") == ["n2", "n1", "n2", "n1"]
    # A lost part is named, and can be measured alone.
    (lost,) = (clone.folder / "night").glob("*-3of4")
    shutil.rmtree(lost)
    refused = clone.run(f"job=1\n{merge}", expected=64)
    assert "--shard 3/4" in refused.stderr
    assert not (clone.folder / "results/night").exists()
    clone.run(alone)
    clone.run(f"job=1\n{merge}")
    clone.run("scripts/opbench run --shard 1/1 --output whole --no-progress workloads/*.json")
    (whole,) = (clone.folder / "whole").iterdir()
    assert keys(clone.folder / "results/night") == keys(whole)


def test_a_task_without_an_array_needs_an_explicit_shard(clone: Clone) -> None:
    clone.run("sbatch scripts/fleet/slurm.sbatch --output parts workloads/*.json", expected=64)
    clone.run("sbatch --array=1-2 scripts/fleet/slurm.sbatch", expected=64)
    assert not (clone.folder / "parts").exists()


def test_the_pods_as_plain_processes(clone: Clone) -> None:
    def line_of(container: dict) -> str:
        *shell, line = container["command"]
        assert shell == ["bash", "-c"]
        return line.replace("/data/", "")

    (container,) = JOB["spec"]["template"]["spec"]["containers"]
    (host,) = container["env"]
    for index in range(JOB["spec"]["completions"]):
        clone.run(line_of(container), JOB_COMPLETION_INDEX=str(index), **{host["name"]: f"node-{index % 2}"})
    assert clone.hosts() == ["node-0", "node-1", "node-0", "node-1"]
    (merge,) = re.findall(r"^#   (.+)$", (FLEET / "kubernetes.yaml").read_text(encoding="utf-8"), re.M)
    assert "\n80 " in clone.run(merge.replace("/data/", "")).stdout


class Workflow:
    """Runs the jobs of the GitHub workflow, each in a separate folder, and passes artefacts on."""

    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        self.artefacts = clone.folder / "artefacts"

    def job(self, name: str, number: int | None = None, skipping: str = "") -> Path:
        """Runs a job, or the one with this number in a matrix; returns its folder."""
        job = GITHUB["jobs"][name]
        folder = self.clone.folder / f"{name}-{number or ''}"
        shutil.copytree(self.clone.folder / "workloads", folder / "workloads")
        values = {
            "matrix.shard": str(number), "github.sha": "c" * 40,
            "strategy.job-total": str(len(job.get("strategy", {}).get("matrix", {}).get("shard", []))),
        }

        def text(value: str) -> str:
            return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda match: values[match[1]], value)

        for step in job["steps"]:
            action = step.get("uses", "").split("@")[0]
            passes_on = action.endswith("load-artifact")
            inputs = {key: text(str(value)) for key, value in step.get("with", {}).items() if passes_on}
            if action == "actions/upload-artifact":
                self.upload(folder / inputs["path"], inputs["name"])
            elif action == "actions/download-artifact":
                for artefact in sorted(self.artefacts.glob(inputs.get("pattern", inputs.get("name", "")))):
                    shutil.copytree(artefact, folder / inputs.get("path", "."), dirs_exist_ok=True)
            elif "run" in step and step["name"] not in ("Install", skipping):
                variables = {key: text(value) for key, value in (GITHUB["env"] | step.get("env", {})).items()}
                self.clone.run(
                    step["run"], folder=folder, BIN=str(self.clone.folder),
                    GITHUB_STEP_SUMMARY=str(folder / "summary.md"), **variables,
                )
        return folder

    def upload(self, path: Path, name: str) -> None:
        """Uploads like the action: without hidden files and file modes."""
        target = self.artefacts / name
        target.mkdir(parents=True)
        if path.is_dir():
            shutil.copytree(
                path, target, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True, copy_function=shutil.copyfile
            )
        else:
            shutil.copyfile(path, target / path.name)


def test_the_workflow_as_plain_processes(clone: Clone) -> None:
    clone.program("bin/swift", '#!/bin/sh\ncase "$*" in *--show-bin-path*) echo "$BIN" ;; esac\n')
    workflow = Workflow(clone)
    workflow.job("build")
    shards = GITHUB["jobs"]["shard"]["strategy"]["matrix"]["shard"]
    for shard in shards:
        workflow.job("shard", shard)
    merged = workflow.job("merge")
    assert "items=80" in (merged / "summary.md").read_text(encoding="utf-8")
    assert (workflow.artefacts / "opbench/sweep/samples.csv").exists()
    assert "items=80" in (workflow.artefacts / "opbench/sweep.html").read_text(encoding="utf-8")


def test_the_workflow_is_valid_and_its_matrix_counts_the_shards() -> None:
    checker = Path(sys.executable).with_name("check-jsonschema")
    command = [checker, "--builtin-schema", "vendor.github-workflows", FLEET / "github.yml"]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    shards = GITHUB["jobs"]["shard"]["strategy"]["matrix"]["shard"]
    assert shards == list(range(1, len(shards) + 1))
    # A failing shard stops no other, and merging reports the missing one.
    assert GITHUB["jobs"]["shard"]["strategy"]["fail-fast"] is False
    assert GITHUB["jobs"]["merge"]["needs"] == ["build", "shard"]
    assert "!cancelled()" in GITHUB["jobs"]["merge"]["if"]
    assert not any("continue-on-error" in place for job in GITHUB["jobs"].values() for place in [job, *job["steps"]])


@pytest.mark.parametrize("version", ["1.29.0", kubernetes_validate.latest_version()])
def test_the_manifest_is_valid(version: str) -> None:
    kubernetes_validate.validate(JOB, version, strict=True)


def test_the_manifest_is_the_same_everywhere() -> None:
    spec, pod = JOB["spec"], JOB["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert f"--shard auto/{spec['completions']} " in container["command"][-1]
    # No two pods of opbench on one node; processors are never limited.
    (term,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["labelSelector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert "cpu" not in container["resources"]["limits"]
    ((key, value),) = pod["nodeSelector"].items()
    assert (pod["tolerations"][0]["key"], pod["tolerations"][0]["value"]) == (key, value)


def test_nodes_are_exclusive_and_failed_ones_are_replaced() -> None:
    options = re.findall(r"^#SBATCH (--\S+)$", (FLEET / "slurm.sbatch").read_text(encoding="utf-8"), re.M)
    assert {"--exclusive", "--nodes=1", "--requeue", "--open-mode=append"} <= set(options)
