"""Plays scenarios, and counts the cost of one more operation.

Each scenario is played with two numbers of operations, each time in a separate process. The difference of the counts,
divided by the difference of the numbers, excludes the process's start. The processes are confined to one processor, where
the engine has one worker, and callgrind lets the threads run in turns, so the counts hardly vary.
"""

import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

from engine_costs.callgrind import OPTIONS, CannotMeasure, Place, atomics_among, read_counts

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

    def measure(self, names: list[str], with_instructions: bool) -> dict[str, Cost]:
        """The costs by scenario."""
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            costs = dict(zip(names, pool.map(self._allocations, names), strict=True))
            counts = dict(zip(names, pool.map(self._instructions, names), strict=True)) if with_instructions else {}
        atomics = atomics_among(counts.values())
        for name, count in counts.items():
            locked = sum(times for place, times in count.items() if place in atomics)
            costs[name] = replace(
                costs[name], instructions=_per_operation(count.total()), atomics=_per_operation(locked) if atomics else None
            )
        return costs

    def _allocations(self, scenario: str) -> Cost:
        """Allocations and bytes per operation."""
        few, many = (self._run([self.path, "count", scenario, str(operations)]).split() for operations in (FEW, MANY))
        held = None if "-" in (few[1], many[1]) else _per_operation(int(many[1]) - int(few[1]))
        return Cost(allocations=_per_operation(int(many[0]) - int(few[0])), held_bytes=held)

    def _instructions(self, scenario: str) -> Counter[Place]:
        """The instructions that `MANY - FEW` operations execute."""
        counts = self._counted(scenario, MANY)
        counts.subtract(self._counted(scenario, FEW))
        return counts

    def _counted(self, scenario: str, operations: int) -> Counter[Place]:
        with tempfile.TemporaryDirectory(prefix="engine-costs-") as folder:
            file = Path(folder, "counts")
            self._run(["valgrind", *OPTIONS, f"--callgrind-out-file={file}", self.path, "play", scenario, str(operations)])
            counts = read_counts(file)
        if not counts:
            raise CannotMeasure(f"callgrind counted no instructions of {scenario}")
        return counts

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


def _per_operation(count: int) -> float:
    """Divides a count by the number of operations that `MANY` has in excess of `FEW`."""
    return count / (MANY - FEW)


def _version(command: list[str], pattern: str) -> str:
    if shutil.which(command[0]) is None:
        raise CannotMeasure(f"{command[0]} is not installed")
    found = re.search(pattern, subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    return found[1] if found else "unknown"
