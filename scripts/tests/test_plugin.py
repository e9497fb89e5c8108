"""`swift package opbench` finds the program of a package, or adds one, builds it and runs it; with a stub of OpBenchKit."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

KIT = """public typealias Work = @Sendable () -> Void
public protocol MeasuredQueue { func submit(_ work: @escaping Work) }
public struct Backend { public init(_ name: String, _ summary: String, make: (Int) -> any MeasuredQueue) {} }
public enum OpBenchMain {
    public static func run(backends: [Backend]) { print("ran", CommandLine.arguments.dropFirst()) }
}
"""
HEADING = "// swift-tools-version: 6.2\nimport PackageDescription\nlet package = Package(\n"
OPBENCH = HEADING + """    name: "opbench",
    products: [
        .library(name: "OpBenchKit", targets: ["OpBenchKit"]),
        .plugin(name: "OpBenchPlugin", targets: ["OpBenchPlugin"]),
    ],
    targets: [
        .target(name: "OpBenchKit"),
        .plugin(
            name: "OpBenchPlugin", capability: .command(intent: .custom(verb: "opbench", description: "stub")),
            path: "Sources/OpBenchPlugin"),
    ])
"""
MINE = HEADING + """    name: "mine", dependencies: [.package(path: "../opbench")], targets: [.target(name: "mine")])
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    if shutil.which("swift") is None:
        pytest.skip("there is no swift")
    for path, text in {
        "opbench/Package.swift": OPBENCH, "opbench/Sources/OpBenchKit/Kit.swift": KIT, "mine/Package.swift": MINE,
        "mine/Sources/mine/mine.swift": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "Sources/OpBenchPlugin", tmp_path / "opbench/Sources/OpBenchPlugin")
    return tmp_path / "mine"


def swift(package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["swift", "package", "opbench", *words], cwd=package, capture_output=True, text=True, timeout=600, check=False
    )


def test_a_program_is_added_found_and_run(package: Path) -> None:
    none = swift(package, "run", "w.json")
    # SwiftPM's own exit code is 1 whatever the plugin's is, and it passes the plugin's standard error to standard output.
    assert none.returncode == 1 and "swift package opbench init" in none.stdout and not (package / "Benchmarks").exists()

    added = swift(package, "init")
    assert added.returncode == 0, added.stderr
    ran = swift(package, "run", "a b.json", "--quick")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == 'ran ["run", "a b.json", "--quick"]\n' and "benchmarks" in ran.stderr
    # Now the program has a command of that name.
    assert swift(package, "init", "chain").stdout == 'ran ["init", "chain"]\n'
    assert swift(package, "--program", "none", "run").returncode == 1
    assert swift(package, "--program", "benchmarks", "list").stdout == 'ran ["list"]\n'


def test_a_program_that_does_not_build_is_an_error(package: Path) -> None:
    assert swift(package, "init").returncode == 0
    (package / "Benchmarks/main.swift").write_text("nonsense(\n", encoding="utf-8")
    ended = swift(package, "run")
    assert ended.returncode == 1 and "nonsense" in ended.stdout
    before = (package / "Package.swift").read_text(encoding="utf-8")
    (package / "Package.swift").write_text(before.replace("OpBenchKit", "Other"), encoding="utf-8")
    assert swift(package, "init").returncode == 1
