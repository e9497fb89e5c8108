"""Plays scenarios, and counts the cost of one more operation.

Each scenario is played with two numbers of operations, each time in a separate process. The difference of the counts,
divided by the difference of the numbers, excludes the process's start. The processes are confined to one processor, where
the engine has one worker, and callgrind lets the threads run in turns, so the counts hardly vary.
"""

import difflib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

from engine_costs.callgrind import OPTIONS, Atomics, Profile, read_profile
from engine_costs.errors import BadInput, CannotMeasure

FEW, MANY = 4_000, 12_000
TIMEOUT_S = 300


@dataclass(frozen=True)
class Cost:
    """The cost of one operation; None if it is not measured, or if there is no such instant."""

    allocations: float | None = None
    held_bytes: float | None = None
    atomics: float | None = None
    instructions: float | None = None


@dataclass(frozen=True)
class Environment:
    """The tools that instruction counts depend on, besides the sources."""

    swift: str
    glibc: str
    valgrind: str
    architecture: str

    def __str__(self) -> str:
        return f"Swift {self.swift}, glibc {self.glibc}, valgrind {self.valgrind}, {self.architecture}"

    @staticmethod
    def here(with_valgrind: bool) -> "Environment":
        return Environment(
            swift=_version(["swift", "--version"], r"Swift version (\S+)"),
            glibc=(os.confstr("CS_GNU_LIBC_VERSION") or "unknown").removeprefix("glibc "),
            valgrind=_version(["valgrind", "--version"], r"valgrind-(\S+)") if with_valgrind else "",
            architecture=platform.machine(),
        )


@dataclass(frozen=True)
class Scenario:
    """A scenario's meaning, and whether its counts depend on the machine's speed."""

    meaning: str
    varies: bool


class Program:
    """The executable EngineCosts."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        # A process takes a processor for itself, and then returns it.
        self._processors: SimpleQueue[int] = SimpleQueue()
        for processor in os.sched_getaffinity(0):
            self._processors.put(processor)

    def scenarios(self) -> dict[str, Scenario]:
        """Scenarios by name, in the program's order."""
        words = [line.split("\t") for line in self._run([self.path, "list"]).splitlines()]
        return {name: Scenario(meaning, varies == "varies") for name, meaning, varies in words}

    def allocations(self, scenario: str) -> Cost:
        """Allocations and bytes per operation."""
        few, many = (self._counts(scenario, operations) for operations in (FEW, MANY))
        held = None if few[1] is None or many[1] is None else per_operation(many[1] - few[1])
        return Cost(allocations=per_operation(many[0] - few[0]), held_bytes=held)

    def profile(self, scenario: str) -> Profile:
        """The instructions that `MANY - FEW` operations execute."""
        few, many = (self._profile(scenario, operations) for operations in (FEW, MANY))
        return many.more_than(few)

    def _counts(self, scenario: str, operations: int) -> tuple[int, int | None]:
        words = self._run([self.path, "count", scenario, str(operations)]).split()
        if len(words) != 2:
            raise CannotMeasure(f"{self.path} count {scenario}: expected two counts, got {words}")
        return int(words[0]), None if words[1] == "-" else int(words[1])

    def _profile(self, scenario: str, operations: int) -> Profile:
        with tempfile.TemporaryDirectory(prefix="engine-costs-") as folder:
            file = Path(folder, "profile")
            self._run(
                ["valgrind", *OPTIONS, f"--callgrind-out-file={file}", self.path, "play", scenario, str(operations)]
            )
            profile = read_profile(file)
        if not profile.instructions:
            raise CannotMeasure(f"callgrind counted no instructions of {scenario}")
        return profile

    def _run(self, command: list[str]) -> str:
        processor = self._processors.get()
        try:
            done = subprocess.run(
                ["taskset", "--cpu-list", str(processor), *command],
                capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=TIMEOUT_S,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise CannotMeasure(f"{' '.join(command)}: did not end within {TIMEOUT_S} s") from error
        except OSError as error:
            raise CannotMeasure(f"taskset: {error.strerror}") from error
        finally:
            self._processors.put(processor)
        if done.returncode != 0:
            raise CannotMeasure(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.strip()}")
        return done.stdout


def chosen(program: Program, only: str | None) -> list[str]:
    """The names of the scenarios to play."""
    known = program.scenarios()
    names = list(known) if only is None else only.split(",")
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=5, cutoff=0)
            others = f" and {len(known) - len(near)} more: Tests/EngineCosts/expected.json" if len(known) > len(near) else ""
            raise BadInput(f"there is no scenario “{name}”; known are {', '.join(near)}{others}")
    return names


def measure(program: Program, names: list[str], with_instructions: bool) -> dict[str, Cost]:
    """The costs by scenario."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        costs = dict(zip(names, pool.map(program.allocations, names), strict=True))
        profiles = dict(zip(names, pool.map(program.profile, names), strict=True)) if with_instructions else {}
    atomics = Atomics().among(profiles.values())
    for name, profile in profiles.items():
        costs[name] = replace(
            costs[name],
            instructions=per_operation(profile.instructions),
            atomics=per_operation(profile.only(atomics).instructions) if atomics else None,
        )
    return costs


def per_operation(count: int) -> float:
    """Divides a count by the number of operations that `MANY` has in excess of `FEW`."""
    return count / (MANY - FEW)


def _version(command: list[str], pattern: str) -> str:
    if shutil.which(command[0]) is None:
        raise CannotMeasure(f"{command[0]} is not installed")
    found = re.search(pattern, subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    return found[1] if found else "unknown"
