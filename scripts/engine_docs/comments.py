"""Public symbols without a documentation comment, from the compiler's symbol graphs."""

import json
from pathlib import Path


def undocumented(graph: Path) -> list[str]:
    """`path/to/File.swift:12: Name` for each. Symbols that the compiler synthesizes are in no file and are left out."""
    symbols = json.loads(graph.read_text(encoding="utf-8"))["symbols"]
    found: list[str] = []
    for symbol in symbols:
        if "docComment" in symbol or "location" not in symbol:
            continue
        file = symbol["location"]["uri"].removeprefix("file://")
        line = symbol["location"]["position"]["line"] + 1
        found.append(f"{file}:{line}: {'.'.join(symbol['pathComponents'])}")
    return sorted(found)
