"""The parts of the documentation that are generated only from the contract."""

from collections.abc import Callable

from engine_docs.articles import Maker
from engine_docs.contract import Contract, Group, Line


def makers(contract: Contract) -> dict[str, Maker]:
    """The kinds of generated parts that need the contract: `summary contract` and `lines contract`."""
    whole: dict[str, Callable[[Contract], str]] = {"summary": summary, "lines": lines}
    return {kind: lambda _, make=make: make(contract) for kind, make in whole.items()}


def summary(contract: Contract) -> str:
    untested = [line for line in contract.lines if line.untested]
    partly = [line for line in contract.lines if line.partly_untested]
    differing = sum(bool(line.foundation) for line in contract.lines)
    rows = [
        ("lines", str(len(contract.lines))),
        ("with tests that name them", str(len(contract.lines) - len(untested))),
        ("without, and why", "; ".join(f"{line.id}: {line.untested}" for line in untested) or "none"),
        ("a part of it without", "; ".join(f"{line.id}: {line.partly_untested}" for line in partly) or "none"),
        ("that Foundation on Linux does not keep, or not so", str(differing)),
    ]
    # A bar would end a cell.
    escaped = ((name, text.replace("|", "\\|")) for name, text in rows)
    return "|  |  |\n| --- | --- |\n" + "".join(f"| {name} | {text} |\n" for name, text in escaped)


def lines(contract: Contract) -> str:
    return "\n".join(_section(group) for group in contract.groups)


def _section(group: Group) -> str:
    """A group's heading and lines. What holds for Foundation and the whole group is stated once."""
    reasons = {(line.foundation, line.is_shown) for line in group.lines}
    common = group.lines[0].foundation if len(group.lines) > 1 and len(reasons) == 1 else ""
    note = f"Foundation on Linux: {common}.\n\n" if common else ""
    listed = "".join(f"- **{line.id}** {line.statement}{'' if common else _foundation(line)}\n" for line in group.lines)
    return f"## {group.letter}: {group.title}\n\n{note}{listed}"


def _foundation(line: Line) -> str:
    return f" · Foundation{' ✓' if line.is_shown else ''}: {line.foundation}" if line.foundation else ""
