"""Errors."""


class Problem(Exception):
    """Something is wrong with the sources of the documentation: exit code 1."""
