"""The templates for CI and for sweeps are valid by the schemas of GitHub, GitLab and Kubernetes, and CI's run
scripts/ci/compare, which runs here with a scripted program."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import kubernetes_validate
import pytest
from conftest import OPBENCH, ROOT, on_a_terminal
from ruamel.yaml import YAML

CI, FLEET = ROOT / "scripts/ci", ROOT / "scripts/fleet"
ACTION, GITHUB, GITLAB = (YAML(typ="safe").load(CI / f"{name}.yml") for name in ("action", "github", "gitlab"))
COMPARE = "scripts/ci/compare --base-ref main"

# Replaces a built opbench: records its arguments, and answers as given by files in the folder BIN.
PROGRAM = """#!/bin/sh
here=$BIN
echo "$*" >> "$here/asked"
case $1 in
    ab | run)
        kind=$1
        while [ $# -gt 0 ]; do case $1 in --output) output=$2 ;; esac; shift; done
        [ -e "$here/equal" ] || [ "$(cat "$here/$kind")" = 5 ] || mkdir "$output/compare"
        exit "$(cat "$here/$kind")"
        ;;
    show) echo "| cell |" ;;
    gate)
        while [ $# -gt 0 ]; do
            case $1 in --markdown) echo "### opbench gate" > "$2" ;; --junit) echo "<testsuite/>" > "$2" ;; esac
            shift
        done
        echo the table
        exit "$(cat "$here/gate")"
        ;;
    report)
        [ -e "$here/no-page" ] && exit 1
        while [ $# -gt 0 ]; do case $1 in -o) echo "<html>" > "$2" ;; esac; shift; done
        ;;
esac
"""
# Replaces swift.
SWIFT = """#!/bin/sh
echo "$*" >> "$BIN/swift-asked"
if [ -t 1 ]; then echo "$*" >> "$BIN/to-a-terminal"; fi
case "$*" in
    *resolve) exit "$(cat "$BIN/resolve")" ;; *--show-bin-path*) echo "$BIN"; exit ;;
    *show-executables) printf 'opbench\nmine\nother (package)\n'; exit ;;
esac
echo compiling
exit "$(cat "$BIN/build")"
"""


class Job:
    """A folder for running scripts/ci/compare."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir()
        for name, text in (("swift", SWIFT), ("opbench", PROGRAM), ("mine", PROGRAM)):
            (self.programs / name).write_text(text, encoding="utf-8")
            (self.programs / name).chmod(0o755)
        (folder / "scripts").mkdir()
        (folder / "workloads").mkdir()
        for name in ("workloads/a", "workloads/b", "w", "p"):
            (folder / f"{name}.json").write_text("{}", encoding="utf-8")
        shutil.copytree(CI, folder / "scripts/ci")
        (folder / "Package.swift").touch()
        (folder / ".gitignore").write_text(".build/\nbin/\n", encoding="utf-8")
        self.answer()
        self.git("init --quiet --initial-branch=main")
        self.commit()
        for name in ("base", "v1"):
            self.git(f"tag {name}")

    def git(self, words: str) -> None:
        ended = self.run(f"git -c user.name=test -c user.email=test@localhost {words}")
        assert ended.returncode == 0, ended.stderr

    def commit(self) -> None:
        self.git("add --all")
        self.git("commit --quiet --message more")

    def answer(self, ab: int = 0, gate: int = 0, run: int = 0, build: int = 0, resolve: int = 0) -> None:
        for name, status in (("ab", ab), ("gate", gate), ("run", run), ("build", build), ("resolve", resolve)):
            (self.programs / name).write_text(f"{status}\n", encoding="utf-8")

    def run(self, line: str, streams: dict | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "OPBENCH_"))}
        environment = kept | {"PATH": f"{self.programs}:{os.environ['PATH']}", "BIN": str(self.programs)} | variables
        return subprocess.run(
            ["bash", "-c", line], cwd=self.folder, env=environment, text=True, timeout=600,
            **(streams or {"capture_output": True}),
        )

    def asked(self) -> list[str]:
        return (self.programs / "asked").read_text(encoding="utf-8").splitlines()

    def builds(self) -> list[list[str]]:
        """The calls of swift that build."""
        lines = (self.programs / "swift-asked").read_text(encoding="utf-8").splitlines()
        return [line.split() for line in lines if line.startswith("build ") and "--show-bin-path" not in line]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def compare_step() -> dict:
    return next(step for step in ACTION["runs"]["steps"] if step.get("name") == "Compare")


def action_variables() -> dict[str, str]:
    """What GitHub sets for the action's comparing step, in a job like the template's."""
    (job,) = GITHUB["jobs"].values()
    given = next(step["with"] for step in job["steps"] if step.get("name") == "Compare") | {"base": "base"}
    assert given.keys() <= ACTION["inputs"].keys()
    values = {name: str(given.get(name, about.get("default", ""))) for name, about in ACTION["inputs"].items()}
    variables = {}
    for variable, text in compare_step()["env"].items():
        variables[variable] = values[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", text)[1]]
    return variables | {"GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(CI)}


def compare_lines() -> list[tuple[str, str, dict[str, str]]]:
    """The comparing line of the action and of GitLab's template, and its variables."""
    return [
        ("github", compare_step()["run"], action_variables()),
        ("gitlab", *GITLAB["opbench"]["script"], GITLAB["opbench"]["variables"] | {"OPBENCH_BASE": "base"}),
    ]


@pytest.mark.parametrize(
    ("template", "schema"),
    [
        (CI / "github.yml", ["--builtin-schema", "vendor.github-workflows"]),
        (FLEET / "github.yml", ["--builtin-schema", "vendor.github-workflows"]),
        (CI / "action.yml", ["--builtin-schema", "vendor.github-actions"]),
        (CI / "gitlab.yml", ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"]),
    ],
)
def test_templates_are_valid(template: Path, schema: list[str]) -> None:
    checker = Path(os.sys.executable).with_name("check-jsonschema")
    checked = subprocess.run([checker, *schema, template], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("version", ["1.29.0", kubernetes_validate.latest_version()])
def test_the_manifest_is_valid_and_counts_its_shards(version: str) -> None:
    manifest = YAML(typ="safe").load(FLEET / "kubernetes.yaml")
    kubernetes_validate.validate(manifest, version, strict=True)
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    assert f"--shard $((JOB_COMPLETION_INDEX + 1))/{manifest['spec']['completions']} " in container["command"][-1]
    assert "cpu" not in container["resources"]["limits"], "a quota takes time from samples"


def test_a_task_of_slurm_measures_its_shard() -> None:
    script = ["bash", FLEET / "slurm.sbatch", "--output", "parts", "w.json"]
    task = {"OPBENCH": "echo", "SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MAX": "8", "SLURM_ARRAY_TASK_MIN": "1"}
    for count, output in [("8", "run --no-progress --shard 3/8 --output parts w.json"), ("2", "")]:
        environment = os.environ | task | {"SLURM_ARRAY_TASK_COUNT": count}
        ended = subprocess.run(script, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert ended.stdout.split() == output.split()
        assert ended.returncode == (0 if output else 64)


def test_the_sweep_counts_its_shards_and_a_failed_one_hides_no_other() -> None:
    jobs = YAML(typ="safe").load(FLEET / "github.yml")["jobs"]
    strategy = jobs["shard"]["strategy"]
    assert strategy["matrix"]["shard"] == list(range(1, len(strategy["matrix"]["shard"]) + 1))
    assert strategy["fail-fast"] is False and "!cancelled()" in jobs["merge"]["if"]
    assert not any("continue-on-error" in place for job in jobs.values() for place in [job, *job["steps"]])


@pytest.mark.parametrize(("template", "line", "variables"), compare_lines())
def test_the_line_of_a_template(job: Job, template: str, line: str, variables: dict[str, str]) -> None:
    ended = job.run(line, **variables)
    assert ended.returncode == 0, ended.stderr
    measured, gate, *_ = job.asked()
    assert measured.startswith(
        "ab --base-ref base --product opbench --skip-equal --output opbench-results/results --run-id compare"
    )
    assert measured.endswith("workloads/a.json workloads/b.json")
    assert gate.startswith("gate --ab compare --results opbench-results/results ")
    assert ("--github-annotations" in gate) == (template == "github")
    assert ("--inconclusive pass" in gate) == (template == "github")
    assert re.search(r"--policy (\S*/)?scripts/ci/policy.json", measured) and "ci/policy.json" in gate
    # As many blocks as each cell needs.
    assert "--blocks" not in measured
    assert ended.stdout == "the table\n"
    results = job.folder / "opbench-results"
    for name in ("comment.md", "junit.xml", "report.html"):
        assert (results / name).exists(), name
    artefacts = GITLAB["opbench"]["artifacts"]
    assert results / artefacts["reports"]["junit"].split("/", 1)[1] == results / "junit.xml"


@pytest.mark.parametrize("gate", [0, 2, 7])
def test_the_gate_decides_and_leaves_its_files(job: Job, gate: int) -> None:
    job.answer(ab=3, gate=gate)
    assert job.run(f"{COMPARE} workloads/a.json").returncode == gate, "it judges failed samples too"
    assert (job.folder / ".build/compare/comment.md").exists()
    # A failed report fails the job without hiding the verdict.
    (job.programs / "no-page").touch()
    assert job.run(f"{COMPARE} workloads/a.json").returncode == (gate or 1)


@pytest.mark.parametrize(("answers", "status"), [({"ab": 1}, 1), ({"ab": 64}, 64), ({"build": 1}, 1)])
def test_other_failures_end_the_job(job: Job, answers: dict[str, int], status: int) -> None:
    job.answer(**answers)
    assert job.run(f"{COMPARE} workloads/a.json").returncode == status
    assert not (job.folder / ".build/compare/comment.md").exists()


def test_equal_programs_pass_without_being_measured(job: Job) -> None:
    (job.programs / "equal").touch()
    ended = job.run(f"{COMPARE} workloads/a.json", GITHUB_ACTIONS="true")
    assert ended.returncode == 0, ended.stderr
    assert [words.split()[0] for words in job.asked()] == ["ab"]
    assert "::notice " in ended.stdout and "::warning " not in ended.stdout
    results = job.folder / ".build/compare"
    assert (results / "comment.md").read_text(encoding="utf-8").startswith("### ✅ opbench gate: pass (equal programs)\n")
    suite = ElementTree.parse(results / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "0")
    assert len(suite.findall("testcase")) == 1


@pytest.mark.parametrize(("run", "verdict"), [(0, "✅ opbench gate: pass ("), (3, "❌ opbench gate: bad sample")])
def test_without_a_base_only_the_change_is_measured(job: Job, run: int, verdict: str) -> None:
    job.answer(ab=5, run=run)
    ended = job.run(f"{COMPARE} --product mine --blocks 3 workloads/a.json")
    assert ended.returncode == run, ended.stderr
    measured = job.asked()[1]
    assert measured == "run --output .build/compare/results --run-id compare --no-progress --blocks 3 workloads/a.json"
    results = job.folder / ".build/compare"
    comment = (results / "comment.md").read_text(encoding="utf-8")
    assert comment.startswith(f"### {verdict}") and "`mine`" in comment
    assert ("| cell |" in comment) == (results / "report.html").exists() == (run == 0)
    if run == 0:
        suite = ElementTree.parse(results / "junit.xml").getroot()
        assert (suite.get("failures"), suite.get("skipped"), len(suite.findall(".//skipped"))) == ("0", "1", 1)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("--base-ref nowhere workloads/a.json", "nowhere"), ("--base-ref main workloads/none.json", "none.json"),
        ("--base-ref main --policy none.json workloads/a.json", "none.json"),
        ("--base-ref main --product none workloads/a.json", "none"), ("workloads/a.json", "--base-ref"),
        ("--base-ref main", "workload"), ("--base-ref", "--base-ref"), ("--base main w.json", "--base"),
        ("--base-ref main --inconclusive maybe w.json", "--inconclusive"),
    ],
)  # fmt: skip
def test_bad_usage_is_reported_before_anything_is_built(job: Job, words: str, named: str) -> None:
    ended = job.run(f"scripts/ci/compare {words}")
    assert ended.returncode == 64 and named in ended.stderr
    assert not (job.programs / "swift-asked").exists() or job.builds() == []
    assert not (job.programs / "asked").exists() and not (job.folder / ".build/compare").exists()


def test_a_custom_program_and_a_policy(job: Job) -> None:
    ended = job.run(
        "scripts/ci/compare --base-ref v1 --product mine --policy p.json --inconclusive pass --blocks 9 --output o w.json"
    )
    assert ended.returncode == 0, ended.stderr
    measured, gate, *_, report = job.asked()
    assert report.endswith("/compare --policy p.json -o o/report.html --open no")
    assert "--product mine" in measured and "--policy p.json --blocks 9 --layouts 15 w.json" in measured
    assert "--policy p.json --inconclusive pass" in gate
    assert "--blocks" not in gate


def test_no_build_writes_to_a_terminal(job: Job) -> None:
    """On a terminal, SwiftPM compiles with -color-diagnostics, unlike opbench, which builds the base: everything would be compiled twice."""
    ended, shown = on_a_terminal(lambda streams: job.run(f"{COMPARE} workloads/a.json", streams))
    assert ended.returncode == 0, shown
    assert len(job.builds()) == 1
    assert not (job.programs / "to-a-terminal").exists()
    # Still visible to someone who waits for it.
    assert "compiling" in shown


def test_a_package_outside_the_tree_is_built_in_place(job: Job) -> None:
    job.answer(resolve=1)
    ended = job.run(f"{COMPARE} workloads/a.json")
    assert ended.returncode == 0, ended.stderr
    assert job.builds() == [
        ["build", "--configuration", "release", "-Xswiftc", "-use-ld=lld", "--product", "opbench"]
    ]


def test_a_tree_kept_from_another_clone_keeps_its_files_times(job: Job) -> None:
    """Files that a job in a new clone does not change are not recompiled."""
    (job.folder / "same.swift").write_text("same", encoding="utf-8")
    (job.folder / "changing.swift").write_text("old", encoding="utf-8")
    job.commit()
    line = f"{COMPARE} workloads/a.json"
    assert job.run(line).returncode == 0
    (build,) = job.builds()
    tree = Path(build[build.index("--package-path") + 1])
    for name in ("same", "changing"):
        os.utime(tree / f"{name}.swift", ns=(10**18, 10**18))
    (job.folder / "changing.swift").write_text("new", encoding="utf-8")
    job.commit()
    # As if another clone had made the tree: its repository is elsewhere.
    (job.folder / ".build/refs/git/commondir").write_text("/nowhere\n", encoding="utf-8")
    assert job.run(line).returncode == 0
    assert (tree / "same.swift").stat().st_mtime_ns == 10**18
    assert (tree / "changing.swift").read_text(encoding="utf-8") == "new"
    assert len(job.builds()) == 2 and job.builds()[0] == job.builds()[1]
    assert not (job.folder / ".git/worktrees").exists()


def test_the_line_with_the_real_opbench(job: Job) -> None:
    """Runs the line of the templates to the files that they show; only the compiler is scripted."""
    if not OPBENCH.exists():
        pytest.skip(f"{OPBENCH} is not built")
    program = f'#!/bin/sh\nif [ "$1" = ab ]; then shift; set -- ab --inject-slowdown 2 "$@"; fi\nexec {OPBENCH} "$@"\n'
    (job.programs / "opbench").write_text(program, encoding="utf-8")
    # Each build makes a different program.
    swift = (
        '#!/bin/sh\necho "$*" >> "$BIN/swift-asked"\n'
        'case "$*" in *--show-bin-path*) echo "$BIN"; exit ;; --version) echo 1; exit ;; esac\n'
        'case $1 in build) echo "#" >> "$BIN/opbench" ;; esac\n'
    )
    (job.programs / "swift").write_text(swift, encoding="utf-8")
    workload = {
        "name": "w", "summary": "s", "shape": "independent", "parameters": {"items": 200, "work_ns": 20000},
        "backends": ["engine"], "sample_kinds": ["throughput"],
    }
    (job.folder / "w.json").write_text(json.dumps(workload), encoding="utf-8")
    job.commit()
    (job.folder / "more").touch()
    job.commit()
    ended = job.run("scripts/ci/compare --base-ref HEAD~1 --blocks 15 --layouts 0 w.json", GITHUB_ACTIONS="true")
    assert ended.returncode == 2, ended.stdout + ended.stderr
    results = job.folder / ".build/compare"
    assert " opbench gate: regression (" in (results / "comment.md").read_text(encoding="utf-8").splitlines()[0]
    assert ElementTree.parse(results / "junit.xml").getroot().findall(".//failure")
    assert "::error " in ended.stdout
    # The script and opbench build in one place: first HEAD, which opbench then finds built, then the base.
    builds = job.builds()
    assert len(builds) == 3 and builds[0] == builds[1] == builds[2], builds
    assert (results / "results/compare/samples.csv").exists()


def test_no_job_is_green_without_a_verdict() -> None:
    """Nothing turns the exit code of the comparison into a success, except for inconclusive results."""
    steps = ACTION["runs"]["steps"]
    (job,) = GITHUB["jobs"].values()
    assert "continue-on-error" not in job and not any("continue-on-error" in step for step in job["steps"])
    assert [step["name"] for step in steps if step.get("continue-on-error")] == ["Comment"]
    assert "if" not in compare_step()
    # Inconclusive is yellow: on GitHub by annotations, on GitLab by its exit code.
    assert ACTION["inputs"]["inconclusive"]["default"] == "pass"
    assert (GITLAB["opbench"]["variables"]["OPBENCH_INCONCLUSIVE"], GITLAB["opbench"]["allow_failure"]) == ("", {"exit_codes": 7})
    # Steps that show the results run whatever the results are.
    for step in steps[steps.index(compare_step()) + 1 :]:
        assert step["if"] == "always()"
    assert GITLAB["opbench"]["artifacts"]["when"] == "always"
