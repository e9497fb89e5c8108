"""Measures the engine's speed workloads and has `opbench gate` hold them against the engine's goals.

`command` is the command line, `measuring` starts opbench, `keeping` reduces a run to what git keeps of it. `growth` has the
points of the growth curves, `curves` draws them, `growth_command` is the command line of these.
"""
