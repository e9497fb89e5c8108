"""Proofs, on the machine at hand, that opbench's gates say what is so.

`proof` is what a proof yields, `tool` runs opbench, `blocks` draws gates from recorded blocks, `binomial` bounds rates.
A module for each proof: `false_alarms` (1), `sensitivity` (2), `allocations` (3), `drift` (7), `queueing` (8), `coverage` (9),
`adapters` (10), `traces` (11); `programs` runs those that are programs of their own under scripts/proofs (4, 5, 6). `command` is
the command line.
"""
