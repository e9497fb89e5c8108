"""What a test run said: from Swift Testing's event stream, and as it is stored."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from engine_docs.errors import Problem

FOUNDATION_MODULE = "FoundationOracleTests"


@dataclass(frozen=True)
class Verdicts:
    """By the test's name: `passed`, `failed` or `skipped`. `made` tells of the run itself."""

    made: dict[str, str]
    engine: dict[str, str] = field(default_factory=dict)
    foundation: dict[str, str] = field(default_factory=dict)


def read_events(rows: Iterable[str], made: dict[str, str]) -> Verdicts:
    """From an event stream of version 0: a test has failed if one of its runs or an expectation in it has."""
    names: dict[str, str] = {}
    verdicts: dict[str, str] = {}
    for row in rows:
        record = json.loads(row)
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function" and "displayName" in payload:
                names[payload["id"]] = payload["displayName"]
        elif payload["kind"] == "testSkipped":
            verdicts[payload["testID"]] = "skipped"
        elif payload["kind"] == "testEnded":
            symbols = {message["symbol"] for message in payload["messages"]}
            verdicts[payload["testID"]] = "failed" if "fail" in symbols else "passed"
    result = Verdicts(made)
    for test, verdict in verdicts.items():
        if test in names:
            module = test.split(".", 1)[0]
            side = result.foundation if module == FOUNDATION_MODULE else result.engine
            # Two tests of one name: the worse counts.
            if side.get(names[test], "passed") == "passed":
                side[names[test]] = verdict
    return result


def store(verdicts: Verdicts, path: Path) -> None:
    content = {
        "made": verdicts.made,
        "engine": dict(sorted(verdicts.engine.items())),
        "foundation": dict(sorted(verdicts.foundation.items())),
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load(path: Path) -> Verdicts:
    if not path.exists():
        raise Problem(f"no {path.name}; make one by scripts/contract-table --run")
    content = json.loads(path.read_text(encoding="utf-8"))
    return Verdicts(content["made"], content["engine"], content["foundation"])
