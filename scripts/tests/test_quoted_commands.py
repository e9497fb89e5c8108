"""Every command that README, guides, articles and help texts quote can be typed: its script is there, the script's --help
names its options, and what is quick is run. That opbench's command lines parse is HelpTests.swift's business. Every path
that they name is there."""

import os
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import pytest
from conftest import OPBENCH, ROOT

ARTICLES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "workloads/README.md")),
    *sorted(ROOT.glob("Sources/**/*.docc/**/*.md")),
]
SCRIPTS = sorted(
    path for path in (ROOT / "scripts").iterdir() if path.is_file() and os.access(path, os.X_OK) and not path.suffix
)
# Commands of opbench that run quickly and leave nothing behind.
QUICK = ("list", "validate", "doctor", "describe")

_FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.M | re.S)
_INDENTED = re.compile(r"^    +(\S.*)$", re.M)
_INLINE = re.compile(r"`([^`\n]+)`")
# A command, without a prompt, variables, comments and redirections.
_COMMAND = re.compile(
    r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?P<command>(?:scripts/(?:ci/[a-z-]+|[\w-]+)|opbench|swift (?:build|test|format))(?: .*?)?)"
    r"(?:(?:  | #| >| \||;).*)?"
)
_PATH = re.compile(r"(?:Sources|Tests|scripts|workloads|results/(?:baseline|reference))/[\w./+-]+")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^():#]+)\)")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")


def commands_in(lines: list[str]) -> list[str]:
    """The commands among lines of code."""
    matches = (_COMMAND.fullmatch(line.strip()) for line in lines)
    return [match["command"].strip() for match in matches if match]


def quoted(article: str) -> list[str]:
    """The commands in an article's code blocks, and those of scripts in its text."""
    fenced = [line for block in _FENCED.findall(article) for line in block.splitlines()]
    rest = _FENCED.sub("", article)
    spans = [span for span in _INLINE.findall(rest) if span.startswith("scripts/")]
    return commands_in([*fenced, *_INDENTED.findall(rest), *spans])


@cache
def help_of(program: str) -> str:
    result = subprocess.run(
        [*program.split(), "--help"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    return result.stdout


def problems(command: str) -> list[str]:
    """The mistakes in a command that is not opbench's."""
    words = command.split()
    depth = {"swift build": 2, "swift test": 2, "swift format": 3}
    program = " ".join(words[: depth.get(" ".join(words[:2]), 1)])
    if (ROOT / program).is_dir():
        return []
    if "/" in program and not os.access(ROOT / program, os.X_OK):
        return [f"there is no {program}"]
    known = set(_OPTION.findall(help_of(program)))
    options = [word.split("=")[0] for word in words if word.startswith("-")]
    return [f"{program} --help does not name {option}" for option in options if option not in known]


def is_of_opbench(command: str) -> bool:
    return command.split()[0] in ("opbench", "scripts/opbench")


@pytest.mark.parametrize("article", ARTICLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_of_articles(article: Path) -> None:
    commands = [command for command in quoted(article.read_text(encoding="utf-8")) if not is_of_opbench(command)]
    assert [problem for command in commands for problem in problems(command)] == []


@pytest.mark.parametrize("script", [path for path in SCRIPTS if path.name != "opbench"], ids=lambda path: path.name)
def test_commands_of_helps(script: Path) -> None:
    lines = [line for line in help_of(f"scripts/{script.name}").splitlines() if "[" not in line]
    commands = [command for command in commands_in(lines) if not is_of_opbench(command)]
    assert [problem for command in commands for problem in problems(command)] == []


@pytest.mark.parametrize("article", ARTICLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_named_paths_exist(article: Path) -> None:
    text = article.read_text(encoding="utf-8")
    paths = [ROOT / span for span in _INLINE.findall(text) if _PATH.fullmatch(span)]
    links = [article.parent / target for target in _LINK.findall(_INLINE.sub("", text))]
    assert [str(path.relative_to(ROOT)) for path in paths + links if not path.exists()] == []


def test_quick_commands_are_run(tmp_path: Path) -> None:
    if not OPBENCH.exists():
        pytest.skip(f"{OPBENCH} is not built")
    texts = [article.read_text(encoding="utf-8") for article in ARTICLES]
    commands = {command for text in texts for command in quoted(text) if is_of_opbench(command)}
    quick = sorted(command for command in commands if "--help" in command or set(command.split()[1:2]) & set(QUICK))
    assert {command.split()[1] for command in quick} > set(QUICK)
    # The reader's file is the one shown in the guide.
    guide = (ROOT / "Sources/opbench/opbench.docc/WritingWorkloads.md").read_text(encoding="utf-8")
    (tmp_path / "my-workload.json").write_text(guide.split("```json\n")[1].split("```")[0], encoding="utf-8")
    (tmp_path / "workloads").symlink_to(ROOT / "workloads")
    for command in quick:
        line = f"{shlex.quote(str(OPBENCH))} {command.split(maxsplit=1)[1]}"
        result = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, f"{command}: {result.stderr}"
        assert result.stdout


def test_all_kinds_of_quotation_are_found() -> None:
    article = "`scripts/plot RUN` and `a/b`\n\n    scripts/test  # all\n\n```\n$ A=b scripts/docs --update > file\nplain\n```\n"
    assert quoted(article) == ["scripts/docs --update", "scripts/test", "scripts/plot RUN"]


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("scripts/docs --update", []),
        ("scripts/docs --updaet", ["scripts/docs --help does not name --updaet"]),
        ("scripts/dosc", ["there is no scripts/dosc"]),
        ("swift test --fliter Some", ["swift test --help does not name --fliter"]),
    ],
)
def test_misspelt_commands_are_noticed(command: str, wrong: list[str]) -> None:
    assert problems(command) == wrong
