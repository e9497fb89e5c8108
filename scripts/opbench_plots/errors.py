"""What can go wrong, with the exit code it leads to."""


class BadInput(Exception):
    """The run or the arguments are not usable as given: exit code 64."""

    exit_code = 64


class CannotWrite(Exception):
    """The figures could not be written: exit code 1."""

    exit_code = 1
