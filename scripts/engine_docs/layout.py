"""Where things are in the package."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CATALOG = ROOT / "Sources/OperationEngine/OperationEngine.docc"
ENGINE_TESTS = ROOT / "Tests/OperationEngineTests"
EXAMPLES = ENGINE_TESTS / "Examples"
