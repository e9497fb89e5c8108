"""The code in articles: pieces of test files, so that it is compiled and tested.

Code that cannot be inside a function, such as an import, is written after `//:`, which is not shown.
"""

import re
import textwrap
from pathlib import Path

from engine_docs.layout import Problem

_EXAMPLE = re.compile(r"^ *// example: (?P<name>[\w-]+)\n(?P<code>.*?)^ *// end of example$", re.M | re.S)


def read_examples(folder: Path) -> dict[str, str]:
    """Every piece between `// example: NAME` and `// end of example`, as a Markdown code block."""
    examples: dict[str, str] = {}
    for file in sorted(folder.rglob("*.swift")):
        for match in _EXAMPLE.finditer(file.read_text(encoding="utf-8")):
            name = match["name"]
            if name in examples:
                raise Problem(f"{file.name}: a second example {name}")
            code = re.sub(r"^//:(?: |$)", "", textwrap.dedent(match["code"]), flags=re.M)
            examples[name] = f"```swift\n{code}```\n"
    return examples
