"""What can go wrong, with the exit code it leads to. Unusable files are `opbench_plots.errors.BadInput`: 64."""


class CannotMeasure(Exception):
    """opbench could not be built, or did not end well: exit code 1."""

    exit_code = 1
