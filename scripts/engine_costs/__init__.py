"""The measured and the expected costs of the engine's operations."""
