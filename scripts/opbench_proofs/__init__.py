"""Proofs that opbench's gates are right on this machine.

`proof` is the result of a proof, `tool` runs opbench, `blocks` draws gates from recorded blocks, `binomial` bounds rates.
Each proof has a module: `false_alarms` (1), `sensitivity` (2), `allocations` (3), `coordinated_omission` (4), `accounts` (5, 6),
`drift` (7), `queueing` (8), `coverage` (9), `adapters` (10), `traces` (11). `explanation` and `defects` belong to
scripts/prove-explanation. `command` is the command line.
"""
