"""Calls that block a thread are not available in `async` code, as in Foundation."""

import subprocess

import pytest
from conftest import ROOT

BUILD = ROOT / ".build/debug"
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


def test_calls_that_block_are_not_available_in_async_code(tmp_path):
    if not (BUILD / "Modules/OperationEngine.swiftmodule").exists():
        pytest.skip(f"{BUILD} has no OperationEngine")
    program = tmp_path / "Calls.swift"
    head = "func calls(_ operation: Operation, _ queue: OperationQueue) async"
    program.write_text("\n".join(["import OperationEngine", f"{head} {{", *CALLS, "}"]))
    ended = subprocess.run(
        ["swiftc", "-typecheck", "-swift-version", "6", "-parse-as-library", "-I", BUILD / "Modules", "-Xcc",
         f"-fmodule-map-file={BUILD}/CLinux.build/module.modulemap", program],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    places = [line.split(":") for line in ended.stderr.splitlines() if ": error: " in line]
    assert {place[0] for place in places} == {str(program)}, ended.stderr
    refused = {list(CALLS)[int(place[1]) - 3] for place in places}
    assert refused == {call for call, blocks in CALLS.items() if blocks}
