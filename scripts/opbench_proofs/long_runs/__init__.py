"""That long runs survive what happens in them: scripts/prove-long-runs. `run` starts opbench and looks at what it leaves,
`kills` kills it, `faults` puts everything else in its way, `memory` measures the process that starts the samples."""
