"""The CI templates and the action are valid by the schemas of GitHub and GitLab, and run scripts/ci/compare, which runs
here with a scripted program; the steps of the Dockerfile are scripts that CI runs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from conftest import OPBENCH, on_a_terminal
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "scripts/ci"
GITHUB = YAML(typ="safe").load(CI / "github.yml")
ACTION = YAML(typ="safe").load(CI / "action.yml")
GITLAB = YAML(typ="safe").load(CI / "gitlab.yml")

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


def action_step(name: str) -> dict:
    return next(step for step in ACTION["runs"]["steps"] if step.get("name") == name)


def action_variables() -> dict[str, str]:
    """What GitHub sets for the action's comparing step, in a job like the template's."""
    (job,) = GITHUB["jobs"].values()
    given = next(step["with"] for step in job["steps"] if step.get("name") == "Compare") | {"base": "base"}
    assert given.keys() <= ACTION["inputs"].keys()
    values = {name: str(given.get(name, about.get("default", ""))) for name, about in ACTION["inputs"].items()}
    variables = {}
    for variable, text in action_step("Compare")["env"].items():
        variables[variable] = values[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", text)[1]]
    return variables | {"GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(CI)}


def compare_lines() -> list[tuple[str, str, dict[str, str]]]:
    """The comparing line of the action and of GitLab's template, and its variables."""
    return [
        ("github", action_step("Compare")["run"], action_variables()),
        ("gitlab", *GITLAB["opbench"]["script"], GITLAB["opbench"]["variables"] | {"OPBENCH_BASE": "base"}),
    ]


@pytest.mark.parametrize(
    ("template", "schema"),
    [
        ("github.yml", ["--builtin-schema", "vendor.github-workflows"]),
        ("action.yml", ["--builtin-schema", "vendor.github-actions"]),
        ("gitlab.yml", ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"]),
    ],
)
def test_templates_are_valid(template: str, schema: list[str]) -> None:
    checker = Path(os.sys.executable).with_name("check-jsonschema")
    checked = subprocess.run([checker, *schema, CI / template], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_action_and_template_run_the_same_line() -> None:
    (_, github, _), (_, gitlab, _) = compare_lines()
    # The action's files are not those of the checkout.
    assert github.strip().replace('"$GITHUB_ACTION_PATH/compare"', "scripts/ci/compare") == gitlab.strip()


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


@pytest.mark.parametrize("gate", [0, 2, 3, 5, 7, 64])
def test_the_gate_decides_and_leaves_its_files(job: Job, gate: int) -> None:
    job.answer(gate=gate)
    ended = job.run("scripts/ci/compare --base-ref main workloads/a.json")
    assert ended.returncode == gate
    assert (job.folder / ".build/compare/comment.md").exists()
    assert (job.folder / ".build/compare/report.html").exists()


def test_the_gate_judges_failed_samples_and_other_failures_end_the_job(job: Job) -> None:
    job.answer(ab=3, gate=3)
    assert job.run("scripts/ci/compare --base-ref main workloads/a.json").returncode == 3
    for status in (1, 64, 130):
        job.answer(ab=status, gate=0)
        (job.programs / "asked").unlink()
        ended = job.run("scripts/ci/compare --base-ref main workloads/a.json")
        assert ended.returncode == status
        assert [words.split()[0] for words in job.asked()] == ["ab"]
    job.answer(build=1)
    ended = job.run("scripts/ci/compare --base-ref main workloads/a.json")
    assert ended.returncode == 1


def test_equal_programs_pass_without_being_measured(job: Job) -> None:
    (job.programs / "equal").touch()
    ended = job.run("scripts/ci/compare --base-ref main workloads/a.json", GITHUB_ACTIONS="true")
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
    ended = job.run("scripts/ci/compare --base-ref main --product mine --blocks 3 workloads/a.json")
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
    "words",
    ["--base-ref nowhere workloads/a.json", "--base-ref main workloads/none.json",
     "--base-ref main --policy none.json workloads/a.json", "--base-ref main --product none workloads/a.json"],
)
def test_missing_inputs_are_reported_before_anything_is_built(job: Job, words: str) -> None:
    ended = job.run(f"scripts/ci/compare {words}")
    assert ended.returncode == 64 and re.search("none|nowhere", ended.stderr), ended.stderr
    asked = job.programs / "swift-asked"
    assert not asked.exists() or job.builds() == []
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


def test_empty_variables_of_a_template_are_ignored(job: Job) -> None:
    assert job.run("scripts/ci/compare --base-ref main --policy '' --blocks '' workloads/a.json").returncode == 0
    measured, gate, *_ = job.asked()
    assert "--policy scripts/ci/policy.json --layouts 15 workloads/a.json" in measured
    assert gate.endswith("--policy scripts/ci/policy.json")
    (job.folder / "scripts/ci/policy.json").unlink()
    (job.programs / "asked").unlink()
    assert job.run("scripts/ci/compare --base-ref main workloads/a.json").returncode == 0
    assert not any("--policy" in words for words in job.asked())


def test_the_change_is_built_once_where_commits_are_built(job: Job) -> None:
    assert job.run("scripts/ci/compare --base-ref main workloads/a.json").returncode == 0
    (build,) = job.builds()
    refs = job.folder / ".build/refs"
    tree = Path(build[build.index("--package-path") + 1])
    assert tree.is_relative_to(refs) and (tree / "Package.swift").exists()
    assert build[build.index("--scratch-path") + 1] == str(refs / "build")


def test_no_build_writes_to_a_terminal(job: Job) -> None:
    """On a terminal, SwiftPM compiles with -color-diagnostics, unlike opbench, which builds the base: everything would be compiled twice."""
    ended, shown = on_a_terminal(lambda streams: job.run("scripts/ci/compare --base-ref main workloads/a.json", streams))
    assert ended.returncode == 0, shown
    assert len(job.builds()) == 1
    assert not (job.programs / "to-a-terminal").exists()
    # Still visible to someone who waits for it.
    assert "compiling" in shown


def test_a_package_outside_the_tree_is_built_in_place(job: Job) -> None:
    job.answer(resolve=1)
    ended = job.run("scripts/ci/compare --base-ref main workloads/a.json")
    assert ended.returncode == 0, ended.stderr
    assert job.builds() == [
        ["build", "--configuration", "release", "-Xswiftc", "-use-ld=lld", "--product", "opbench"]
    ]


def test_a_tree_kept_from_another_clone_keeps_its_files_times(job: Job) -> None:
    """Files that a job in a new clone does not change are not recompiled."""
    (job.folder / "same.swift").write_text("same", encoding="utf-8")
    (job.folder / "changing.swift").write_text("old", encoding="utf-8")
    job.commit()
    line = "scripts/ci/compare --base-ref main workloads/a.json"
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


@pytest.mark.parametrize(("gate", "status"), [(0, 1), (2, 2), (7, 7)])
def test_a_failed_report_fails_the_job_without_hiding_the_verdict(job: Job, gate: int, status: int) -> None:
    job.answer(gate=gate)
    (job.programs / "no-page").touch()
    assert job.run("scripts/ci/compare --base-ref main workloads/a.json").returncode == status


def of_the_real_opbench(job: Job, inject: str = "", building: str = "true") -> None:
    """Replaces the built programs by the real one, and makes a workload and a commit before HEAD."""
    if not OPBENCH.exists():
        pytest.skip(f"{OPBENCH} is not built")
    program = f'#!/bin/sh\nif [ "$1" = ab ]; then shift; set -- ab {inject} "$@"; fi\nexec {OPBENCH} "$@"\n'
    (job.programs / "opbench").write_text(program, encoding="utf-8")
    swift = (
        '#!/bin/sh\necho "$*" >> "$BIN/swift-asked"\n'
        'case "$*" in *--show-bin-path*) echo "$BIN"; exit ;; --version) echo 1; exit ;; esac\n'
        f"case $1 in build) {building} ;; esac\n"
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


def test_equal_programs_of_the_real_opbench_pass_at_once(job: Job) -> None:
    of_the_real_opbench(job)
    ended = job.run("scripts/ci/compare --base-ref HEAD~1 w.json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.startswith("### ✅ opbench gate: pass (equal programs)\n")
    assert not (job.folder / ".build/compare/results/compare").exists()


@pytest.mark.parametrize(
    ("options", "inject", "status", "verdict"),
    [
        ("--blocks 1 --layouts 0", "", 7, "inconclusive"),
        ("--blocks 1 --layouts 0 --inconclusive pass", "", 0, "inconclusive"),
        ("--blocks 15 --layouts 0", "--inject-slowdown 2", 2, "regression"),
    ],
)
def test_the_line_with_the_real_opbench(job: Job, options: str, inject: str, status: int, verdict: str) -> None:
    """Runs the line of the templates to the files that they show; only the compiler is scripted."""
    # Each build makes a different program.
    of_the_real_opbench(job, inject, 'echo "#" >> "$BIN/opbench"')
    ended = job.run(f"scripts/ci/compare --base-ref HEAD~1 {options} w.json", GITHUB_ACTIONS="true")
    assert ended.returncode == status, ended.stdout + ended.stderr
    results = job.folder / ".build/compare"
    first = (results / "comment.md").read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("### ") and f" opbench gate: {verdict} (" in first, first
    suite = ElementTree.parse(results / "junit.xml").getroot()
    # Never plain green.
    assert len(suite.findall(".//failure" if status == 2 else ".//skipped")) > 0
    assert ("::error " if status == 2 else "::warning ") in ended.stdout
    # The script and opbench build in one place: first HEAD, which opbench then finds built, then the base.
    builds = job.builds()
    assert len(builds) == 3 and builds[0] == builds[1] == builds[2], builds
    assert f"opbench: building HEAD (" in ended.stderr.split("opbench: building HEAD~1 (")[0]
    assert (results / "results/compare/samples.csv").exists()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("workloads/a.json", "--base-ref"), ("--base-ref main", "workload"), ("--base-ref", "--base-ref"),
        ("--base main w.json", "--base"), ("--base-ref main --inconclusive maybe w.json", "--inconclusive"),
    ],
)
def test_bad_usage(job: Job, words: str, named: str) -> None:
    ended = job.run(f"scripts/ci/compare {words}")
    assert ended.returncode == 64
    assert named in ended.stderr
    assert not (job.programs / "asked").exists()


def test_no_job_is_green_without_a_verdict() -> None:
    """Nothing turns the exit code of the comparison into a success, except for inconclusive results."""
    steps = ACTION["runs"]["steps"]
    (job,) = GITHUB["jobs"].values()
    assert "continue-on-error" not in job and not any("continue-on-error" in step for step in job["steps"])
    assert [step["name"] for step in steps if step.get("continue-on-error")] == ["Comment"]
    assert "if" not in action_step("Compare")
    # Inconclusive is yellow: on GitHub by annotations, on GitLab by its exit code.
    assert ACTION["inputs"]["inconclusive"]["default"] == "pass"
    assert (GITLAB["opbench"]["variables"]["OPBENCH_INCONCLUSIVE"], GITLAB["opbench"]["allow_failure"]) == ("", {"exit_codes": 7})
    # Steps that show the results run whatever the results are.
    for step in steps[steps.index(action_step("Compare")) + 1 :]:
        assert step["if"] == "always()"
    assert GITLAB["opbench"]["artifacts"]["when"] == "always"


class Notes(BaseHTTPRequestHandler):
    """GitLab's notes of a merge request, two on a page."""

    notes: ClassVar[list[dict]] = []

    def answer(self, value: object) -> None:
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def body(self) -> str:
        assert self.headers["PRIVATE-TOKEN"] == "secret"
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        return parse_qs(text)["body"][0]

    def do_GET(self) -> None:
        page = int(parse_qs(urlsplit(self.path).query)["page"][0])
        self.answer(self.notes[2 * page - 2 : 2 * page])

    def do_POST(self) -> None:
        self.notes.append({"id": len(self.notes) + 10, "body": self.body()})
        self.answer({})

    def do_PUT(self) -> None:
        number = int(self.path.rsplit("/", 1)[1])
        next(note for note in self.notes if note["id"] == number)["body"] = self.body()
        self.answer({})

    def log_message(self, *_: object) -> None:
        pass


# Runs a script of actions/github-script on the comments in a file.
GITHUB_SCRIPT = """
const fs = require("fs"), [file, script] = process.argv.slice(1);
const comments = JSON.parse(fs.readFileSync(file));
const place = ({ owner, repo, issue_number }) => { if (`${owner}/${repo}/${issue_number}` !== "o/r/7") throw "elsewhere"; };
const issues = {
    listComments: "list",
    updateComment: async ({ comment_id, body }) => { comments.find(({ id }) => id === comment_id).body = body; },
    createComment: async ({ body, ...where }) => { place(where); comments.push({ id: comments.length, body }); },
};
const paginate = async (list, where) => { place(where); return list === "list" ? comments : []; };
const context = { repo: { owner: "o", repo: "r" }, issue: { number: 7 } };
const run = new (async () => {}).constructor("github", "context", "require", script);
run({ rest: { issues }, paginate }, context, require).then(() => fs.writeFileSync(file, JSON.stringify(comments)));
"""


def test_github_has_one_comment_which_later_jobs_update_and_a_summary(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    comments, summary = tmp_path / "comments.json", tmp_path / "summary.md"
    comments.write_text(json.dumps([{"id": 0, "body": "of somebody"}]), encoding="utf-8")

    def run_steps() -> list[str]:
        """Runs the steps that show the results; returns the comments."""
        subprocess.run(
            ["bash", "-e", "-c", action_step("Summary")["run"]], cwd=tmp_path, check=True, timeout=60,
            env=os.environ | {"GITHUB_STEP_SUMMARY": str(summary)},
        )
        subprocess.run(
            ["node", "-e", GITHUB_SCRIPT, comments, action_step("Comment")["with"]["script"]],
            cwd=tmp_path, check=True, timeout=60,
        )
        return [comment["body"] for comment in json.loads(comments.read_text(encoding="utf-8"))]

    # Nothing was compared.
    assert run_steps() == ["of somebody"] and not summary.exists()
    (tmp_path / "opbench-results").mkdir()
    for verdict in ("pass", "regression"):
        (tmp_path / "opbench-results/comment.md").write_text(f"{verdict}\n", encoding="utf-8")
        first, second = run_steps()
        assert first == "of somebody" and second.startswith(f"{verdict}\n")
    assert summary.read_text(encoding="utf-8") == "pass\nregression\n"


def test_gitlab_has_one_note_which_later_jobs_update(tmp_path: Path) -> None:
    Notes.notes = [{"id": number, "body": f"of somebody {number}"} for number in range(3)]
    (line,) = GITLAB["opbench"]["after_script"]
    with ThreadingHTTPServer(("localhost", 0), Notes) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        variables = {
            "CI_API_V4_URL": f"http://localhost:{server.server_port}", "CI_PROJECT_ID": "1",
            "CI_MERGE_REQUEST_IID": "2", "OPBENCH_GITLAB_TOKEN": "secret", "no_proxy": "localhost",
        }
        (tmp_path / "opbench-results").mkdir()
        for verdict in ("pass & more", "regression"):
            (tmp_path / "opbench-results/comment.md").write_text(verdict, encoding="utf-8")
            ended = subprocess.run(
                ["sh", "-c", line], cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True, timeout=60,
            )
            assert ended.returncode == 0, ended.stderr
            assert len(Notes.notes) == 4 and Notes.notes[3]["body"].startswith(verdict)
        server.shutdown()
    assert [note["body"] for note in Notes.notes[:3]] == ["of somebody 0", "of somebody 1", "of somebody 2"]


def test_steps_of_the_image_are_scripts_that_ci_runs() -> None:
    lines = (CI / "Dockerfile").read_text(encoding="utf-8").splitlines()
    steps = [shlex.split(line)[1:] for line in lines if line.startswith("RUN ")]
    assert steps and not any(line.endswith("\\") for line in lines)
    # .ci/run and scripts/test, and the scripts that they run.
    ci = {ROOT / ".ci/run", ROOT / "scripts/test"}
    for script in list(ci):
        named = set(re.findall(r"\bscripts/[\w/-]+", script.read_text(encoding="utf-8")))
        ci |= {ROOT / name for name in named if (ROOT / name).is_file()}
    text = "\n".join(path.read_text(encoding="utf-8") for path in ci)
    for script, *words in steps:
        assert os.access(ROOT / script, os.X_OK), script
        assert re.search(rf'(^|[\s"/]){re.escape(script)}"?( {re.escape(" ".join(words))})?\b', text, re.M), script
    # The packages of a job are those that the suite needs.
    setup = (ROOT / "scripts/setup.bash").read_text(encoding="utf-8")
    for text in (setup, action_step("Install")["run"], GITLAB["opbench"]["before_script"][0]):
        assert "libjemalloc-dev" in text


def test_the_image_leaves_out_what_git_does() -> None:
    def patterns(name: str) -> list[str]:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line and not line.startswith("#")]

    def of_docker(pattern: str) -> str:
        # Docker's patterns begin at the top level; git's do only with a slash before their last part.
        kept = "!" * pattern.startswith("!")
        path = pattern.removeprefix("!").removesuffix("/")
        return kept + (path.removeprefix("/") if "/" in path else f"**/{path}")

    assert patterns(".dockerignore") == [of_docker(pattern) for pattern in patterns(".gitignore")]
