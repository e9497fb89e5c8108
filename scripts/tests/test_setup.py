"""The services of scripts/setup.bash for other scripts: Python environments with exactly the listed requirements."""

import os
import subprocess
import zipfile
from pathlib import Path

from conftest import on_a_terminal

ROOT = Path(__file__).resolve().parents[2]


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


def make_environment(folder: Path, requirements: str) -> subprocess.CompletedProcess[str]:
    (folder / "requirements.txt").write_text(requirements, encoding="utf-8")
    return subprocess.run(
        ["bash", "-c", "set -euo pipefail; source scripts/setup.bash; make_venv \"$1\" \"$2\"", "setup",
         folder / "made", folder / "requirements.txt"],
        cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull},
    )


def test_a_later_release_does_not_change_an_environment(tmp_path: Path) -> None:
    requirements = wheel(tmp_path, "used", "1.0") + wheel(tmp_path, "user", "1.0", "used[more]")
    wheel(tmp_path, "used", "2.0")
    made = make_environment(tmp_path, requirements)
    assert made.returncode == 0, made.stderr
    installed = {path.name for path in tmp_path.glob("made/lib/python*/site-packages/use*")}
    assert installed == {"used-1.0.dist-info", "user-1.0.dist-info"}


def test_an_unlisted_dependency_is_reported(tmp_path: Path) -> None:
    made = make_environment(tmp_path, wheel(tmp_path, "user", "1.0", "used"))
    assert made.returncode == 1
    assert "requirements.txt lack dependencies of their packages: user 1.0 requires used, which is not installed." in made.stderr
    assert not (tmp_path / "made" / "made-from").exists()


def test_no_build_writes_to_a_terminal(tmp_path: Path) -> None:
    swift = tmp_path / "swift"
    swift.write_text('#!/bin/sh\nif [ -t 1 ]; then exit 1; fi\necho "built $*"\nexit 3\n', encoding="utf-8")
    swift.chmod(0o755)
    line = "set -euo pipefail; source scripts/setup.bash; swift_build --quiet || exit $?"
    ended, shown = on_a_terminal(
        lambda streams: subprocess.run(
            ["bash", "-c", line], cwd=ROOT, timeout=60, env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, **streams
        )
    )
    assert (ended.returncode, shown.split()) == (3, ["built", "build", "--quiet"])


def test_scripts_build_only_through_setup_bash() -> None:
    for script in sorted((ROOT / "scripts").iterdir()):
        if script.is_file() and "source" in script.read_text(encoding="utf-8") and script.name != "setup.bash":
            lines = script.read_text(encoding="utf-8").splitlines()
            builds = [line for line in lines if "swift build" in line and not line.lstrip().startswith("#")]
            assert all("$(swift build" in line for line in builds), (script.name, builds)
