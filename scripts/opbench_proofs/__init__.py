"""Proofs, on the machine at hand, that opbench's gates say what is so.

`proof` is what a proof yields, `tool` runs opbench, `blocks` draws gates from recorded blocks, `binomial` bounds rates.
A module for each proof: `false_alarms` (1), `sensitivity` (2), `allocations` (3), `coordinated_omission` (4), `accounts` (5, 6),
`drift` (7), `queueing` (8), `coverage` (9), `adapters` (10), `traces` (11). `explanation` and `defects` are
scripts/prove-explanation. `command` is the command line.
"""
