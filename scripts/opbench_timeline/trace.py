"""What a drawing needs of a trace in Chrome's format."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self


class NoTrace(Exception):
    """The file is none that opbench profile wrote."""


@dataclass
class Trace:
    """Times are in microseconds since the sample's start mark."""

    title: str = ""
    # Names of rows by their numbers, in the file's order.
    rows: dict[int, str] = field(default_factory=dict)
    # By row and category: beginnings and lengths.
    slices: dict[tuple[int, str], list[tuple[float, float]]] = field(default_factory=dict)
    # By row: when operations were submitted there.
    submissions: dict[int, list[float]] = field(default_factory=dict)
    # By name: times and values.
    counters: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Self:
        try:
            events = json.loads(path.read_bytes())["traceEvents"]
            trace = cls()
            for event in events:
                trace._add(event)
        except OSError as error:
            raise NoTrace(error.strerror or str(error)) from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NoTrace("this is no trace.json of opbench profile") from None
        return trace

    def _add(self, event: dict) -> None:
        match event["ph"]:
            case "M" if event["name"] == "process_name":
                self.title = str(event["args"]["name"])
            case "M" if event["name"] == "thread_name":
                self.rows[event["tid"]] = str(event["args"]["name"])
            case "X":
                key = (event["tid"], str(event["cat"]))
                self.slices.setdefault(key, []).append((float(event["ts"]), float(event["dur"])))
            case "i" if event["name"] == "submit":
                self.submissions.setdefault(event["tid"], []).append(float(event["ts"]))
            case "C":
                times, values = self.counters.setdefault(event["name"], ([], []))
                times.append(float(event["ts"]))
                values.append(float(event["args"]["value"]))
