"""Calls that block a thread are not available in `async` code, as in Foundation."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CALLS = {
    "operation.waitUntilFinished()": True,
    "_ = operation.waitUntilFinished(timeout: .seconds(1))": True,
    "queue.waitUntilAllOperationsAreFinished()": True,
    "_ = queue.waitUntilFinished(timeout: .seconds(1))": True,
    "queue.addOperations([operation], waitUntilFinished: true)": True,
    "queue.addOperation(operation)": False,
    "_ = await operation.finished()": False,
    "_ = await queue.drained()": False,
}


def refused(head, tmp_path):
    """The calls that the compiler rejects in a function with this beginning."""
    program = tmp_path / "Calls.swift"
    program.write_text("\n".join([f"{head} {{", *CALLS, "}"]))
    # The same as SwiftPM generates for a C target without a module map.
    modules = tmp_path / "CLinux.modulemap"
    modules.write_text(f'module CLinux {{ header "{ROOT}/Sources/CLinux/include/CLinux.h" export * }}\n')
    sources = sorted((ROOT / "Sources/OperationEngine").rglob("*.swift"))
    ended = subprocess.run(
        ["swiftc", "-typecheck", "-swift-version", "6", "-package-name", "opbench", "-parse-as-library", "-Xcc",
         f"-fmodule-map-file={modules}", *sources, program],
        check=False, capture_output=True, text=True,
    )
    places = [line.split(":") for line in ended.stderr.splitlines() if ": error: " in line]
    assert {place[0] for place in places} <= {str(program)}, ended.stderr
    return {list(CALLS)[int(place[1]) - 2] for place in places}


def test_calls_that_block_are_not_available_in_async_code(tmp_path):
    if shutil.which("swiftc") is None:
        pytest.skip("there is no swift")
    head = "func calls(_ operation: Operation, _ queue: OperationQueue) async"
    assert refused(head, tmp_path) == {call for call, blocks in CALLS.items() if blocks}
