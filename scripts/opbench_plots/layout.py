"""Arranging the cells of a shape: which parameter goes along the axis, and which cells share a panel."""

from dataclasses import dataclass, field

from opbench_plots.measures import Interval, Measure
from opbench_plots.run import Cell, Run, SummaryRow
from opbench_plots.shapes import ShapePlan

FEWEST_OF_A_LINE = 3
"""Two points are no trend."""
# The usual order of backends; the forms of one follow it by name.
BACKEND_ORDER = ("engine", "dispatch", "foundation", "concurrency", "serial")


@dataclass(frozen=True)
class Axis:
    """A horizontal axis: the values that stand on it, in order, as text."""

    label: str
    values: tuple[str, ...]
    # Drawn as numbers on a logarithmic scale rather than as evenly spaced categories.
    is_logarithmic: bool = False

    @property
    def has_order(self) -> bool:
        """Whether its values are numbers, from the least to the greatest."""
        return self.is_logarithmic or all(_number(value) is not None for value in self.values)

    def position(self, value: str) -> float:
        return float(value) if self.is_logarithmic else float(self.values.index(value))


@dataclass(frozen=True)
class Facet:
    """Cells that differ in nothing but the axis parameter: one group of panels."""

    label: str
    cells: tuple[Cell, ...]


@dataclass
class Series:
    """One backend in one panel."""

    backend: str
    # Axis value → figure; where there is none, there is no entry.
    points: dict[str, Interval] = field(default_factory=dict)
    # Axis value → a status other than `ok`.
    statuses: dict[str, str] = field(default_factory=dict)
    # The axis values whose samples were mostly taken while something else used the machine.
    noisy: set[str] = field(default_factory=set)


@dataclass
class Panel:
    measure: Measure
    axis: Axis
    series: list[Series]

    @property
    def has_lines(self) -> bool:
        """Whether lines join its points: those of three numbers or classes at least. Else they are bars."""
        is_joined = self.axis.is_logarithmic or (self.measure.by_class and self.axis.label != "backend")
        return is_joined and len(self.axis.values) >= FEWEST_OF_A_LINE

    @property
    def has_points(self) -> bool:
        return any(series.points for series in self.series)

    @property
    def values(self) -> list[float]:
        """All figures and the ends of their bars."""
        points = (point for series in self.series for point in series.points.values())
        return [value for point in points for value in point if value is not None]


class Arrangement:
    """All rows of one shape, arranged in facets of panels."""

    def __init__(self, plan: ShapePlan, run: Run, rows: list[SummaryRow]):
        self.plan = plan
        self.run = run
        self.rows = {row.slot: row for row in rows}
        self.backends = sorted({row.slot.backend for row in rows}, key=_backend_key)
        cells = list(dict.fromkeys(row.slot.cell for row in rows))
        self.varying = _varying(cells)
        self.constants = _constants(cells, self.varying)
        self.axis_parameter = self._choose_axis(cells)
        self.facets = self._facets(cells)
        self.classes = self._classes()
        self._extents: dict[Measure, list[float]] = {}
        self._by_class: dict[Measure, bool] = {}
        self.statuses = sorted({row.status for row in rows} - {"ok"})
        self.workloads = list(dict.fromkeys(cell.workload for cell in cells))

    def panel(self, facet: Facet, measure: Measure) -> Panel:
        """The figures of one measure in one facet."""
        classes = self._classes_of(measure)
        if classes:
            axis = Axis(self.plan.class_name, tuple(classes))
        elif self.axis_parameter:
            axis = self._parameter_axis(facet)
        else:
            axis = Axis("backend", tuple(self.backends))
        panel = Panel(measure, axis, [])
        for backend in self.backends:
            series = Series(backend)
            for cell in facet.cells:
                for value in classes or [self._place(cell, backend)]:
                    self._add(series, measure, cell, value, f"{self.plan.class_name}={value}" if classes else "")
            panel.series.append(series)
        return panel

    def extent(self, measure: Measure) -> list[float]:
        """All values of a measure, over all facets."""
        if measure not in self._extents:
            self._extents[measure] = [value for facet in self.facets for value in self.panel(facet, measure).values]
        return self._extents[measure]

    def has_noise(self, measure: Measure) -> bool:
        return any(series.noisy for facet in self.facets for series in self.panel(facet, measure).series)

    def has_bars(self, measure: Measure) -> bool:
        points = (measure.read(self.run, row) for row in self.rows.values())
        return any(point is not None and point.has_bar for point in points)

    def _add(self, series: Series, measure: Measure, cell: Cell, value: str, operation_class: str) -> None:
        row = self.rows.get((cell, series.backend, operation_class))
        if row is not None and (point := measure.read(self.run, row)) is not None:
            series.points[value] = point
            if (row.cell_id, series.backend, measure.kind) in self.run.noisy:
                series.noisy.add(value)
        # A backend that never ran has no rows of classes: its status is that of the whole cell.
        judged = row or self.rows.get((cell, series.backend, ""))
        if judged is not None and judged.status != "ok":
            series.statuses[value] = judged.status

    def _place(self, cell: Cell, backend: str) -> str:
        return cell.value(self.axis_parameter) if self.axis_parameter else backend

    def _classes_of(self, measure: Measure) -> list[str]:
        """The classes along a panel's axis: none where the measure only has figures for whole cells."""
        if not measure.by_class:
            return []
        if measure not in self._by_class:
            rows = [row for row in self.rows.values() if measure.read(self.run, row) is not None]
            self._by_class[measure] = not rows or any(row.slot.operation_class for row in rows)
        return self.classes if self._by_class[measure] else []

    def _classes(self) -> list[str]:
        prefix = f"{self.plan.class_name}="
        names = {
            slot.operation_class.removeprefix(prefix)
            for slot in self.rows
            if self.plan.class_name and slot.operation_class.startswith(prefix)
        }
        order = self.plan.class_order
        return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), *_value_key(name)))

    def _choose_axis(self, cells: list[Cell]) -> str:
        """The most wanted parameter that varies, else the one with the most values; empty where classes stand there."""
        if self.plan.class_name or not self.varying:
            return ""
        wanted = [name for name in self.plan.axis_parameters if name in self.varying]
        return wanted[0] if wanted else max(self.varying, key=lambda name: len({cell.value(name) for cell in cells}))

    def _parameter_axis(self, facet: Facet) -> Axis:
        values = sorted({cell.value(self.axis_parameter) for cell in facet.cells}, key=_value_key)
        numbers = [_number(value) for value in values]
        # Two values are bars, side by side.
        is_logarithmic = len(values) >= FEWEST_OF_A_LINE and all(number is not None and number > 0 for number in numbers)
        return Axis(self.axis_parameter, tuple(values), is_logarithmic)

    def _facets(self, cells: list[Cell]) -> list[Facet]:
        names = [name for name in self.varying if name != self.axis_parameter]
        several_workloads = len({cell.workload for cell in cells}) > 1
        groups: dict[tuple[str, ...], list[Cell]] = {}
        for cell in cells:
            groups.setdefault((cell.workload, *(cell.value(name) for name in names)), []).append(cell)
        facets = []
        for (workload, *values), members in groups.items():
            parts = [workload] if several_workloads else []
            parts += [f"{name} = {value}" for name, value in zip(names, values, strict=True) if value]
            facets.append(Facet(" · ".join(parts), tuple(members)))
        return facets


def _varying(cells: list[Cell]) -> list[str]:
    """The parameters that do not have one and the same value in all cells, by name."""
    names = {name for cell in cells for name, _ in cell.parameters}
    return sorted(name for name in names if len({cell.value(name) for cell in cells}) > 1)


def _constants(cells: list[Cell], varying: list[str]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in cells[0].parameters if name not in varying]


def _backend_key(backend: str) -> tuple[int, str]:
    family = backend.partition(":")[0]
    return (BACKEND_ORDER.index(family) if family in BACKEND_ORDER else len(BACKEND_ORDER), backend)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _value_key(text: str) -> tuple[bool, float, str]:
    """Numbers by size, then words by name."""
    number = _number(text)
    return (number is None, number or 0, text)
