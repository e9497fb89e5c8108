"""The code that articles show: pieces of test files, so that it compiles and does what it says."""

import re
import textwrap
from pathlib import Path

from engine_docs.errors import Problem

_EXAMPLE = re.compile(r"^ *// example: (?P<name>[\w-]+)\n(?P<code>.*?)^ *// end of example$", re.M | re.S)


def read_examples(folder: Path) -> dict[str, str]:
    """Every piece between `// example: NAME` and `// end of example`, as a Markdown code block."""
    examples: dict[str, str] = {}
    for file in sorted(folder.rglob("*.swift")):
        for match in _EXAMPLE.finditer(file.read_text(encoding="utf-8")):
            name = match["name"]
            if name in examples:
                raise Problem(f"{file.name}: a second example {name}")
            examples[name] = f"```swift\n{textwrap.dedent(match['code'])}```\n"
    return examples
