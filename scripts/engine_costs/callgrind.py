"""Instructions counted by valgrind's callgrind, by their place in the programs, and which of them are atomic."""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from engine_costs.errors import CannotMeasure

OPTIONS = ["--tool=callgrind", "--fair-sched=yes", "--dump-instr=yes"]

NAMED = re.compile(r"c?(ob|fn)=\((\d+)\)(?: (.*))?$")
COUNTED = re.compile(r"(0x[0-9a-f]+|\+\d+|-\d+|\*) \S+ (\d+)$")
# A locked instruction, or an exchange with memory, which is implicitly locked.
ATOMIC_ON_X86 = re.compile(r"^\s*([0-9a-f]+):\s+(?:lock\s.*|xchg\w*\s.*\(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """An instruction."""

    library: str
    address: int


@dataclass
class Profile:
    """The number of times that each instruction was executed, and its function."""

    counts: Counter[Place] = field(default_factory=Counter)
    functions: dict[Place, str] = field(default_factory=dict)

    @property
    def instructions(self) -> int:
        return self.counts.total()

    def more_than(self, other: "Profile") -> "Profile":
        """The counts of this profile in excess of the other's."""
        counts = Counter(self.counts)
        counts.subtract(other.counts)
        return Profile(counts, other.functions | self.functions)

    def by_function(self) -> Counter[str]:
        sums: Counter[str] = Counter()
        for place, count in self.counts.items():
            sums[self.functions[place]] += count
        return sums

    def only(self, places: set[Place]) -> "Profile":
        return Profile(Counter({place: n for place, n in self.counts.items() if place in places}), self.functions)


def read_profile(path: Path) -> Profile:
    """Reads callgrind's file: lines `address line count`, below the library and function that they belong to."""
    profile = Profile()
    names: dict[str, dict[str, str]] = {"ob": {}, "fn": {}}
    library = function = ""
    address = 0
    is_call = False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if named := NAMED.match(line):
            kind, number, name = named.groups()
            if name is not None:
                names[kind][number] = name
            # A name that begins with c belongs to a callee.
            if line.startswith("ob="):
                library = names["ob"][number]
            elif line.startswith("fn="):
                function = names["fn"][number]
        elif line.startswith("calls="):
            is_call = True
        elif counted := COUNTED.match(line):
            position = counted[1]
            address = int(position, 16) if position[0] == "0" else address + int(position.replace("*", "0"))
            if not is_call:
                place = Place(library, address)
                profile.counts[place] += int(counted[2])
                profile.functions[place] = function
            # The line after `calls=` has the cost of the call, which is already counted where it was spent.
            is_call = False
    return profile


class Atomics:
    """The atomic read-modify-write instructions of libraries; each library is scanned once."""

    def __init__(self) -> None:
        self._places: dict[str, set[Place]] = {}

    def among(self, profiles: Iterable[Profile]) -> set[Place]:
        """The atomic instructions in all libraries of the profiles."""
        libraries = {place.library for profile in profiles for place in profile.counts}
        for library in libraries - self._places.keys():
            self._places[library] = _atomic_places(library) if library.startswith("/") else set()
        return set().union(*(self._places[library] for library in libraries))


def _atomic_places(library: str) -> set[Place]:
    disassembler = shutil.which("objdump") or shutil.which("llvm-objdump")
    if disassembler is None:
        raise CannotMeasure("neither objdump nor llvm-objdump is installed; install binutils")
    done = subprocess.run(
        [disassembler, "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CannotMeasure(f"{disassembler} {library}: {done.stderr.strip()}")
    return {Place(library, int(address, 16)) for address in ATOMIC_ON_X86.findall(done.stdout)}
