"""Reads profile files back with Python's own parsers of JSON and XML."""

import json
import os
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
WRITER = ROOT / ".build/debug/OpBenchProfileSamples"
WAITS = {"processor (ns)", "blocked (ns)", "blocked or processor (ns)"}


def written(folder, operations):
    if not WRITER.exists():
        pytest.skip(f"{WRITER} is not built")
    subprocess.run([WRITER, folder, str(operations)], check=True, timeout=600)
    return json.loads((folder / "manifest.json").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    written(folder, 20_000)
    return folder


@pytest.fixture(scope="module")
def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


# --- Chrome


@pytest.fixture(scope="module")
def events(folder):
    return json.loads((folder / "trace.json").read_text())["traceEvents"]


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def test_chrome_slices_nest(events, manifest):
    rows = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            start = nanoseconds(event["ts"])
            rows[event["tid"]].append((start, -(start + nanoseconds(event["dur"]))))
    assert sum(map(len, rows.values())) > manifest["executed"]
    for slices in rows.values():
        ends = []
        for start, negative_end in sorted(slices):
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or -negative_end <= ends[-1]
            ends.append(-negative_end)


def test_chrome_rows_have_names_and_events_are_all_there(events, manifest):
    phases = Counter(event["ph"] for event in events)
    named = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert len(events) - phases["M"] == manifest["chromeEvents"] == manifest["chromeAllEvents"]
    assert phases["s"] == phases["f"] == manifest["flows"]
    submitted = {event["args"]["operation"] for event in events if event["name"] == "submit"}
    assert submitted == set(range(manifest["submitted"]))
    assert named[100] == "engine normal 1" and manifest["hostile"] in named.values()
    assert {event["tid"] for event in events if "tid" in event} <= named.keys()
    operations = [event for event in events if event["ph"] == "X" and event["cat"] == "operation"]
    assert {event["args"]["operation"] for event in operations} <= submitted and len(operations) == manifest["executed"]
    assert all(any(name in event["args"] for event in operations) for name in WAITS)
    waits = sum(event["args"].get("processor (ns)", 0) for event in operations)
    assert sum(nanoseconds(event["dur"]) for event in operations) - waits == manifest["work"]


# --- Stacks


def test_speedscope_has_every_sample_in_each_thread_and_in_all(folder, manifest):
    file = json.loads((folder / "profile.speedscope.json").read_text())
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert file["name"] == manifest["hostile"]
    frames = len(file["shared"]["frames"])
    whole, *threads = file["profiles"]
    assert len(threads) == manifest["threads"]
    assert len(whole["samples"]) == manifest["samples"] == sum(len(thread["samples"]) for thread in threads)
    for profile in file["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        assert all(0 <= frame < frames for stack in profile["samples"] for frame in stack)
    assert whole["endValue"] == manifest["weight"] == sum(thread["endValue"] for thread in threads)


@pytest.mark.parametrize("name", ["flame.svg", "difference.svg"])
def test_flame_graphs_are_valid_xml_with_bars_above_their_callers(folder, manifest, name):
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring((folder / name).read_bytes())
    bars = root.findall(f".//{svg}g[@class='b']")
    assert len(bars) > 50
    rows = defaultdict(list)
    for bar in bars:
        start, width = float(bar.get("data-s")), float(bar.get("data-w"))
        rows[int(bar.get("data-r"))].append((start, start + width))
        assert bar.find(f"{svg}title").text
        assert bar.find(f"{svg}rect") is not None
    assert rows[0] == [(0, 1)]
    slip = 1e-6
    for row in range(1, max(rows) + 1):
        for start, end in rows[row]:
            assert any(low - slip <= start and end <= high + slip for low, high in rows[row - 1])
        in_order = sorted(rows[row])
        assert all(left[1] <= right[0] + slip for left, right in zip(in_order, in_order[1:]))
    # Nothing external: no links, no pictures, and one script, which is ours.
    assert len(root.findall(f".//{svg}script")) == 1
    assert {element.tag for element in root.iter()} <= {
        svg + tag for tag in ("svg", "style", "rect", "text", "g", "title", "script")
    }
    text = "".join(root.itertext())
    assert manifest["hostile"].replace("\x01", "\N{REPLACEMENT CHARACTER}") in text


def test_a_click_on_a_bar_makes_it_as_wide_as_the_picture(folder, tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node to run the flame graph's script")
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring((folder / "flame.svg").read_bytes())
    found = root.findall(f".//{svg}g[@class='b']")[:60]
    bars = [
        {
            "group": dict(bar.attrib),
            "rect": dict(bar.find(f"{svg}rect").attrib),
            "text": dict(bar.find(f"{svg}text").attrib),
            "title": bar.find(f"{svg}title").text,
        }
        for bar in found
    ]
    (tmp_path / "bars.json").write_text(json.dumps(bars))
    (tmp_path / "script.js").write_text(root.find(f".//{svg}script").text)
    zoom = Path(__file__).with_name("zoom.js")
    words = [node, zoom, tmp_path / "bars.json", tmp_path / "script.js"]
    clicks = json.loads(subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout)
    places = [(float(bar["group"]["data-s"]), float(bar["group"]["data-w"])) for bar in bars]
    rows = [int(bar["group"]["data-r"]) for bar in bars]
    slip = 1e-6
    for clicked, result in enumerate(clicks):
        assert result["detail"] == bars[clicked]["title"]
        assert result["shown"][clicked] == [0, 1200]
        start, width = places[clicked]
        for bar, shown in enumerate(result["shown"]):
            low, high = places[bar][0], sum(places[bar])
            is_caller = rows[bar] < rows[clicked] and low <= start + slip and high >= start + width - slip
            is_callee = rows[bar] >= rows[clicked] and low >= start - slip and high <= start + width + slip
            assert (shown is not None) == (is_caller or is_callee)
            if is_caller:
                assert shown == [0, 1200]
            elif is_callee:
                expected = [(low - start) / width * 1200, (high - low) / width * 1200]
                assert shown == pytest.approx(expected, abs=0.01)
    # The lowest bar zooms out.
    assert all(clicks[0]["shown"])
