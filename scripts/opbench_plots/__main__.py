"""`python -m opbench_plots RUN`."""

import sys

from opbench_plots.command import main

sys.exit(main(sys.argv[1:]))
