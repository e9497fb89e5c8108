"""The input and the result of a proof."""

from dataclasses import dataclass, field
from enum import Enum

from opbench_proofs.tool import OpBench


@dataclass
class Setting:
    """The input of all proofs."""

    tool: OpBench
    is_short: bool


class Verdict(Enum):
    """The verdict on a claim."""

    HELD = "held"
    UNDECIDED = "NOT DECIDED on this machine"
    """opbench itself reported that the machine was too busy."""
    REFUTED = "DID NOT HOLD"

    @staticmethod
    def of(held: bool) -> "Verdict":
        return Verdict.HELD if held else Verdict.REFUTED


@dataclass
class Outcome:
    """The verdict on a claim, with the figures behind it."""

    verdict: Verdict
    figures: list[str] = field(default_factory=list)
