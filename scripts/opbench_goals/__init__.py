"""How far the engine is from its goals, from runs of opbench.

`goals` reads what is asked, `rows` finds the figures of a run, `estimates` makes ratios with intervals of them, `judging`
holds them against the goals, `table` prints and writes what came of it, `measuring` starts opbench, `command` is the
command line. `growth` judges how costs grow, `curves` draws that, `growth_command` is the command line of these.
"""
