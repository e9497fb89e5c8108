"""What a proof is asked and what it yields."""

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from opbench_proofs.tool import OpBench


@dataclass
class Setting:
    """What all proofs are given."""

    tool: OpBench
    output: Path
    """A folder of the proof's own."""
    is_short: bool


class Verdict(Enum):
    """What came of a claim."""

    HELD = "held"
    UNDECIDED = "NOT DECIDED on this machine"
    """opbench itself said that the machine was too busy to tell."""
    REFUTED = "DID NOT HOLD"

    @staticmethod
    def of(held: bool) -> "Verdict":
        return Verdict.HELD if held else Verdict.REFUTED


@dataclass
class Outcome:
    """Whether a claim held, and the figures by which it did or did not."""

    verdict: Verdict
    figures: list[str] = field(default_factory=list)
