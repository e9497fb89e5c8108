"""Reads profile files back with other programs' definitions: Perfetto's protobuf with the descriptors of the package
`perfetto` (scripts/requirements-profile.txt), JSON and SVG with Python's own parsers."""

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


# --- Perfetto


@pytest.fixture(scope="module")
def pb2():
    return pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")


@pytest.fixture(scope="module")
def packets(folder, pb2):
    trace = pb2.Trace()
    trace.ParseFromString((folder / "trace.perfetto").read_bytes())
    return trace.packet


@pytest.fixture(scope="module")
def names(packets):
    """The interned names by kind and number."""
    data = next(packet.interned_data for packet in packets if packet.HasField("interned_data"))
    return {
        "names": {entry.iid: entry.name for entry in data.event_names},
        "categories": {entry.iid: entry.name for entry in data.event_categories},
        "annotations": {entry.iid: entry.name for entry in data.debug_annotation_names},
        "texts": {entry.iid: entry.str.decode() for entry in data.debug_annotation_string_values},
    }


def unknown_fields(message):
    """The number of unknown fields in a message and its nested messages."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    count = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type is not None:
            count += sum(map(unknown_fields, value if field.is_repeated else [value]))
    return count


def test_no_field_is_unknown_to_the_published_descriptors(packets):
    assert sum(map(unknown_fields, packets)) == 0


def test_every_packet_is_of_one_sequence_that_is_cleared_once(packets, manifest):
    assert len(packets) == manifest["packets"]
    assert {packet.trusted_packet_sequence_id for packet in packets} == {1}
    assert packets[0].first_packet_on_sequence
    cleared = [index for index, packet in enumerate(packets) if packet.sequence_flags & 1]
    first_event = next(index for index, packet in enumerate(packets) if packet.HasField("track_event"))
    assert len(cleared) == 1 and cleared[0] < first_event
    for packet in packets:
        assert packet.HasField("track_event") == (packet.sequence_flags == 2)


def test_the_clock_is_boot_time(packets, pb2):
    snapshot = packets[0].clock_snapshot
    assert snapshot.primary_trace_clock == pb2.BUILTIN_CLOCK_BOOTTIME
    assert [clock.clock_id for clock in snapshot.clocks] == [pb2.BUILTIN_CLOCK_BOOTTIME]
    defaults = next(packet.trace_packet_defaults for packet in packets if packet.HasField("trace_packet_defaults"))
    assert defaults.timestamp_clock_id == pb2.BUILTIN_CLOCK_BOOTTIME


def test_tracks_are_described_before_their_events_and_have_names(packets, manifest):
    described = {}
    for packet in packets:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in described
            described[track.uuid] = track
        elif packet.HasField("track_event"):
            assert packet.track_event.track_uuid in described
    assert len(described) == manifest["tracks"]
    process = [track for track in described.values() if track.HasField("process")]
    assert len(process) == 1 and process[0].process.process_name == manifest["hostile"]
    assert all(track.parent_uuid == process[0].uuid for track in described.values() if track is not process[0])
    threads = {track.thread.tid: track.thread for track in described.values() if track.HasField("thread")}
    assert {thread.pid for thread in threads.values()} == {4711}
    assert threads[100].thread_name == "engine normal 1"
    assert threads[201].thread_name == "submitter 2"
    counters = {track.name for track in described.values() if track.HasField("counter")}
    assert counters >= {"waiting", "ready", "running", "depth", "workers", "awake", "depth of serial"}
    assert manifest["hostile"] in {track.name for track in described.values()}


def test_times_are_sorted_and_slices_balance_on_each_track(packets, manifest):
    last, open_slices = {}, defaultdict(list)
    kinds = Counter()
    for packet in packets:
        if not packet.HasField("track_event"):
            continue
        event, time = packet.track_event, packet.timestamp
        assert time >= last.get(event.track_uuid, 0)
        last[event.track_uuid] = time
        kinds[event.type] += 1
        if event.type == event.TYPE_SLICE_BEGIN:
            open_slices[event.track_uuid].append(time)
        elif event.type == event.TYPE_SLICE_END:
            open_slices[event.track_uuid].pop()
    assert not any(open_slices.values())
    begin, end, instant, counter = (kinds[kind] for kind in (1, 2, 3, 4))
    assert begin == end == manifest["slices"]
    assert instant == manifest["instants"]
    assert counter == manifest["counterValues"]
    assert manifest["packets"] == 2 + manifest["tracks"] + begin + end + instant + counter


def test_operations_equal_the_written_ones(packets, names, manifest):
    annotations = {name: iid for iid, name in names["annotations"].items()}
    categories = {name: iid for iid, name in names["categories"].items()}
    open_slices, executed, submitted, waits, work = defaultdict(list), set(), set(), set(), 0
    for packet in packets:
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        values = {annotation.name_iid: annotation for annotation in event.debug_annotations}
        number = values.get(annotations["operation"])
        if event.type == event.TYPE_SLICE_BEGIN:
            is_operation = event.category_iids[0] == categories["operation"]
            open_slices[event.track_uuid].append(packet.timestamp if is_operation else None)
            if is_operation:
                assert number.uint_value not in executed
                executed.add(number.uint_value)
                wait = values.get(annotations["processor (ns)"])
                work -= wait.uint_value if wait else 0
                waits.update(name for name in WAITS if annotations[name] in values)
                assert values[annotations["ready to start (ns)"]].uint_value >= 0
                assert names["texts"][values[annotations["queue"]].string_value_iid] in ("serial", manifest["hostile"])
        elif event.type == event.TYPE_SLICE_END:
            begin = open_slices[event.track_uuid].pop()
            if begin is not None:
                work += packet.timestamp - begin
        elif event.type == event.TYPE_INSTANT and names["names"][event.name_iid] == "submit":
            submitted.add(number.uint_value)
    assert len(executed) == manifest["executed"]
    assert submitted == set(range(manifest["submitted"]))
    assert work == manifest["work"] and waits == WAITS


def test_dependencies_are_flows_from_one_slice_to_another(packets, manifest):
    starts, ends = {}, {}
    for packet in packets:
        event = packet.track_event
        for flow in event.flow_ids:
            assert flow not in starts and event.type == event.TYPE_SLICE_BEGIN
            starts[flow] = packet.timestamp
        for flow in event.terminating_flow_ids:
            assert flow not in ends and event.type == event.TYPE_SLICE_BEGIN
            ends[flow] = packet.timestamp
    assert starts.keys() == ends.keys() and len(starts) == manifest["flows"] > 0
    assert all(starts[flow] < ends[flow] for flow in starts)


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
    assert sum(map(len, rows.values())) == manifest["slices"]
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
    # Only Perfetto has the two marks.
    assert phases["i"] == manifest["instants"] - 2
    assert named[100] == "engine normal 1" and manifest["hostile"] in named.values()
    assert {event["tid"] for event in events if "tid" in event} <= named.keys()
    operations = [event for event in events if event["ph"] == "X" and event["cat"] == "operation"]
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
