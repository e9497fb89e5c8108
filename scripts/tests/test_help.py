"""The scripts' --help: printed at once, without building or installing anything, and equal to their programs' help."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

# opbench's own help is made by its parser, so it must be built first.
BUILT_FIRST = {"opbench"}
SCRIPTS = sorted(
    path.name for path in (ROOT / "scripts").iterdir() if path.is_file() and os.access(path, os.X_OK) and not path.suffix
)
# The program of a script, and the place of the text in its sources.
PROGRAMS = [("stress", "EngineStress"), ("explore", "explore")]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the files that the scripts read, in which nothing was built or installed."""
    copy = tmp_path / "package"
    for name in ("scripts", "Tests", "workloads"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def help_of(script: Path, tmp_path: Path, word: str = "--help") -> subprocess.CompletedProcess[str]:
    """Runs a script where nothing can be built or installed."""
    stubs = tmp_path / "stubs"
    stubs.mkdir(exist_ok=True)
    for name in ("swift", "apt-get", "sudo"):
        shutil.copy2("/bin/false", stubs / name)
    environment = os.environ | {"PATH": f"{stubs}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([script, word], env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in BUILT_FIRST])
def test_help_needs_no_build(name: str, package: Path, tmp_path: Path) -> None:
    before = sorted(package.rglob("*"))
    for word in ("--help", "-h"):
        result = help_of(package / "scripts" / name, tmp_path, word)
        assert result.returncode == 0, result.stderr
        assert result.stderr == ""
        assert name in result.stdout
    assert sorted(package.rglob("*")) == before


@pytest.mark.parametrize(("script", "program"), PROGRAMS)
def test_help_matches_the_program(script: str, program: str, tmp_path: Path) -> None:
    binary = ROOT / ".build/debug" / program
    if not binary.exists():
        pytest.skip(f"{binary} is not built")
    said = subprocess.run([binary, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert help_of(ROOT / "scripts" / script, tmp_path).stdout == said


def test_a_missing_text_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "Some.swift"
    source.write_text('    static let help = "short"\n', encoding="utf-8")
    command = 'source "$1/scripts/setup.bash"; swift_text "$2" help'
    result = subprocess.run(["bash", "-c", command, "stress", ROOT, source], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (1, "")
    assert "no text help" in result.stderr
