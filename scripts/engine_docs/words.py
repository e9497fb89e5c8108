"""Words that the project's texts avoid, each with the better form."""

import re
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("Sources", "Tests", "scripts", "workloads", ".ci")
SUFFIXES = {"", ".bash", ".c", ".h", ".js", ".json", ".md", ".py", ".sbatch", ".swift", ".txt", ".yaml", ".yml"}
# Copies, generated texts, and the words themselves.
LEFT_OUT = {"Corpus", "Golden", "Vendor", "__pycache__", "data", "test_engine_docs.py", "words.py"}

WORDS = [
    (re.compile(pattern), better)
    for pattern, better in (
        (r"\b[Tt]ells\b", "a figure shows, a file records, a program reports"),
        (r"\b(is|are|was|were|be|been|being) told\b", "is notified, is announced, is distinguished"),
        (r"\b[Ww]hoever\b", "name the agent: the caller, the thread, the reader"),
        (r"(?<![Tt]here )\b(is|are) none\b", "state what is absent"),
        (r"\b[Bb]ut for (a|all|an|its|one|some|that|the|their|those|what)\b", "except"),
        (r"\b([Gg]o|[Gg]oes|[Gg]oing|went) on (after|as|at|by|from|in|there|to|until|with|without)\b", "continue, resume"),
        (r"\b([Ll]et|[Ll]ets|[Ll]etting) go\b", "release"),
        (
            r"\b([Ss]tands?|[Ss]tood) (at|before|behind|beside|between|for|here|in|on|there|where)\b",
            "is, is in, represents, replaces",
        ),
        (r"\b[Aa]new\b", "again"),
    )
]
OPENING = re.compile(r"\s*/// (What|Of|Those|Who|Whose|Where)\b")
BETTER_OPENING = "open a doc comment with a noun or a verb"


def texts(root: Path) -> Iterator[Path]:
    """The files that people write and read."""
    yield from sorted(root.glob("*.md"))
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and not LEFT_OUT & set(path.relative_to(root).parts) and path.is_file():
                yield path


def avoided(text: str) -> Iterator[tuple[int, str, str]]:
    """The line number of each avoided word, the word, and the better form."""
    previous = ""
    for number, line in enumerate(text.split("\n"), 1):
        opening = OPENING.match(line)
        if opening and not previous.lstrip().startswith("///"):
            yield number, opening[0].strip(), BETTER_OPENING
        for pattern, better in WORDS:
            for found in pattern.finditer(line):
                yield number, found[0], better
        previous = line


def report(root: Path) -> list[str]:
    """`path/to/File.swift:12: whoever; better: …` for each."""
    return [
        f"{path.relative_to(root)}:{number}: {word}; better: {better}"
        for path in texts(root)
        for number, word, better in avoided(path.read_text(encoding="utf-8", errors="replace"))
    ]
