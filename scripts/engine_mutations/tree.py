"""A copy of the package in which every mutation can be switched on when a process starts."""

import shutil
from itertools import groupby
from pathlib import Path

from engine_mutations.definitions import ENGINE, Mutation, mutated

SWITCH = "OPERATION_ENGINE_MUTATION"
SWITCH_SOURCE = f"""\
import Glibc

enum MutationSwitch {{
    private static let active = getenv("{SWITCH}").flatMap {{ Int(String(cString: $0)) }} ?? -1
    @inline(never) static func isOn(_ number: Int) -> Bool {{ active == number }}
}}
"""
HANG_LIMITS = Path("Tests/TestSupport/HangLimit.swift")


def check(root: Path, mutations: list[Mutation]) -> None:
    """Raises a mistake unless every mutation has its place."""
    _changed_sources(root, mutations)


def update(tree: Path, root: Path, mutations: list[Mutation]) -> None:
    """Brings the copy up to date. A file that does not change keeps its date, so that the build is incremental."""
    changed = _changed_sources(root, mutations)
    changed[ENGINE / "Futex/MutationSwitch.swift"] = SWITCH_SOURCE
    # A mutated engine makes tests wait.
    limits = (root / HANG_LIMITS).read_text(encoding="utf-8")
    changed[HANG_LIMITS] = limits.replace(".seconds(60)", ".seconds(15)").replace(".seconds(240)", ".seconds(60)")
    wanted = {Path("Package.swift"), *changed}
    wanted |= {path.relative_to(root) for top in ("Sources", "Tests") for path in (root / top).rglob("*")}
    for path in [path for top in ("Sources", "Tests") for path in (tree / top).rglob("*")]:
        if path.relative_to(tree) not in wanted and (path.is_symlink() or not path.is_dir()):
            path.unlink()
    for path in sorted(wanted):
        copy, original = tree / path, root / path
        if original.is_dir() and not original.is_symlink():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        if original.is_symlink():
            copy.unlink(missing_ok=True)
            copy.symlink_to(original.readlink())
            continue
        data = changed[path].encode() if path in changed else original.read_bytes()
        if not copy.exists() or copy.read_bytes() != data:
            copy.write_bytes(data)
            if original.exists():
                shutil.copymode(original, copy)


def _changed_sources(root: Path, mutations: list[Mutation]) -> dict[Path, str]:
    in_order = sorted(mutations, key=lambda mutation: (mutation.file, mutation.number))
    return {
        ENGINE / file: mutated((root / ENGINE / file).read_text(encoding="utf-8"), list(group))
        for file, group in groupby(in_order, key=lambda mutation: mutation.file)
    }
