"""`python -m opbench_proofs`."""

import sys

from opbench_proofs.command import main

sys.exit(main(sys.argv[1:]))
