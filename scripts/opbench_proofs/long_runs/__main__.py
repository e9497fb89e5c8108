"""`python -m opbench_proofs.long_runs`."""

import sys

from opbench_proofs.long_runs.command import main

sys.exit(main(sys.argv[1:]))
