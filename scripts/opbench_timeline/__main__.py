"""`python -m opbench_timeline TRACE.json PICTURE`."""

import sys

from opbench_timeline.command import main

sys.exit(main(sys.argv[1:]))
