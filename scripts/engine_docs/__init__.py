"""What scripts/docs and scripts/contract-table do: see their --help."""
