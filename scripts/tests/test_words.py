"""The project's texts avoid some words, and the check finds them."""

from pathlib import Path

import pytest
from engine_docs.layout import ROOT
from engine_docs.words import report


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Sources/A.swift", 'let reason = "whoever ends it"\n'),
        ("Sources/A.swift", "    /// What it does.\n"),
        ("scripts/run", "# It goes on until then.\n"),
        ("README.md", "A figure that tells.\n"),
    ],
)
def test_an_avoided_word_is_found(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    [line] = report(tmp_path)
    assert line.startswith(f"{name}:1: ") and "; better: " in line


def test_other_uses_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("/// A doc comment\n/// What is more.\nThere is none. x is None\n")
    assert not report(tmp_path)


def test_the_tree_has_none() -> None:
    assert not report(ROOT)
