"""The functions that execute a scenario's instructions, and its atomic ones."""

import shutil
import subprocess

from engine_costs.callgrind import Atomics
from engine_costs.measure import Program, per_operation
from engine_costs.table import Column, write_table

# Functions with fewer are summed up.
LEAST_INSTRUCTIONS = 5


def print_profile(program: Program, scenario: str) -> None:
    """Prints one line per function, the most expensive first."""
    profile = program.profile(scenario)
    atomics = profile.only(Atomics().among([profile])).by_function()
    shown, rest = [], [0, 0]
    for function, count in profile.by_function().most_common():
        if per_operation(count) >= LEAST_INSTRUCTIONS:
            shown.append((function, count, atomics[function]))
        else:
            rest = [rest[0] + count, rest[1] + atomics[function]]
    lines = [(name, count, locked) for name, (_, count, locked) in zip(_demangled(shown), shown, strict=True)]
    lines += [("all others", *rest), ("together", profile.instructions, atomics.total())]
    write_table(
        [Column("instructions"), Column("atomics"), Column(f"function ({scenario})", is_text=True)],
        [[f"{per_operation(count):.1f}", f"{per_operation(locked):.2f}", name] for name, count, locked in lines],
    )


def _demangled(functions: list[tuple[str, int, int]]) -> list[str]:
    names = [name for name, _, _ in functions]
    if shutil.which("swift") is None:
        return names
    done = subprocess.run(
        ["swift", "demangle", "--simplified"], input="\n".join(names), capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    return lines if done.returncode == 0 and len(lines) == len(names) else names
