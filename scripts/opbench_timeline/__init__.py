"""Draws the timeline of a trace that `opbench profile` wrote."""
