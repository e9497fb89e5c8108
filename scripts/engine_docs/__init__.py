"""The implementation of scripts/docs: see its --help."""
