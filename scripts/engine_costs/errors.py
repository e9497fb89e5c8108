"""Errors with their exit codes."""


class BadInput(Exception):
    """The arguments or the file of expectations are not usable as given: exit code 64."""

    exit_code = 64


class CannotMeasure(Exception):
    """A program did not do what it should: exit code 1."""

    exit_code = 1
