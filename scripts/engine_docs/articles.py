"""The parts of articles that are generated from the sources:

    <!-- made: example first-queue -->
    (the text here is replaced)
    <!-- end -->
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from engine_docs.layout import Problem

_PART = re.compile(
    r"(?P<head><!-- made: (?P<kind>\w+) (?P<name>[\w-]+) -->\n)(?P<text>.*?)(?P<tail><!-- end -->)", re.S
)

Maker = Callable[[str], str]
"""Makes a part's text of whole lines from its name."""


def remade(article: str, makers: dict[str, Maker]) -> str:
    """The article with every generated part up to date."""

    def remake(part: re.Match[str]) -> str:
        maker = makers.get(part["kind"])
        if maker is None:
            raise Problem(f"no such kind of made part: {part['kind']}")
        return f"{part['head']}{maker(part['name'])}{part['tail']}"

    return _PART.sub(remake, article)


def stale(paths: Iterable[Path], makers: dict[str, Maker]) -> dict[Path, str]:
    """The texts of the articles with outdated generated parts."""
    found: dict[Path, str] = {}
    for path in paths:
        old = path.read_text(encoding="utf-8")
        try:
            new = remade(old, makers)
        except Problem as problem:
            raise Problem(f"{path.name}: {problem}") from None
        if new != old:
            found[path] = new
    return found
