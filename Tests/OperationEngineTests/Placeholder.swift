// The engine's contract tests; see Conformance/Shared.
