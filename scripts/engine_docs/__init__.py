"""What scripts/docs does: see its --help."""
