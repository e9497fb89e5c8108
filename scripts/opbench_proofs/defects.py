"""Defects that are put into the sources on purpose: the definitions in Tests/Defects, and a copy of the package to build them."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

PARTS = ("Package.swift", "Package.resolved", "Sources", "Tests")
SOURCES = Path("Sources")
FIELDS = {"says", "file", "workload", "names", "old", "new"}


class DefectMistake(Exception):
    """A definition that cannot be used."""


@dataclass(frozen=True)
class Defect:
    """A defect, and what an explanation may name first for it: functions, or culprits of the slowest operations."""

    name: str
    says: str
    file: Path
    """Below the package's folder."""
    workload: str
    """The workload that shows it."""
    names: tuple[str, ...]
    old: str
    """Occurs exactly once in the file."""
    new: str
    reasons: tuple[str, ...] = ()
    """The first reasons of the slowest operations, if the defect makes few operations slow."""

    def applied(self, text: str) -> str:
        """The file's text with the defect."""
        count = text.count(self.old)
        if count != 1:
            raise DefectMistake(f"{self.name}: its old text occurs {count} times in {self.file}, not once")
        return text.replace(self.old, self.new)

    def is_named(self, function: str) -> bool:
        """Whether a function's name, `Type.name(labels)` or the full name, is one of `names`."""
        words = function.partition("(")[0].rpartition(" ")[2]
        return any(words == name or words.endswith(f".{name}") for name in self.names)

    def is_culprit(self, name: str | None, reason: str | None) -> bool:
        """Whether a culprit is one of `names`, or has a number after it, and the reason is one of `reasons`."""
        return reason in self.reasons and any(name == one or (name or "").startswith(f"{one} ") for one in self.names)


def read_defects(path: Path) -> list[Defect]:
    """All definitions of a file, in order.

    Each begins with `# name` and lines `field: value`; then `--- old` and `--- new` precede texts of whole lines.
    """
    defects: list[Defect] = []
    name, fields, part = "", {}, ""

    def finish() -> None:
        if name:
            defects.append(_made(name, fields))

    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            finish()
            name, fields, part = line[2:], {}, ""
        elif line in ("--- old", "--- new"):
            part = line[4:]
            fields[part] = ""
        elif part:
            fields[part] += line + "\n"
        elif name and ":" in line:
            field, _, value = line.partition(":")
            fields[field] = value.strip()
        elif line and not line.startswith("//"):
            raise DefectMistake(f"{path.name}: unexpected line “{line}”")
    finish()
    names = [defect.name for defect in defects]
    if twice := {name for name in names if names.count(name) > 1}:
        raise DefectMistake(f"{path.name}: several definitions are named {', '.join(sorted(twice))}")
    return defects


def _made(name: str, fields: dict[str, str]) -> Defect:
    if set(fields) - {"reasons"} != FIELDS:
        raise DefectMistake(f"{name}: has the fields {', '.join(sorted(fields))}, not {', '.join(sorted(FIELDS))}")
    names, reasons = (
        tuple(word.strip() for word in fields.get(field, "").split(",") if word.strip()) for field in ("names", "reasons")
    )
    old = fields["old"].strip("\n")
    if not names or not old:
        raise DefectMistake(f"{name}: names no function, or has no old text")
    new = fields["new"].strip("\n")
    return Defect(name, fields["says"], SOURCES / fields["file"], fields["workload"], names, old, new, reasons)


class Builds:
    """Builds of a copy of the package, one at a time, so that each compiles only the differences from the previous one."""

    def __init__(self, package: Path, folder: Path) -> None:
        self.package = package
        self.folder = folder
        self.tree = folder / "tree"

    def build(self, defect: Defect | None) -> Path:
        """Builds the program with the defect, or the unchanged sources without one."""
        self.update(defect)
        command = ["swift", "build", "--quiet", "--configuration", "release", "--product", "opbench"]
        command += ["--package-path", str(self.tree), "--scratch-path", str(self.folder / "build")]
        if subprocess.run(command, check=False).returncode != 0:
            raise DefectMistake(f"the build {defect.name if defect else 'without a defect'} failed")
        program = self.folder / (f"defect-{defect.name}" if defect else "base") / "opbench"
        program.parent.mkdir(exist_ok=True)
        built = self.folder / "build" / "release" / "opbench"
        if not program.exists() or program.read_bytes() != built.read_bytes():
            # Never overwritten in place, because it may be running.
            copy = program.with_name("opbench.new")
            shutil.copy2(built, copy)
            os.replace(copy, program)
        return program

    def _sources(self, defect: Defect | None) -> dict[Path, bytes]:
        """The contents of the copy by path."""
        files = {}
        for part in PARTS:
            place = self.package / part
            inside = os.walk(place, followlinks=True)
            for path in [place] if place.is_file() else [Path(at, name) for at, _, names in inside for name in names]:
                files[path.relative_to(self.package)] = path.read_bytes()
        if defect:
            files[defect.file] = defect.applied(files[defect.file].decode()).encode()
        return files

    def update(self, defect: Defect | None) -> None:
        """Updates the copy from the package, with the defect. Unchanged files keep their dates."""
        wanted = self._sources(defect)
        self.tree.mkdir(parents=True, exist_ok=True)
        for path in self.tree.rglob("*"):
            name = path.relative_to(self.tree)
            if path.is_file() and name not in wanted and name != Path("Package.resolved"):
                path.unlink()
        for name, content in wanted.items():
            path = self.tree / name
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
