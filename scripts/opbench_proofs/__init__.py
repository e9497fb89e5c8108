"""Proofs that opbench's gates are right on this machine.

`proof` is the result of a proof, `tool` runs opbench, `blocks` draws gates from recorded blocks, `binomial` bounds rates.
Each proof of scripts/prove-measurement has a module: `false_alarms` (1), `sensitivity` (2), `allocations` (3),
`coordinated_omission` (4), `drift` (7), `coverage` (9), `adapters` (10); `command` is its command line. `bisection`,
`layouts` and `replay` belong to scripts of their own.
"""
