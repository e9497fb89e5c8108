"""The expected costs of operations, recorded in a file, and the judgement of measured costs."""

import json
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path

from engine_costs.errors import BadInput
from engine_costs.measure import Cost, Environment

# Detects one more allocation in twenty operations. Smaller differences come with time, for example from growing arrays.
ALLOCATIONS_MARGIN = 0.05
BYTES_MARGIN = 0.5


@dataclass(frozen=True)
class Margin:
    """The tolerance of counts under callgrind: about three times their observed variation."""

    instructions: float
    atomics: float
    least_atomics: float


STEADY = Margin(instructions=0.01, atomics=0.005, least_atomics=0.1)
VARYING = Margin(instructions=0.04, atomics=0.02, least_atomics=0.5)


class Verdict(Enum):
    """The relation of a figure to the expected one."""

    AS_EXPECTED = "as expected"
    MORE = "more"
    LESS = "less"
    UNKNOWN = "not recorded"
    UNJUDGED = "not judged"


@dataclass(frozen=True)
class Expectations:
    """The contents of the file."""

    environment: Environment
    costs: dict[str, Cost]
    # Descriptions of the scenarios, for readers.
    meanings: dict[str, str]

    @staticmethod
    def load(path: Path) -> "Expectations":
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return Expectations(
                environment=Environment(**content["made_with"]),
                costs={name: Cost(**cost) for name, cost in content["costs"].items()},
                meanings=dict(content["meanings"]),
            )
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror}; make it with scripts/engine-costs --update") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{path}: {error!r}; create it again with scripts/engine-costs --update") from error

    def save(self, path: Path) -> None:
        content = {
            "about": "What an operation costs; scripts/engine-costs compares with it, and writes it with --update.",
            "made_with": asdict(self.environment),
            "meanings": {name: self.meanings[name] for name in self.costs},
            "costs": {name: _rounded(cost) for name, cost in self.costs.items()},
        }
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Judgement:
    """A scenario's verdicts."""

    allocations: Verdict
    held_bytes: Verdict
    atomics: Verdict
    instructions: Verdict

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts by figure."""
        return {
            "allocations": self.allocations,
            "bytes": self.held_bytes,
            "atomics": self.atomics,
            "instructions": self.instructions,
        }


def judge(measured: Cost, expected: Cost | None, same_environment: bool, margin: Margin = STEADY) -> Judgement:
    """Judges instructions only if the expectations were made with the same compiler and libraries; the rest always."""
    if expected is None:
        return Judgement(*[Verdict.UNKNOWN] * 4)
    atomics = instructions = Verdict.UNJUDGED
    if same_environment and measured.instructions is not None:
        instructions_margin = margin.instructions * (expected.instructions or 0)
        instructions = _compare(measured.instructions, expected.instructions, instructions_margin)
        atomics_margin = max(margin.least_atomics, margin.atomics * (expected.atomics or 0))
        atomics = _compare(measured.atomics, expected.atomics, atomics_margin)
    return Judgement(
        allocations=_compare(measured.allocations, expected.allocations, ALLOCATIONS_MARGIN),
        held_bytes=_compare(measured.held_bytes, expected.held_bytes, BYTES_MARGIN),
        atomics=atomics,
        instructions=instructions,
    )


def _compare(measured: float | None, expected: float | None, margin: float) -> Verdict:
    if measured is None and expected is None:
        return Verdict.AS_EXPECTED
    if measured is None or expected is None:
        return Verdict.UNKNOWN
    if abs(measured - expected) <= margin:
        return Verdict.AS_EXPECTED
    return Verdict.MORE if measured > expected else Verdict.LESS


def _rounded(cost: Cost) -> dict[str, float | None]:
    digits = {"allocations": 2, "held_bytes": 1, "atomics": 2, "instructions": 1}
    return {name: None if value is None else round(value, digits[name]) for name, value in asdict(cost).items()}
