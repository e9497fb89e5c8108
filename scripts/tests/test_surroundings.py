"""Surroundings of opbench that would change or spoil its figures: preloaded libraries, options of the allocator, a missing
/proc, a repository that git trusts only because of its environment."""

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import OPBENCH

SOURCE = Path(__file__).with_name("surroundings.c")
WORKLOAD = {
    "name": "w", "summary": "s", "shape": "independent", "parameters": {"items": 100, "work_ns": 0},
    "backends": ["engine"],
}  # fmt: skip
HEAP_METRICS = {
    "allocations", "allocated_bytes", "retained_bytes", "unreleased_bytes", "heap_allocated", "heap_active",
    "heap_resident", "heap_mapped", "heap_retained",
}  # fmt: skip
ALLOCATOR = json.loads(subprocess.run([OPBENCH, "__describe"], capture_output=True).stdout.strip(b"\x1e\n") or "{}").get(
    "allocator", ""
) if OPBENCH.exists() else ""  # fmt: skip

pytestmark = pytest.mark.skipif(not OPBENCH.exists(), reason=f"{OPBENCH} is not built")

@pytest.fixture
def library(tmp_path):
    """Builds a library from surroundings.c."""

    def build(kind: str) -> Path:
        compiler = shutil.which("clang") or shutil.which("cc")
        path = tmp_path / f"lib{kind.lower()}.so"
        command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", f"-D{kind}", "-o", path, SOURCE]
        subprocess.run([*command, "-fno-builtin"], check=True)
        return path

    return build


def opbench(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess:
    (folder / "w.json").write_text(json.dumps(WORKLOAD))
    return subprocess.run(
        [OPBENCH, *words], cwd=folder, env=os.environ | {"MALLOC_CONF": ""} | variables, capture_output=True, text=True
    )


def run(folder: Path, run_id: str, *options: str, **variables: str) -> tuple[list[dict], dict]:
    """Returns the rows and the description of a run."""
    words = ["run", "--no-progress", "--quick", "--blocks", "1", "--run-id", run_id, *options, "w.json"]
    ended = opbench(folder, *words, **variables)
    assert ended.returncode == 0, ended.stderr
    with (folder / "results" / run_id / "samples.csv").open(newline="") as file:
        return list(csv.DictReader(file)), json.loads((folder / "results" / run_id / "run.json").read_text())


@pytest.mark.skipif(not ALLOCATOR.startswith("jemalloc"), reason="built without jemalloc")
def test_another_allocator_has_no_figures_of_jemalloc(tmp_path: Path, library) -> None:
    other = library("ALLOCATES")
    rows, description = run(tmp_path, "plain", "--metric", "memory")
    assert HEAP_METRICS <= {row["metric"] for row in rows}
    assert description["host"]["allocator"] == ALLOCATOR
    rows, description = run(tmp_path, "other", "--metric", "memory", LD_PRELOAD=str(other))
    assert not HEAP_METRICS & {row["metric"] for row in rows}
    assert {row["status"] for row in rows} == {"ok"}
    # The kernel reports it for any process.
    assert "peak_resident" in {row["metric"] for row in rows}
    assert description["host"]["allocator"] == other.name
    samples = [row for row in rows if row["metric"] == "status" and row["sample_id"].endswith(("allocations", "heap"))]
    assert len(samples) == 2
    assert all(other.name in row["notes"] for row in samples)
    compared = opbench(tmp_path, "compare", "plain", "other")
    assert (compared.returncode, compared.stdout) == (64, "")


def test_options_of_the_allocator_are_recorded_and_kept_from_samples(tmp_path: Path, library) -> None:
    recorder, recorded = str(library("RECORDS")), tmp_path / "recorded"
    options = {"MALLOC_CONF": "prof:true,lg_prof_sample:12", "LD_PRELOAD": recorder, "RECORDED": str(recorded)}
    rows, description = run(tmp_path, "r", "--metric", "throughput,memory", **options)
    assert {row["status"] for row in rows} == {"ok"}
    of_flavours = {row["sample_id"].split("-")[1] for row in rows if row["metric"] == "status"}
    assert {"throughput", "allocations", "heap"} <= of_flavours
    assert set(recorded.read_text().split("\n")) == {"", "tcache:false"}
    assert description["host"]["environment"].items() >= {k: v for k, v in options.items() if k != "RECORDED"}.items()
    assert "RECORDED" not in description["host"]["environment"]


def test_a_library_that_prints_does_not_spoil_answers(tmp_path: Path, library) -> None:
    loud = str(library("PRINTS"))
    rows, description = run(tmp_path, "r", LD_PRELOAD=loud)
    assert {row["status"] for row in rows} == {"ok"}
    assert len(description["executable"]["sha256"]) == 64


def test_without_proc_nothing_is_measured_and_the_run_fails(tmp_path: Path) -> None:
    hidden = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if os.geteuid() == 0:
        hidden = ["unshare", "--mount", "sh", "-c"]
    hide = "mount -t tmpfs none /proc"
    if not shutil.which("unshare") or subprocess.run([*hidden, hide], capture_output=True).returncode != 0:
        pytest.skip("/proc cannot be hidden from a process here")
    (tmp_path / "w.json").write_text(json.dumps(WORKLOAD))
    ended = subprocess.run(
        [*hidden, f'{hide} && exec "$0" run --quick w.json', OPBENCH], cwd=tmp_path, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "/proc" in ended.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("git"), reason="needs git, and root to give a folder away")
@pytest.mark.parametrize("means", ["count", "parameters", "global"])
def test_a_repository_trusted_by_the_environment_is_accepted(tmp_path: Path, means: str) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "Package.swift").write_text("// a package\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(package)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    for path in [package, *package.rglob("*")]:
        os.chown(path, 65534, 65534)
    (tmp_path / "configuration").write_text(f"[safe]\n\tdirectory = {package}\n")
    trust = {
        "count": {
            "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "core.pager", "GIT_CONFIG_VALUE_0": "cat",
            "GIT_CONFIG_KEY_1": "Safe.Directory", "GIT_CONFIG_VALUE_1": str(package),
        },
        "parameters": {"GIT_CONFIG_PARAMETERS": f"'safe.directory'='{package}'"},
        "global": {"GIT_CONFIG_GLOBAL": str(tmp_path / "configuration")},
    }  # fmt: skip
    words = ("ab", "--base-ref", "no-such-ref", "w.json")
    refused = opbench(package, *words, GIT_CONFIG_GLOBAL="/dev/null")
    assert refused.returncode == 64
    assert "no-such-ref" not in refused.stderr
    taken = opbench(package, *words, **{"GIT_CONFIG_GLOBAL": "/dev/null"} | trust[means])
    assert taken.returncode == 64
    assert "no-such-ref" in taken.stderr, taken.stderr
