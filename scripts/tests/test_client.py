"""Programs elsewhere that depend on the package by URL and tag build, with the guide's in debug and others in release, and
fetch nothing else, or with the trait Metrics only swift-metrics."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "EngineAlone": "first\nsecond\n",
    "EveryProduct": "notified in the queue: true\ntext in the queue: true\nprogress: 2 of 2\n",
}
PUBLISHED = """\
uploads: added 3, started 0, finished 0, cancelled 0, waiting 1, ready 2, running 0
parts: added 4, started 4, finished 4, cancelled 0, waiting 0, ready 0, running 0
uploads: added 3, started 3, finished 3, cancelled 0, waiting 0, ready 0, running 0
workers: true
published at the beginning and at the end: 2
metrics: 10 14
"""


def run(*command, **options):
    return subprocess.run(
        [str(part) for part in command], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=1_500, **options,
    )


def git(*command, **variables):
    ended = run("git", "-c", "user.name=test", "-c", "user.email=test@localhost", *command, env=os.environ | variables)
    assert ended.returncode == 0, ended.stdout
    return ended.stdout.strip()


def tag(repository, files, version):
    """Tags the current contents of the folder `files`, without ignored files, whether committed or not."""
    variables = {"GIT_DIR": str(repository), "GIT_INDEX_FILE": str(repository) + ".index"}
    git("--work-tree", files, "add", "--all", **variables)
    commit = git("commit-tree", "-m", "as it is", git("write-tree", **variables), **variables)
    git("tag", version, commit, **variables)


class Client:
    def __init__(self, folder, url):
        self.folder = folder
        self.cache = folder.parent / "cache"
        # The environment of others, without this package's variables.
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("OPBENCH_")}
        self.environment["CLIENT_URL"] = url

    def swift(self, command, *options):
        return run(
            "swift", command, "--package-path", self.folder, "--cache-path", self.cache, *options, env=self.environment
        )

    def fetched(self):
        return sorted(path.name for path in (self.folder / ".build/checkouts").iterdir())

    def pinned(self):
        pins = json.loads((self.folder / "Package.resolved").read_text())["pins"]
        return sorted((pin["identity"], pin["state"]["version"]) for pin in pins)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    if shutil.which("swift") is None:
        pytest.skip("there is no swift")
    repository = tmp_path_factory.mktemp("upstream") / "opbench"
    git("clone", "--quiet", "--bare", ROOT, repository)
    tag(repository, ROOT, "1.0.0")
    return f"file://{repository}"


@pytest.fixture(scope="module")
def client(clone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere") / "client"
    shutil.copytree(ROOT / "Tests/Client", folder, ignore=shutil.ignore_patterns(".build", "Package.resolved"))
    return Client(folder, clone)


def runs(folder, programs):
    for program, output in programs.items():
        ended = run(folder / program)
        assert (ended.returncode, ended.stdout) == (0, output)


# In this order: a package that was fetched stays.


def test_the_programs_build_with_foundations_classes_and_fetch_nothing_else(client):
    """As on Apple's platforms, but with Foundation on Linux."""
    folder = client.folder / ".build-apple"
    apple = Client(client.folder, client.environment["CLIENT_URL"])
    apple.environment["OPERATION_ENGINE_PLATFORM"] = "apple"
    built = apple.swift("build", "--scratch-path", folder)
    assert built.returncode == 0, built.stdout
    assert sorted(path.name for path in (folder / "checkouts").iterdir()) == ["opbench"]
    assert not list((folder / "debug/CLinux.build").glob("*.o"))
    runs(folder / "debug", PROGRAMS)


def test_clients_build_for_release_and_fetch_what_a_trait_needs(client):
    client.environment["CLIENT_METRICS"] = "1"
    built = client.swift("build", "--configuration", "release")
    assert built.returncode == 0, built.stdout
    assert client.fetched() == ["opbench", "swift-metrics"]
    pinned = dict(client.pinned())
    assert (sorted(pinned), pinned["opbench"]) == (["opbench", "swift-metrics"], "1.0.0")
    runs(client.folder / ".build/release", PROGRAMS | {"PublishedMetrics": PUBLISHED})


def test_the_program_in_the_guide(clone, tmp_path):
    """The manifest and the source of the engine's first article, with a clone next to it."""
    article = ROOT / "Sources/OperationEngine/OperationEngine.docc/YourFirstQueue.md"
    section = article.read_text(encoding="utf-8").split("\n### Make a program\n")[1].split("\n### ")[0]
    manifest, program = re.findall(r"^```swift\n(.*?)^```$", section, re.M | re.S)
    git("clone", "--quiet", "--branch", "1.0.0", clone, tmp_path / "opbench")
    folder = tmp_path / "pages"
    (folder / "Sources/pages").mkdir(parents=True)
    (folder / "Package.swift").write_text(manifest)
    (folder / "Sources/pages/main.swift").write_text(program)
    client = Client(folder, clone)
    built = client.swift("build")
    assert built.returncode == 0, built.stdout
    assert not (folder / ".build/checkouts").exists() or client.fetched() == []
    lines = run(folder / ".build/debug/pages").stdout.splitlines()
    assert (sorted(lines[:3]), lines[3:]) == (["page a", "page b", "page c"], ["index"])


def test_a_client_may_use_other_versions_of_the_suites_dependencies(clone, tmp_path):
    """A package by the name of swift-argument-parser, in a version that the suite could not take."""
    files = tmp_path / "swift-argument-parser"
    (files / "Sources/ArgumentParser").mkdir(parents=True)
    (files / "Sources/ArgumentParser/Parser.swift").write_text("public let parser = 0\n")
    (files / "Package.swift").write_text(
        "// swift-tools-version: 6.2\nimport PackageDescription\n"
        'let package = Package(name: "swift-argument-parser",\n'
        '    products: [.library(name: "ArgumentParser", targets: ["ArgumentParser"])],\n'
        '    targets: [.target(name: "ArgumentParser")])\n'
    )
    repository = tmp_path / "other/swift-argument-parser"
    git("init", "--quiet", "--bare", repository)
    tag(repository, files, "0.0.1")
    folder = tmp_path / "client"
    (folder / "Sources/Both").mkdir(parents=True)
    (folder / "Sources/Both/main.swift").write_text("import ArgumentParser\nimport OperationEngine\n")
    (folder / "Package.swift").write_text(
        "// swift-tools-version: 6.2\nimport PackageDescription\n"
        'let package = Package(name: "both",\n'
        f'    dependencies: [.package(url: "{clone}", exact: "1.0.0", traits: []),\n'
        f'        .package(url: "file://{repository}", exact: "0.0.1")],\n'
        '    targets: [.executableTarget(name: "Both", dependencies: [\n'
        '        .product(name: "OperationEngine", package: "opbench"),\n'
        '        .product(name: "ArgumentParser", package: "swift-argument-parser")])])\n'
    )
    client = Client(folder, clone)
    resolved = client.swift("package", "resolve")
    assert resolved.returncode == 0, resolved.stdout
    assert client.pinned() == [("opbench", "1.0.0"), ("swift-argument-parser", "0.0.1")]
    assert client.fetched() == ["opbench", "swift-argument-parser"]


def test_a_program_of_the_suite_fetches_three_packages(tmp_path):
    """Tests/Examples/pthread-queue, which depends on this package by path; it is built and run as a target of this package."""
    if shutil.which("swift") is None:
        pytest.skip("there is no swift")
    folder = tmp_path / "pthread-queue"
    shutil.copytree(ROOT / "Tests/Examples/pthread-queue", folder, ignore=shutil.ignore_patterns(".build", "Package.resolved"))
    manifest = folder / "Package.swift"
    manifest.write_text(manifest.read_text().replace('"../../.."', f'"{ROOT}"'))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPBENCH_")}
    resolved = run("swift", "package", "--package-path", folder, "resolve", env=environment)
    assert resolved.returncode == 0, resolved.stdout
    checkouts = {path.name for path in (folder / ".build/checkouts").iterdir()}
    assert checkouts == {"swift-argument-parser", "hdrhistogram-swift", "swift-numerics"}
