"""`python -m engine_scaling`."""

import sys

from engine_scaling.command import main

sys.exit(main(sys.argv[1:]))
