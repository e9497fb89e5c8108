"""What the engine's operations cost, and what they are expected to cost."""
