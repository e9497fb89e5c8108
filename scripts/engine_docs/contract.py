"""The contract: its lines and their notes in Tests/Contract/lines.txt."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from engine_docs.layout import Problem

_LINE = re.compile(r"(?P<id>[A-Z]\d*) (?P<statement>.+)")
_GROUP = re.compile(r"## (?P<letter>[A-Z]) (?P<title>.+)")
_NOTE = re.compile(
    r"  (?P<kind>no test|partly without a test|misuse|Foundation|Foundation, shown by a test): (?P<text>.+)"
)

MISUSE = "R"
"""The line, and the group, of the table of errors. A test of a row names R and the line that makes it an error."""


@dataclass(frozen=True)
class Line:
    """A statement of the contract; notes may be empty."""

    id: str
    statement: str
    untested: str = ""
    """Why the line has no test."""
    partly_untested: str = ""
    """The part of it without a test."""
    misuses: tuple[str, ...] = ()
    """Rows of the table of errors that this line makes errors."""
    foundation: str = ""
    """How Foundation on Linux does not keep it."""
    is_shown: bool = False
    """Whether a test shows Foundation's difference."""


@dataclass(frozen=True)
class Group:
    letter: str
    title: str
    lines: tuple[Line, ...]


class Contract:
    """All groups, in order."""

    def __init__(self, file: Path) -> None:
        self.groups = read_groups(file.read_text(encoding="utf-8"))

    @cached_property
    def lines(self) -> list[Line]:
        return [line for group in self.groups for line in group.lines]


def read_groups(text: str) -> list[Group]:
    groups: list[Group] = []
    # Foundation's behaviour for every line of the group.
    of_group = ""
    for row in text.splitlines():
        if head := _GROUP.fullmatch(row):
            groups.append(Group(head["letter"], head["title"], ()))
            of_group = ""
        elif line := _LINE.fullmatch(row):
            if not groups or not line["id"].startswith(groups[-1].letter):
                raise Problem(f"line {line['id']} is in another group")
            groups[-1] = _with(groups[-1], Line(line["id"], line["statement"], foundation=of_group))
        elif (note := _NOTE.fullmatch(row)) and groups:
            if groups[-1].lines:
                last = _noted(groups[-1].lines[-1], note["kind"], note["text"])
                groups[-1] = replace(groups[-1], lines=(*groups[-1].lines[:-1], last))
            elif note["kind"] == "Foundation":
                of_group = note["text"]
            else:
                raise Problem(f"not for a whole group: {row.strip()}")
        elif row and not row.startswith("#"):
            raise Problem(f"neither a group, a line of the contract nor a note: {row}")
    return groups


def _with(group: Group, line: Line) -> Group:
    return replace(group, lines=(*group.lines, line))


def _noted(line: Line, kind: str, text: str) -> Line:
    match kind:
        case "no test":
            return replace(line, untested=text)
        case "partly without a test":
            return replace(line, partly_untested=text)
        case "misuse":
            return replace(line, misuses=(*line.misuses, text))
        case _:
            return replace(line, foundation=text, is_shown="shown" in kind)
