"""Figures of an opbench run, drawn from its CSV files.

The way of one number: `tables` reads a file, `run` joins the files of a run, `measures` finds a figure, `shapes` says
what each shape shows, `layout` arranges cells in panels, `panel` and `figure` draw, `publish` writes, `command` is the
command line.
"""
