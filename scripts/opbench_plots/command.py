"""The command line: find the run, draw its figures, write them, say where they are."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from opbench_plots.errors import BadInput, CannotWrite
from opbench_plots.layout import Arrangement
from opbench_plots.run import Run, SummaryRow, load_run, sides_of
from opbench_plots.shapes import PLANS, ShapePlan, memory_of, plan_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Draws the figures of a run, as SVG and PNG: one for each shape of workload, and one for its memory, from summary.csv, and
one for each workload's latencies by percentile, from histograms.csv. samples.csv, or figures.csv of a kept run, adds the
spread between samples, the CPU share and the nice value; run.json adds the host and the allocator. Of a run of
`opbench ab`, and of a file that `opbench compare --csv` or `opbench gate --csv` wrote, it draws head ÷ base; of a file of
`opbench history trend --format csv` the figures over runs."""

EXAMPLES = """\
examples:
  scripts/plot 2026-11-21-first            figures of results/2026-11-21-first, in its folder plots/
  scripts/plot path/to/a/run               any folder of a run
  scripts/plot first --output /tmp/plots   figures elsewhere
  scripts/plot compare.csv                 head ÷ base
  scripts/plot trend.csv                   figures over runs

A figure that was not measured is a gap. A sample that timed out, crashed, was unsupported, skipped or invalid has a
letter above the panel. Bars begin at 0, those of ratios at 1; lines join three points or more.

exit codes: 0 done · 1 the disk is full or the environment cannot be made · 64 bad usage or bad input"""


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(BadInput.exit_code, f"plot: {message}\nSee scripts/plot --help.\n")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit code."""
    options = _parse(arguments)
    from opbench_plots.publish import publish  # needs matplotlib, which help is given without

    try:
        place = find_run(options.run)
        figures, notes = (figures_of_file if place.is_file() else figures_of_folder)(place)
        paths = publish(figures, options.output or (place.parent if place.is_file() else place) / "plots")
    except (BadInput, CannotWrite) as error:
        print(f"plot: {error}", file=sys.stderr)
        return error.exit_code
    for note in notes:
        print(f"plot: note: {note}", file=sys.stderr)
    for path in paths:
        print(path)
    return 0


def find_run(name: str) -> Path:
    """The folder that `name` means: itself, or a run of that id under results/ here or in the package; or a file."""
    candidates = [Path(name), Path("results", name), ROOT / "results" / name]
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    if Path(name).is_file():
        return Path(name)
    raise BadInput(f"{name}: no such run, neither as a folder nor under {ROOT / 'results'}")


def figures_of_file(path: Path) -> "tuple[dict[str, Figure], list[str]]":
    """The figures of a comparison or a history, by what its columns are."""
    from opbench_plots.comparison import comparison_figures
    from opbench_plots.history import history_figures
    from opbench_plots.tables import read_table

    columns = set(read_table(path, ()).frame.columns)
    if "head_value" in columns:
        return comparison_figures(path), []
    if {"started_utc", "change"} <= columns:
        return history_figures(path), []
    raise BadInput(f"{path}: neither a compare.csv nor a trend of a history; of a run, name its folder")


def figures_of_folder(folder: Path) -> "tuple[dict[str, Figure], list[str]]":
    """The figures of a run, and what was missing."""
    from opbench_plots.comparison import comparison_figures
    from opbench_plots.percentiles import percentile_figures

    if sides_of(folder) and (folder / "compare.csv").exists():
        return comparison_figures(folder / "compare.csv"), []
    run = load_run(folder)
    figures = figures_of(run) | percentile_figures(run, folder)
    return figures, run.notes


def figures_of(run: Run) -> "dict[str, Figure]":
    """The figures of a run by file name, without a suffix."""
    from opbench_plots.figure import MOST_FACETS, draw_figures  # needs matplotlib

    rows: dict[ShapePlan, list[SummaryRow]] = {}
    for row in run.rows:
        plan = plan_of(run, row.slot.cell)
        if plan is not None:
            rows.setdefault(plan, []).append(row)
        else:
            run.note(f"no figure for workload {row.slot.cell.workload}: its shape is not one of those drawn")
    if not rows:
        raise BadInput(
            f"run {run.name}: no workload of a shape that has a figure ({', '.join(plan.shape for plan in PLANS)})"
        )
    figures = {}
    for plan in (plan for plan in PLANS if plan in rows):
        arrangement = Arrangement(plan, run, rows[plan])
        left_out = len(arrangement.facets) - MOST_FACETS
        if left_out > 0:
            run.notes.append(
                f"{plan.shape}: the last {left_out} of {len(arrangement.facets)} groups of cells not drawn"
            )
        figures |= _pages(plan.shape, draw_figures(arrangement))
        memory = Arrangement(memory_of(plan), run, [row for row in rows[plan] if not row.slot.operation_class])
        if any(memory.extent(measure) for measure in memory.plan.measures):
            figures |= _pages(f"memory-{plan.shape}", draw_figures(memory))
    return figures


def _pages(stem: str, pages: "list[Figure]") -> "dict[str, Figure]":
    names = [stem] + [f"{stem}-{number}" for number in range(2, len(pages) + 1)]
    return dict(zip(names, pages, strict=True))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = Arguments(
        prog="plot",
        usage="scripts/plot RUN [--output DIR]",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("run", metavar="RUN", help="the folder of a run, its id under results/, or a file")
    parser.add_argument("--output", metavar="DIR", type=Path, help="where the figures go (default: RUN/plots)")
    return parser.parse_args(arguments)
