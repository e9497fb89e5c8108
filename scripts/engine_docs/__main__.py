"""`python -m engine_docs COMMAND`."""

import sys

from engine_docs.command import main

sys.exit(main(sys.argv[1:]))
