"""The picture of the modules in CONTRIBUTING, from Package.swift."""

import json
import os
import subprocess

from engine_docs.layout import MANIFEST_BUILD, ROOT, Problem

Graph = dict[str, set[str]]
"""The targets that a target depends on."""


def make(_: str) -> str:
    """A diagram of the targets in Sources. GitHub draws it."""
    return diagram(read(_manifest()))


def read(manifest: dict) -> Graph:
    """The targets in Sources, without those of tests, and what they depend on among themselves."""
    targets = [target for target in manifest["targets"] if target["type"] != "test" and not target.get("path")]
    names = {target["name"] for target in targets}
    return {
        target["name"]: {
            name
            for dependency in target["dependencies"]
            for name, *_ in dependency.values()
            if name in names and "product" not in dependency
        }
        for target in targets
    }


def diagram(graph: Graph) -> str:
    """Mermaid's text: a line for each target that depends on others, the highest first. It omits an arrow where a longer
    way has the same ends."""
    lines = [
        f"    {name} --> {' & '.join(sorted(direct))}\n"
        for name in sorted(graph, key=lambda name: (-_height(graph, name), name))
        if (direct := {one for one in graph[name] if not any(one in _below(graph, other) for other in graph[name])})
    ]
    return f"```mermaid\nflowchart TD\n{''.join(lines)}```\n"


def _below(graph: Graph, name: str) -> set[str]:
    return graph[name].union(*(_below(graph, other) for other in graph[name]))


def _height(graph: Graph, name: str) -> int:
    return max((_height(graph, other) + 1 for other in graph[name]), default=0)


def _manifest() -> dict:
    """The package as SwiftPM reads it. A folder of its own, because a build locks the usual one."""
    command = ["swift", "package", "--scratch-path", str(MANIFEST_BUILD), "dump-package"]
    # Package.swift adds and removes targets by these variables.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPBENCH_")}
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    except OSError as error:
        raise Problem(f"cannot run swift: {error.strerror}") from None
    except subprocess.CalledProcessError as error:
        raise Problem(f"Package.swift: {error.stderr.strip()}") from None
    return json.loads(done.stdout)
