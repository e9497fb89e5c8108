"""The mutations, as Tests/Mutations/*.txt defines them.

A file has sections, one for each source below Sources/OperationEngine. A definition begins at the margin and continues in
indented lines:

    # Queue/QueueCore.swift

    name-of-the-mutation (E21 M4): drop the text
    another (scenario-of-the-explorer): do the text, with the part that is replaced between «these» =>
        the statements in its place
    a-third (E21): value the text => the expression in its place

The names in parentheses are the contract's lines whose tests must notice, or the explorer's scenarios. The text must
occur once in the source. White space in it matches any white space, and … matches anything.
"""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ENGINE = Path("Sources/OperationEngine")
DEFINITION = re.compile(
    r"(?P<name>[\w-]+) \((?P<noticed_by>[\w -]+)\): (?P<operator>drop|do|value)\s(?P<body>.*)", re.DOTALL
)


class Mistake(Exception):
    """A definition that does not fit the sources, or a check that cannot run."""


@dataclass(frozen=True)
class Mutation:
    """A guard of the engine that is broken on purpose."""

    number: int
    """What switches it on."""
    name: str
    file: str
    noticed_by: tuple[str, ...]
    operator: str
    text: str
    replacement: str

    @property
    def tier(self) -> str:
        """A promise of the contract, which a test must notice, or a step of a protocol: the explorer."""
        return "contract" if self.noticed_by[0][0].isupper() else "protocol"

    def place(self, source: str) -> tuple[int, int]:
        """The range of the source that is replaced."""
        found = list(_pattern(self.text).finditer(source))
        if len(found) != 1:
            raise Mistake(f"{self.name}: its text occurs {len(found)} times in {self.file}, not once")
        return found[0].span(1 if "«" in self.text else 0)

    def switched(self, old: str) -> str:
        """The replacement and the old text, with the switch between them."""
        is_on = f"MutationSwitch.isOn({self.number})"
        if self.operator == "value":
            return f"({is_on} ? ({self.replacement}) : ({old}))"
        return f"if {is_on} {{\n{self.replacement}\n}} else {{\n{old}\n}}"


def read_all(folder: Path) -> list[Mutation]:
    """The mutations of all files."""
    mutations: list[Mutation] = []
    for path in sorted(folder.glob("*.txt")):
        file = ""
        # Each line at the margin begins something.
        for part in re.split(r"\n(?=\S)", path.read_text(encoding="utf-8")):
            if part.startswith("# "):
                file = part[2:].strip()
            elif match := DEFINITION.fullmatch(part.rstrip()):
                text, _, replacement = match["body"].partition("=>")
                mutations.append(Mutation(
                    len(mutations), match["name"], file, tuple(match["noticed_by"].split()), match["operator"],
                    text.strip(), textwrap.dedent(replacement.lstrip(" ")).strip("\n"),
                ))  # fmt: skip
            else:
                raise Mistake(f"{path.name}: what is “{part}”?")
    names = [mutation.name for mutation in mutations]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Mistake(f"defined twice: {', '.join(twice)}")
    return mutations


def mutated(source: str, mutations: list[Mutation]) -> str:
    """The source with all these mutations, one inside another where one's place is part of another's."""
    places = sorted(((*mutation.place(source), mutation) for mutation in mutations), key=lambda p: (p[0], -p[1]))
    return _switches(source, (0, len(source)), places)


def _switches(source: str, whole: tuple[int, int], places: list[tuple[int, int, Mutation]]) -> str:
    text, at = "", whole[0]
    while places:
        begin, end, first = places[0]
        inside = [place for place in places if place[0] < end or place[:2] == (begin, end)]
        places = places[len(inside) :]
        for *_, stop, other in inside:
            if stop > end:
                raise Mistake(f"{other.name} overlaps {first.name}")
        here = [mutation for *place, mutation in inside if place == [begin, end]]
        old = _switches(source, (begin, end), inside[len(here) :])
        for mutation in reversed(here):
            old = mutation.switched(old)
        text, at = text + source[at:begin] + old, end
    return text + source[at : whole[1]]


def _pattern(text: str) -> re.Pattern[str]:
    meanings = {"«": "(", "»": ")", "…": ".*?"}
    parts = re.split(r"(\s+|[«»…])", text)
    return re.compile(
        "".join(r"\s+" if part.isspace() else meanings.get(part) or re.escape(part) for part in parts if part), re.DOTALL
    )
