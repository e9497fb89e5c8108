"""The tables of the documentation that are generated only from the contract."""

from collections.abc import Callable

from engine_docs.articles import Maker
from engine_docs.contract import Contract, Group, Line
from engine_docs.errors import Problem
from engine_docs.markdown import table


def makers(contract: Contract) -> dict[str, Maker]:
    """The kinds of generated parts that need the contract."""
    groups = {group.letter: group for group in contract.groups}

    def lines(letter: str) -> str:
        if letter not in groups:
            raise Problem(f"no group {letter} in the contract")
        return lines_of_group(groups[letter])

    whole: dict[str, Callable[[Contract], str]] = {"summary": summary, "differences": differences}
    return {"lines": lines} | {kind: lambda _, make=make: make(contract) for kind, make in whole.items()}


def lines_of_group(group: Group) -> str:
    head = ("line", "statement", "without a test")
    return table(head, ((line.id, line.statement, _without(line)) for line in group.lines))


def _without(line: Line) -> str:
    if line.untested:
        return f"all of it: {line.untested}"
    return f"a part: {line.partly_untested}" if line.partly_untested else ""


def summary(contract: Contract) -> str:
    untested = [line.id for line in contract.lines if line.untested]
    differing = sum(bool(line.foundation) for line in contract.lines)
    rows = [
        ("lines", str(len(contract.lines))),
        ("with tests that name them", str(len(contract.lines) - len(untested))),
        ("without", ", ".join(untested) or "none"),
        ("that Foundation on Linux does not keep, or not so", str(differing)),
    ]
    return table(("", ""), rows)


def differences(contract: Contract) -> str:
    """A row for each line where Foundation differs, or one for a whole group if one reason applies to all of it."""
    head = ("line", "the engine's contract", "Foundation on Linux", "shown by a test")
    return table(head, (row for group in contract.groups for row in _differences(group)))


def _differences(group: Group) -> list[tuple[str, ...]]:
    first, last = group.lines[0], group.lines[-1]
    if first is not last and first.foundation and {(line.foundation, line.is_shown) for line in group.lines} == {
        (first.foundation, False)
    }:
        return [(f"{first.id}–{last.id}", group.title, first.foundation, "")]
    return [
        (line.id, line.statement, line.foundation, "yes" if line.is_shown else "")
        for line in group.lines
        if line.foundation
    ]
