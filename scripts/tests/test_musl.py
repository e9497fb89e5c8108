"""The engine's products compile where musl is the C library: they import neither Glibc nor another one, but CLinux."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "Sources/CLinux/include"


def test_no_file_imports_a_c_library():
    sources = [path for folder in (ROOT / "Sources").glob("OperationEngine*") for path in folder.rglob("*.swift")]
    library = re.compile(r"^\s*(@\w+ )?(\w+ )?import (\w+ )?(Glibc|SwiftGlibc|Musl|SwiftMusl)\b", re.M)
    assert sources
    assert [str(path) for path in sources if library.search(path.read_text(encoding="utf-8"))] == []


def preprocessed(header):
    """The lines of a header and of what it includes, each with the file that has it."""
    ended = subprocess.run(["clang", "-E", header], check=True, capture_output=True, text=True)
    file = ""
    for line in ended.stdout.splitlines():
        if marker := re.match(r'# \d+ "(.*?)"', line):
            file = marker[1]
        else:
            yield file, line


def test_no_header_hides_constants_of_the_c_library():
    """See CLinux.h: programs that import Glibc and the engine would not find those of an enum."""
    if shutil.which("clang") is None:
        pytest.skip("there is no clang")
    enum = re.compile(r"\benum\b")
    assert any(enum.search(line) for _, line in preprocessed("/usr/include/unistd.h"))
    for header in HEADERS.glob("*.h"):
        files = {file for file, line in preprocessed(header) if enum.search(line)}
        assert [file for file in files if not file.startswith(str(HEADERS))] == [], header


@pytest.fixture
def musl(tmp_path):
    """The compiler's arguments for musl's headers in place of glibc's, where they are installed (Debian's musl-dev)."""
    folders = sorted(Path("/usr/include").glob("*-linux-musl"))
    if not folders or shutil.which("swiftc") is None:
        pytest.skip("there are no headers of musl, or there is no swiftc")
    # Of the kernel's headers, which lie among glibc's.
    for name in ["linux", "asm-generic", "asm"]:
        places = [Path("/usr/include") / name, *Path("/usr/include").glob(f"*-linux-gnu/{name}")]
        (tmp_path / name).symlink_to(next(place for place in places if place.exists()))
    ended = subprocess.run(["clang", "-print-resource-dir"], check=True, capture_output=True, text=True)
    builtin = Path(ended.stdout.strip()) / "include"
    return ["-nostdinc", *(f"-isystem{folder}" for folder in [folders[0], tmp_path, builtin])]


def test_the_c_sources_compile_with_musls_headers(musl):
    for folder in ["CLinux", "CRecording"]:
        for source in (ROOT / "Sources" / folder).glob("*.c"):
            ended = subprocess.run(
                ["clang", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *musl, f"-I{HEADERS}",
                 f"-I{ROOT}/Sources/CRecording/include", source],
                check=False, capture_output=True, text=True,
            )
            assert ended.returncode == 0, ended.stderr


def test_the_swift_sources_compile_with_musls_headers(musl, tmp_path):
    modules = tmp_path / "all.modulemap"
    # The standard library's modules were built for glibc, and ask for its module.
    modules.write_text(
        f'module CLinux {{ header "{HEADERS}/CLinux.h" export * }}\n'
        f'module CRecording {{ header "{ROOT}/Sources/CRecording/include/CRecording.h" export * }}\n'
        "module SwiftGlibc { }\n"
    )
    clang = [word for argument in [*musl, f"-fmodule-map-file={modules}"] for word in ["-Xcc", argument]]
    for name in ["OperationEngine", "OperationEngineRecorder"]:
        ended = subprocess.run(
            ["swiftc", "-emit-module", "-emit-module-path", tmp_path / f"{name}.swiftmodule", "-module-name", name,
             "-wmo", "-swift-version", "6", "-package-name", "opbench", "-parse-as-library", "-I", tmp_path,
             "-module-cache-path", tmp_path / "cache", *clang, *(ROOT / "Sources" / name).rglob("*.swift")],
            check=False, capture_output=True, text=True,
        )
        assert ended.returncode == 0, ended.stderr
