"""`python -m engine_mutations`, as scripts/mutate calls it."""

import sys

from engine_mutations.command import main

sys.exit(main(sys.argv[1:]))
