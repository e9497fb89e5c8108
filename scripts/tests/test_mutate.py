"""The definitions of scripts/mutate, and how a source is mutated."""

from pathlib import Path

import pytest
from engine_mutations import tree
from engine_mutations.definitions import ENGINE, Mistake, mutated, read_all

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """\
func run() {
    if isReady {
        start()
        end()
    }
    start()
}
"""


def test_every_text_occurs_once_in_the_engines_sources() -> None:
    """Change Tests/Mutations with the sources."""
    tree.check(ROOT, read_all(ROOT / "Tests/Mutations"))


def read(folder: Path, definitions: str) -> list:
    (folder / "some.txt").write_text("# Runner.swift\n\n" + definitions, encoding="utf-8")
    return read_all(folder)


def test_each_operator(tmp_path: Path) -> None:
    mutations = read(tmp_path, (
        "outer (some-scenario): drop if isReady { … end() }\n"
        "inner (A1 B2): value if «isReady» { => !isReady\n"
        "swapped (A1): do start() end() =>\n"
        "    end()\n"
        "    start()\n"
    ))  # fmt: skip
    assert [(each.name, each.tier, each.noticed_by) for each in mutations] == [
        ("outer", "protocol", ("some-scenario",)), ("inner", "contract", ("A1", "B2")), ("swapped", "contract", ("A1",)),
    ]  # fmt: skip
    assert {each.file for each in mutations} == {"Runner.swift"}
    assert mutated(SOURCE, mutations).split() == """\
        func run() {
            if MutationSwitch.isOn(0) {
            } else {
                if (MutationSwitch.isOn(1) ? (!isReady) : (isReady)) {
                    if MutationSwitch.isOn(2) {
                        end()
                        start()
                    } else {
                        start()
                        end()
                    }
                }
            }
            start()
        }
        """.split()


@pytest.mark.parametrize("text", ["start()", "stop()"])
def test_a_text_that_does_not_occur_once_is_a_mistake(tmp_path: Path, text: str) -> None:
    with pytest.raises(Mistake, match="some-name"):
        mutated(SOURCE, read(tmp_path, f"some-name (A1): drop {text}\n"))


def test_places_that_overlap_are_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match="overlaps"):
        mutated(SOURCE, read(tmp_path, "one (A1): drop start() end()\nother (A1): drop end() }\n"))


def test_a_copy_is_brought_up_to_date(tmp_path: Path) -> None:
    root, copy = tmp_path / "root", tmp_path / "copy"
    for name, text in {
        "Package.swift": "", "Tests/TestSupport/HangLimit.swift": ".seconds(60)", "Tests/Old.swift": "",
        str(ENGINE / "Runner.swift"): SOURCE,
    }.items():  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "Tests/Link").symlink_to("../Sources")
    mutations = read(tmp_path, "one (A1): drop start() end()\n")
    tree.update(copy, root, mutations)
    assert "isOn(0)" in (copy / ENGINE / "Runner.swift").read_text(encoding="utf-8")
    assert (copy / "Tests/TestSupport/HangLimit.swift").read_text(encoding="utf-8") == ".seconds(15)"
    assert (copy / "Tests/Link").readlink() == Path("../Sources")
    before = (copy / ENGINE / "Runner.swift").stat().st_mtime_ns
    (root / "Tests/Old.swift").unlink()
    tree.update(copy, root, mutations)
    assert not (copy / "Tests/Old.swift").exists()
    assert (copy / ENGINE / "Runner.swift").stat().st_mtime_ns == before
