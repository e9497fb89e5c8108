"""Paths in the package, and the error of what is wrong with their files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARTICLES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "Sources/OperationEngine/OperationEngine.docc").rglob("*.md")),
    *sorted((ROOT / "Sources/opbench/opbench.docc").rglob("*.md")),
]
ENGINE_TESTS = ROOT / "Tests/OperationEngineTests"
EXAMPLES = ENGINE_TESTS / "Examples"
TESTS = ROOT / "Tests"
CONTRACT_LINES = TESTS / "Contract/lines.txt"
ENGINE_COSTS = TESTS / "EngineCosts/expected.json"
REFERENCE = ROOT / "results/reference"
BASELINE = ROOT / "results/baseline"
HEADLINE = "engine-system"
SESSION = REFERENCE / "session.txt"
PICTURES = ROOT / "Sources/opbench/opbench.docc/Resources"
MANIFEST_BUILD = ROOT / ".build-docs/manifest"
# In the folder of a run's artefacts, .build/artefacts by default.
TEST_EVENTS = "test-events.jsonl"
CONTRACT_TESTS = "contract-tests.jsonl"
MUTATION_RESULTS = "mutations.csv"
CONTRACT_TABLE = "contract.csv"


class Problem(Exception):
    """Something is wrong with the sources of the documentation: exit code 1."""
