"""Breaks the engine's guards one at a time, and records what notices. See scripts/mutate."""
