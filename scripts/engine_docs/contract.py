"""The contract: its lines, the tests that name them, and what the tests' tables say of them."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine_docs.errors import Problem

_LINE = re.compile(r"(?P<id>[A-Z]\d*) (?P<statement>.+)")
_GROUP = re.compile(r"## (?P<letter>[A-Z]) (?P<title>.+)")
_TEST = re.compile(r'@Test\(\s*"(?P<name>(?:[^"\\]|\\.)*)"')
_NAMED = re.compile(r"(?P<lines>[A-Z]\d*(?: [A-Z]\d*)*): ")
_DECLARATION = re.compile(r"^(?:private )?let (?P<name>\w+)(?P<body>.*?)(?=^(?:///|(?:private )?let )|\Z)", re.M | re.S)
_TEXT = r'"((?:[^"\\]|\\.)*)"'


@dataclass(frozen=True)
class Line:
    id: str
    statement: str


@dataclass(frozen=True)
class Group:
    letter: str
    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class NamedTest:
    """A test whose name begins with the lines that it holds to."""

    name: str
    lines: tuple[str, ...]
    file: Path

    @property
    def is_of_foundation(self) -> bool:
        """Whether it tests Foundation alone."""
        return "FoundationOracleTests" in self.file.parts

    @property
    def is_shared(self) -> bool:
        """Whether the same source is run against Foundation too."""
        return "Shared" in self.file.parts


@dataclass(frozen=True)
class Tables:
    """The tables of ContractLines.swift, by line."""

    untested: dict[str, str]
    partly_tested: dict[str, str]
    differences: dict[str, str]


class Contract:
    """Everything that the sources say about the contract."""

    def __init__(self, lines: Path, tests: Path, tables: Path) -> None:
        self.groups = read_groups(lines.read_text(encoding="utf-8"))
        self.tests = read_tests(tests)
        self.tables = read_tables(tables.read_text(encoding="utf-8"))
        known = {line.id for line in self.lines}
        for test in self.tests:
            for line in test.lines:
                if line not in known:
                    raise Problem(f"{test.file.name}: “{test.name}” names a line that is not in {lines.name}")

    @cached_property
    def lines(self) -> list[Line]:
        return [line for group in self.groups for line in group.lines]

    def tests_of(self, line: str) -> list[NamedTest]:
        """The engine's tests that name the line."""
        return [test for test in self.tests if line in test.lines and not test.is_of_foundation]

    def difference_tests_of(self, line: str) -> list[NamedTest]:
        """The tests that show what Foundation does instead."""
        return [test for test in self.tests if line in test.lines and test.is_of_foundation]


def read_groups(text: str) -> list[Group]:
    groups: list[Group] = []
    for row in text.splitlines():
        if head := _GROUP.fullmatch(row):
            groups.append(Group(head["letter"], head["title"], ()))
        elif line := _LINE.fullmatch(row):
            group = groups[-1]
            if not line["id"].startswith(group.letter):
                raise Problem(f"line {line['id']} stands in group {group.letter}")
            lines = (*group.lines, Line(line["id"], line["statement"]))
            groups[-1] = Group(group.letter, group.title, lines)
        elif row and not row.startswith("#"):
            raise Problem(f"neither a group nor a line of the contract: {row}")
    return groups


def read_tests(folder: Path) -> list[NamedTest]:
    """Every test under the folder whose name names lines. Links are not followed: their sources are seen once."""
    found: list[NamedTest] = []
    for file in sorted(folder.rglob("*.swift")):
        if any(parent.is_symlink() for parent in file.parents):
            continue
        for match in _TEST.finditer(file.read_text(encoding="utf-8")):
            name = match["name"].replace('\\"', '"')
            if named := _NAMED.match(name):
                found.append(NamedTest(name, tuple(named["lines"].split()), file.relative_to(folder)))
    return found


def read_tables(swift: str) -> Tables:
    bodies = {match["name"]: match["body"] for match in _DECLARATION.finditer(swift)}

    def pairs(name: str) -> dict[str, str]:
        if name not in bodies:
            raise Problem(f"no table {name} in ContractLines.swift")
        body = bodies[name]
        found = {line: text for line, text in re.findall(rf'"([A-Z]\d*)"[:,] {_TEXT}', body)}
        for first, last, letter, text in re.findall(
            rf'\((\d+)\.\.\.(\d+)\)\.map \{{ \("([A-Z])\\\(\$0\)", {_TEXT}\) \}}', body
        ):
            found |= {f"{letter}{number}": text for number in range(int(first), int(last) + 1)}
        found = {line: text.replace('\\"', '"') for line, text in found.items()}
        for other in bodies:
            if other != name and re.search(rf"\b{other}\b", body):
                found |= pairs(other)
        return found

    return Tables(pairs("untestedLines"), pairs("partlyTestedLines"), pairs("foundationDifferences"))
