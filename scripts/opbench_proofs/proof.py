"""What a proof is asked and what it yields."""

from dataclasses import dataclass, field
from pathlib import Path

from opbench_proofs.tool import OpBench


@dataclass
class Setting:
    """What all proofs are given."""

    tool: OpBench
    output: Path
    """A folder of the proof's own."""
    is_short: bool


@dataclass
class Outcome:
    """Whether a claim held, and the figures by which it did or did not."""

    held: bool
    figures: list[str] = field(default_factory=list)
