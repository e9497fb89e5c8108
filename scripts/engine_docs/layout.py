"""Where things are in the package."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARTICLES = [
    ROOT / "README.md",
    *sorted((ROOT / "Sources/OperationEngine/OperationEngine.docc").rglob("*.md")),
    *sorted((ROOT / "Sources/opbench/opbench.docc").rglob("*.md")),
]
ENGINE_TESTS = ROOT / "Tests/OperationEngineTests"
EXAMPLES = ENGINE_TESTS / "Examples"
TESTS = ROOT / "Tests"
CONTRACT_LINES = TESTS / "Contract/lines.txt"
LAST_RUN = TESTS / "Contract/last-run.json"
MUTATION_RESULTS = TESTS / "Mutations/results.csv"
ENGINE_COSTS = TESTS / "EngineCosts/expected.json"
REFERENCE = ROOT / "results/reference"
BASELINE = ROOT / "results/baseline"
# The engine's tests hold the same tables as Swift values.
SWIFT_TABLES = ENGINE_TESTS / "Conformance/Shared/ContractLines.swift"
