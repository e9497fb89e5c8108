"""Makes the plots' package importable and keeps matplotlib's cache out of the home folder."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("MPLCONFIGDIR", tempfile.mkdtemp(prefix="opbench-matplotlib-"))
