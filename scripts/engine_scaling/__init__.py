"""How one queue of the engine would go on machines with many processors: a model, and its check on two."""
