"""The command line: read a trace, draw it, write the picture."""

import argparse
import sys
from pathlib import Path

DESCRIPTION = """\
Draws the timeline of a trace.json that opbench profile wrote: a row for each thread and queue, and below it how many
operations ran, were ready and waited. An operation is at least a dot wide; submissions are at the foot of their thread's
row. The picture's format is that of its name: .svg, .png or .pdf."""

EXAMPLES = """\
examples:
  scripts/draw-trace profiles/*/chain-engine/trace.json chain.svg
  scripts/draw-trace --from 2ms --to 3ms trace.json detail.png

exit codes: 0 done · 1 the picture cannot be written · 64 bad usage, or the file is no such trace"""

BAD_INPUT = 64
UNITS = {"ns": 1e-3, "us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(BAD_INPUT, f"draw-trace: {message}\nSee scripts/draw-trace --help.\n")


def microseconds(text: str) -> float:
    """`2.5ms` in microseconds."""
    for unit in sorted(UNITS, key=len, reverse=True):
        number = text.removesuffix(unit)
        if number != text:
            try:
                return float(number) * UNITS[unit]
            except ValueError:
                break
    raise argparse.ArgumentTypeError(f"{text!r} is no time; write 250us, 2.5ms or 1s")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    parser = Arguments(
        prog="scripts/draw-trace",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("trace", type=Path, metavar="TRACE.json")
    parser.add_argument("picture", type=Path, metavar="PICTURE")
    parser.add_argument("--from", dest="start", type=microseconds, metavar="TIME", help="leave out what ends before")
    parser.add_argument("--to", dest="end", type=microseconds, metavar="TIME", help="leave out what begins after")
    options = parser.parse_args(arguments)
    from opbench_timeline.drawing import draw  # needs matplotlib, which help is given without
    from opbench_timeline.trace import NoTrace, Trace

    try:
        trace = Trace.read(options.trace)
        draw(trace, options.picture, options.start, options.end)
    except NoTrace as error:
        print(f"draw-trace: {options.trace}: {error}", file=sys.stderr)
        return BAD_INPUT
    except ValueError as error:
        print(f"draw-trace: {options.picture}: {error}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        print(f"draw-trace: {options.picture}: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0
