"""The services of scripts/setup.bash for other scripts: Python environments with exactly the listed requirements."""

import os
import subprocess
import zipfile
from pathlib import Path

from conftest import ROOT, on_a_terminal


def wheel(folder: Path, name: str, version: str, *needs: str) -> str:
    """Makes an empty package, and returns its requirement line."""
    about = f"{name}-{version}.dist-info"
    file = folder / f"{name}-{version}-py3-none-any.whl"
    metadata = [f"Name: {name}", f"Version: {version}", "Provides-Extra: more", *(f"Requires-Dist: {need}" for need in needs)]
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{about}/METADATA", "\n".join(["Metadata-Version: 2.1", *metadata, ""]))
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return f"{name}=={version}\n"


def test_an_environment_has_what_is_listed_and_lacking_dependencies_are_reported(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(wheel(tmp_path, "user", "1.0", "used"), encoding="utf-8")
    for name in ("used", "user"):
        wheel(tmp_path, name, "2.0")
    made = subprocess.run(
        ["bash", "-c", "set -euo pipefail; source scripts/setup.bash; make_venv \"$1\" \"$2\"", "setup",
         tmp_path / "made", requirements],
        cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull},
    )  # fmt: skip
    assert made.returncode == 1
    assert "requirements.txt lack dependencies of their packages: user 1.0 requires used, which is not installed." in made.stderr
    installed = [path.name for path in tmp_path.glob("made/lib/python*/site-packages/use*")]
    assert installed == ["user-1.0.dist-info"], "neither a later release nor another package"
    assert not (tmp_path / "made" / "made-from").exists()


OUTPUT = """\
Fetching https://example.org/package from cache
Computing version for https://example.org/package
[0/1] Planning build
Building for production...
[1/7] Compiling Model Rows.swift
[2/7] Compiling Model Text.swift
Text.swift:3:4: error: cannot find 'x' in scope"""


def build(folder: Path, output: str, status: int, streams: dict | None = None) -> subprocess.CompletedProcess[str]:
    """Builds with a compiler that prints the output, pauses for more than the interval of a log, and exits."""
    swift = folder / "swift"
    swift.write_text(
        f"#!/bin/sh\nif [ -t 1 ]; then exit 9; fi\necho \"{output}\"\nsleep 1.5\nexit {status}\n", encoding="utf-8"
    )
    swift.chmod(0o755)
    line = "set -euo pipefail; source scripts/setup.bash; build_interval=1; swift_build things --configuration release"
    return subprocess.run(
        ["bash", "-c", line, "builder"], cwd=ROOT, timeout=60,
        env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
        **(streams or {"capture_output": True, "text": True}),
    )


def test_a_build_shows_steps_and_no_chatter(tmp_path: Path) -> None:
    built = build(tmp_path, OUTPUT, 0)
    lines = built.stderr.splitlines()
    assert (built.returncode, built.stdout, lines[0]) == (0, "", "builder: building things")
    assert any("2 of 7 steps" in line for line in lines[1:-1])
    assert not any(word in built.stderr for word in ("example.org", "Planning", "production", "error:"))


def test_a_failed_build_prints_its_diagnostics(tmp_path: Path) -> None:
    built = build(tmp_path, OUTPUT, 3)
    assert (built.returncode, built.stderr.splitlines()[-1]) == (3, OUTPUT.splitlines()[-1])


def test_a_build_with_nothing_to_do_prints_nothing(tmp_path: Path) -> None:
    built = build(tmp_path, "Building for production...\n[0/3] Write sources\nBuild complete! (1.00s)", 0)
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")


def test_a_build_has_one_line_of_a_terminal(tmp_path: Path) -> None:
    ended, shown = on_a_terminal(lambda streams: build(tmp_path, OUTPUT, 3, streams))
    first, rest = shown.split("\r\n", 1)
    assert (ended.returncode, first) == (3, "builder: building things")
    *moving, diagnostics = rest.split("\r\x1b[2K")
    assert "2 of 7 steps" in moving[-1]
    assert not any("\n" in line for line in moving)
    assert diagnostics.split() == OUTPUT.splitlines()[-1].split()


def test_scripts_build_only_through_setup_bash() -> None:
    for script in sorted((ROOT / "scripts").iterdir()):
        if script.is_file() and "source" in script.read_text(encoding="utf-8") and script.name != "setup.bash":
            lines = script.read_text(encoding="utf-8").splitlines()
            builds = [line for line in lines if "swift build" in line and not line.lstrip().startswith("#")]
            assert all("$(swift build" in line for line in builds), (script.name, builds)
