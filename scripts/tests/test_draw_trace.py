"""scripts/draw-trace: a picture of a trace, and clear refusals."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from opbench_timeline.command import main, microseconds
from opbench_timeline.drawing import limits
from opbench_timeline.trace import Trace

EVENTS = [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "chain on engine"}},
    {"ph": "M", "pid": 1, "tid": 5, "name": "thread_name", "args": {"name": "engine normal 1"}},
    {"ph": "X", "pid": 1, "tid": 5, "ts": 1, "dur": 3, "cat": "operation", "name": "operation"},
    {"ph": "X", "pid": 1, "tid": 5, "ts": 5, "dur": 2, "cat": "thread", "name": "parked"},
    {"ph": "C", "pid": 1, "ts": 1, "name": "running", "args": {"value": 1}},
    {"ph": "i", "pid": 1, "tid": 5, "ts": 1, "s": "t", "name": "submit"},
]


def test_picture(tmp_path):
    trace, picture = tmp_path / "trace.json", tmp_path / "picture.svg"
    trace.write_text(json.dumps({"traceEvents": EVENTS}))
    assert main([str(trace), str(picture), "--from", "0us", "--to", "10us"]) == 0
    assert "<svg" in picture.read_text()


def test_what_is_drawn(tmp_path):
    submitter = [
        {"ph": "M", "pid": 1, "tid": 6, "name": "thread_name", "args": {"name": "submitter 1"}},
        {"ph": "i", "pid": 1, "tid": 6, "ts": 0.5, "s": "t", "name": "submit"},
        {"ph": "C", "pid": 1, "ts": 0, "name": "awake", "args": {"value": 1}},
    ]
    drawn = {}
    for name, events in (("all", EVENTS), ("no parks", [event for event in EVENTS if event.get("cat") != "thread"])):
        trace = tmp_path / "trace.json"
        trace.write_text(json.dumps({"traceEvents": [*events, *submitter]}))
        assert main([str(trace), str(tmp_path / "picture.svg")]) == 0
        # matplotlib writes each text into a comment beside its glyphs.
        drawn[name] = (tmp_path / "picture.svg").read_text()
    # The picture begins with the first submission, on the submitter's own row.
    assert limits(Trace.read(trace), None, None) == (0.5, 4)
    assert all("<!-- submitter 1 -->" in text and "<!-- submissions -->" in text for text in drawn.values())
    # Without parks nobody knows who is awake.
    assert "<!-- workers awake -->" in drawn["all"]
    assert "<!-- workers awake -->" not in drawn["no parks"]


@pytest.mark.parametrize("text", ["", "[]", '{"traceEvents": [1]}', '{"traceEvents": [{"ph": "X"}]}'])
def test_what_is_no_trace(tmp_path, capsys, text):
    trace = tmp_path / "trace.json"
    trace.write_text(text)
    assert main([str(trace), str(tmp_path / "picture.svg")]) == 64
    assert "this is no trace.json" in capsys.readouterr().err
    assert not (tmp_path / "picture.svg").exists()


def test_refusals(tmp_path, capsys):
    trace = tmp_path / "trace.json"
    assert main([str(trace), "picture.svg"]) == 64
    assert "No such file" in capsys.readouterr().err
    trace.write_text(json.dumps({"traceEvents": EVENTS}))
    assert main([str(trace), str(tmp_path / "picture.what")]) == 64
    assert main([str(trace), str(tmp_path / "none/picture.svg")]) == 1


def test_times():
    assert [microseconds(text) for text in ("250us", "2.5ms", "1s", "40ns")] == [250, 2500, 1_000_000, 0.04]
