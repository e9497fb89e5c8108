"""The goals, read strictly: a file that says something unknown is refused with its JSON path."""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from opbench_goals.rows import FIGURES
from opbench_plots.errors import BadInput

ALLOCATORS = ("system", "jemalloc")
"""As OPBENCH_ALLOCATOR names them; `system` is glibc's malloc."""


@dataclass(frozen=True)
class Limit:
    """The greatest value that reaches the goal, and how the file writes it."""

    value: float
    text: str


@dataclass(frozen=True)
class Goal:
    """One figure of the engine on one cell, and how great it may be.

    `against` names backends: the figure is the ratio to the one of them that has the least. `against_cell` has the
    ratio to the engine's own figure on another cell. With neither, it is the figure itself.
    """

    row: str
    workload: str
    cell: dict[str, Any]
    figure: str
    against: tuple[str, ...]
    against_cell: dict[str, Any] | None
    at_most: dict[str, Limit]
    """By allocator, one of them at least; one that is missing cannot tell."""

    @property
    def is_ratio(self) -> bool:
        return bool(self.against) or self.against_cell is not None

    def text(self, allocator: str) -> str:
        """What is asked, for people."""
        name = self.figure.replace("_", " ")
        # Where only the other allocator tells, its limit is the goal all the same.
        bound = f"≤ {(self.at_most.get(allocator) or next(iter(self.at_most.values()))).text}"
        if self.against_cell is not None:
            return f"{name} {bound} of {_equations(self.against_cell)}"
        if self.against:
            return f"{name} {bound} of {' or '.join(self.against)}"
        unit = FIGURES[self.figure].unit
        return f"{name} {bound} {unit}".rstrip()


def load(path: Path) -> list[Goal]:
    """Reads the goals of a file."""
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error
    reader = _Reader(path)
    top = reader.keys(document, "$", required={"version": int, "rows": list})
    if top["version"] != 1:
        raise reader.refusal("$.version", "this program reads version 1")
    return [goal for index, row in enumerate(top["rows"]) for goal in reader.row(row, f"$.rows[{index}]")]


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path

    def refusal(self, place: str, message: str) -> BadInput:
        return BadInput(f"{self.path}: {place}: {message}")

    def keys(
        self, value: Any, place: str, required: dict[str, type], optional: dict[str, type] | None = None
    ) -> dict[str, Any]:
        """An object with just these keys, of these types."""
        if not isinstance(value, dict):
            raise self.refusal(place, "must be an object")
        known = required | (optional or {})
        for name in value:
            if name not in known:
                raise self.refusal(f"{place}.{name}", f"unknown key; known are {', '.join(known)}")
        for name, kind in known.items():
            if name in value and not isinstance(value[name], kind):
                raise self.refusal(f"{place}.{name}", f"must be of the kind {kind.__name__}")
            if name in required and name not in value:
                raise self.refusal(place, f"lacks the key {name}")
        return value

    def row(self, value: Any, place: str) -> list[Goal]:
        row = self.keys(value, place, {"row": str, "workload": str, "cell": dict, "goals": list})
        goals = []
        for index, goal in enumerate(row["goals"]):
            inner = f"{place}.goals[{index}]"
            asked = self.keys(
                goal, inner, {"figure": str, "at_most": dict}, {"against": list, "against_cell": dict}
            )
            if asked["figure"] not in FIGURES:
                raise self.refusal(f"{inner}.figure", f"must be one of {', '.join(FIGURES)}")
            if "against" in asked and "against_cell" in asked:
                raise self.refusal(inner, "takes against or against_cell, not both")
            goals.append(
                Goal(
                    row["row"], row["workload"], row["cell"], asked["figure"], tuple(asked.get("against", ())),
                    asked.get("against_cell"), self.limits(asked["at_most"], f"{inner}.at_most"),
                )  # fmt: skip
            )
        return goals

    def limits(self, value: dict[str, Any], place: str) -> dict[str, Limit]:
        found = {}
        for allocator, limit in value.items():
            if allocator not in ALLOCATORS:
                raise self.refusal(f"{place}.{allocator}", f"unknown; known are {', '.join(ALLOCATORS)}")
            if isinstance(limit, bool) or not isinstance(limit, (int, float, str)):
                raise self.refusal(f"{place}.{allocator}", "must be a number, or a fraction such as \"1/40\"")
            try:
                upper, _, lower = str(limit).partition("/")
                found[allocator] = Limit(float(Fraction(upper) / Fraction(lower or "1")), str(limit))
            except (ValueError, ZeroDivisionError) as error:
                raise self.refusal(f"{place}.{allocator}", f"{limit!r} is no number") from error
        if not found:
            raise self.refusal(place, "names no allocator")
        return found


def _equations(cell: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in cell.items())
