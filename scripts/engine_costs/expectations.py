"""The expected costs of operations, recorded in a file, and the judgement of measured costs."""

import json
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path

from engine_costs.measure import Cost, Environment

# Detects one more allocation in twenty operations. Smaller differences come with time, for example from growing arrays.
ALLOCATIONS_MARGIN = 0.05
BYTES_MARGIN = 0.5
DIGITS = {"allocations": 2, "held_bytes": 1, "atomics": 2, "instructions": 1}


class BadInput(Exception):
    """The arguments or the file of expectations are not usable as given: exit code 64."""

    exit_code = 64


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
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{path}: {error!r}; create it again with scripts/engine-costs --update") from error

    def save(self, path: Path) -> None:
        content = {
            "about": "What an operation costs; scripts/engine-costs compares with it, and writes it with --update.",
            "made_with": asdict(self.environment),
            "meanings": {name: self.meanings[name] for name in self.costs},
            "costs": {
                name: {figure: value if value is None else round(value, DIGITS[figure]) for figure, value in asdict(cost).items()}
                for name, cost in self.costs.items()
            },
        }
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def judge(measured: Cost, expected: Cost | None, same_environment: bool, margin: Margin = STEADY) -> dict[str, Verdict]:
    """The verdicts by figure. Instructions are judged only if the expectations were made with the same compiler and
    libraries; the rest always."""
    if expected is None:
        return dict.fromkeys(DIGITS, Verdict.UNKNOWN)
    margins = {
        "allocations": ALLOCATIONS_MARGIN,
        "held_bytes": BYTES_MARGIN,
        "atomics": max(margin.least_atomics, margin.atomics * (expected.atomics or 0)),
        "instructions": margin.instructions * (expected.instructions or 0),
    }
    verdicts = {figure: _compare(getattr(measured, figure), getattr(expected, figure), margins[figure]) for figure in margins}
    if not same_environment or measured.instructions is None:
        verdicts |= {"atomics": Verdict.UNJUDGED, "instructions": Verdict.UNJUDGED}
    return verdicts


def _compare(measured: float | None, expected: float | None, margin: float) -> Verdict:
    if measured is None and expected is None:
        return Verdict.AS_EXPECTED
    if measured is None or expected is None:
        return Verdict.UNKNOWN
    if abs(measured - expected) <= margin:
        return Verdict.AS_EXPECTED
    return Verdict.MORE if measured > expected else Verdict.LESS
