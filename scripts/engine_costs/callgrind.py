"""Instructions counted by valgrind's callgrind, by their place in the programs, and which of them are atomic."""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

OPTIONS = ["--tool=callgrind", "--fair-sched=yes", "--dump-instr=yes"]
LIBRARY = re.compile(r"(c?)ob=\((\d+)\)(?: (.*))?$")
COUNTED = re.compile(r"(0x[0-9a-f]+|\+\d+|-\d+|\*) \S+ (\d+)$")
# A locked instruction, or an exchange with memory, which is implicitly locked.
ATOMIC_ON_X86 = re.compile(r"^\s*([0-9a-f]+):\s+(?:lock\s.*|xchg\w*\s.*\(.*)$", re.MULTILINE)

Place = tuple[str, int]
"""An instruction: its library and address."""


class CannotMeasure(Exception):
    """A program did not do what it should: exit code 1."""

    exit_code = 1


def read_counts(path: Path) -> Counter[Place]:
    """How often each instruction was executed, from callgrind's file: lines `address line count`, below their library."""
    counts: Counter[Place] = Counter()
    names: dict[str, str] = {}
    library, address, is_call = "", 0, False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if named := LIBRARY.match(line):
            callee, number, name = named.groups()
            # A name is given once.
            if name is not None:
                names[number] = name
            if not callee:
                library = names[number]
        elif line.startswith("calls="):
            is_call = True
        elif counted := COUNTED.match(line):
            position = counted[1]
            address = int(position, 16) if position[0] == "0" else address + int(position.replace("*", "0"))
            # The line after `calls=` has the cost of the call, which is counted where it is spent.
            if not is_call:
                counts[library, address] += int(counted[2])
            is_call = False
    return counts


def atomics_among(counts: Iterable[Counter[Place]]) -> set[Place]:
    """The atomic read-modify-write instructions of all libraries of the counts."""
    libraries = {library for one in counts for library, _ in one}
    return {place for library in libraries if library.startswith("/") for place in _atomics(library)}


def _atomics(library: str) -> set[Place]:
    disassembler = shutil.which("objdump") or shutil.which("llvm-objdump")
    if disassembler is None:
        raise CannotMeasure("neither objdump nor llvm-objdump is installed; install binutils")
    done = subprocess.run([disassembler, "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotMeasure(f"{disassembler} {library}: {done.stderr.strip()}")
    return {(library, int(address, 16)) for address in ATOMIC_ON_X86.findall(done.stdout)}
