"""`python -m opbench_goals`."""

import sys

from opbench_goals.command import main

sys.exit(main(sys.argv[1:]))
