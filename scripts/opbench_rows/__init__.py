"""Reads the CSV files of runs, in whichever version opbench wrote them: the one place of all scripts where a version
matters. What changed from one version to the next: Sources/opbench/opbench.docc/ReadingRows.md. Needs nothing but Python."""

from opbench_rows.files import BadRows, histograms, parse, read
from opbench_rows.versions import CURRENT, PARAMETER_PREFIX

__all__ = ["CURRENT", "PARAMETER_PREFIX", "BadRows", "histograms", "parse", "read"]
