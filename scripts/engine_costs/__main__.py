"""`python -m engine_costs --program PROGRAM`."""

import sys

from engine_costs.command import main

sys.exit(main(sys.argv[1:]))
