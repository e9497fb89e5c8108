"""The declarations of Package.swift: traits guard every reference to another package; versions are ranges, and exact
versions and errors for warnings need a variable. Other files agree with it and with the version."""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]


@cache
def manifest(**variables):
    if shutil.which("swift") is None:
        pytest.skip("there is no swift")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPBENCH_")}
    dumped = subprocess.run(
        ["swift", "package", "--package-path", ROOT, "dump-package"],
        check=True, capture_output=True, text=True, env=environment | variables,
    )
    return json.loads(dumped.stdout)


def requirements(package):
    sources = [source for dependency in package["dependencies"] for source in dependency["sourceControl"]]
    return {source["identity"]: source["requirement"] for source in sources}


@pytest.mark.parametrize("variables", [{}, {"OPBENCH_EXACT_VERSIONS": "1"}])
def test_a_trait_guards_every_reference_to_another_package(variables):
    package = manifest(**variables)
    references = [
        (target["name"], dependency["product"][1], dependency["product"][3])
        for target in package["targets"] for dependency in target["dependencies"] if "product" in dependency
    ]
    assert {name.lower() for _, name, _ in references} == set(requirements(package))
    guards = {(name, *sorted((condition or {}).get("traits") or ["none"])) for _, name, condition in references}
    assert guards == {(name, "Metrics" if name == "swift-metrics" else "Suite") for _, name, _ in references}
    traits = {trait["name"]: set(trait["enabledTraits"]) for trait in package["traits"]}
    # Several traits would be passed to the compiler in a varying order, and recompile everything: one is on by default.
    assert traits == {"Suite": set(), "Metrics": set(), "default": {"Suite"}}


def test_only_small_targets_depend_on_the_commit():
    users = {
        target["name"] for target in manifest()["targets"] for dependency in target["dependencies"]
        if "CBuildCommit" in str(dependency)
    }
    assert users == {"opbench", "OpBenchKit"}


@pytest.mark.parametrize(("allocator", "linked"), [("jemalloc", True), ("system", False)])
def test_the_environment_selects_the_allocator(allocator, linked):
    targets = manifest(OPBENCH_ALLOCATOR=allocator)["targets"]
    users = {target["name"] for target in targets if "jemalloc" in str(target["settings"])}
    # No library: a program elsewhere builds without jemalloc.
    assert users == ({"opbench", "pthread-queue"} if linked else set())


@pytest.mark.parametrize("asked", [False, True])
def test_only_the_environment_brings_onetbb(asked):
    targets = {target["name"]: target for target in manifest(**({"OPBENCH_PEERS": "1"} if asked else {}))["targets"]}
    backends = targets["OpBenchBackends"]
    assert ("COneTBB" in targets) == ("COneTBB" in str(backends["dependencies"])) == asked
    assert ("PEERS" in str(backends["settings"])) == asked


def test_only_a_mac_or_the_environment_takes_foundations_names():
    names = {"OperationEngine", "OperationEngineProgress", "OperationEngineFoundation"}
    for platform in [{}, {"OPERATION_ENGINE_PLATFORM": "linux"}, {"OPERATION_ENGINE_PLATFORM": "apple"}]:
        elsewhere = {
            target["name"] for target in manifest(**platform)["targets"]
            if (target.get("path") or "").startswith("Sources/ApplePlatforms/") and target["dependencies"] == []
        }
        is_apple = platform.get("OPERATION_ENGINE_PLATFORM", "linux" if sys.platform == "linux" else "apple") == "apple"
        assert elsewhere == (names if is_apple else set())


def test_foundations_names_do_not_compile_for_linux_by_mistake():
    """As if the manifest had been read on a Mac, in a build for Linux."""
    if sys.platform != "linux" or shutil.which("swiftc") is None:
        pytest.skip("this is not Linux, or there is no swiftc")
    names = ROOT / "Sources/ApplePlatforms/OperationEngine/Names.swift"
    for options, code in [([], 1), (["-DPLATFORM_IS_CHOSEN"], 0)]:
        ended = subprocess.run(["swiftc", "-typecheck", "-parse-as-library", *options, names], check=False)
        assert ended.returncode == code


def test_versions_are_ranges():
    assert all(list(requirement) == ["range"] for requirement in requirements(manifest()).values())


def test_requested_exact_versions_pin_everything():
    exact = requirements(manifest(OPBENCH_EXACT_VERSIONS="1"))
    assert all(list(requirement) == ["exact"] for requirement in exact.values())
    # The packages that the last build of this folder fetched, including indirect dependencies.
    resolved = ROOT / "Package.resolved"
    if not resolved.exists():
        pytest.skip("nothing was built here")
    pins = {pin["identity"] for pin in json.loads(resolved.read_text())["pins"]}
    assert pins == set(exact) - {"swift-metrics"}


def test_an_engine_only_package_needs_no_other_package():
    assert requirements(manifest(OPBENCH_ENGINE_ONLY="1", OPBENCH_EXACT_VERSIONS="1")) == {}


def test_the_engine_brings_no_c_of_the_suite():
    targets = {target["name"]: target for target in manifest()["targets"]}

    def below(name):
        direct = {dependency["byName"][0] for dependency in targets[name]["dependencies"] if "byName" in dependency}
        return direct.union(*map(below, direct))

    assert below("OperationEngine") == {"CLinux"}
    assert below("OperationEngineProgress") == below("OperationEngineFoundation") == {"OperationEngine", "CLinux"}
    # No code that measures or starts processes; one file handles signals, those that the program asks it to note.
    shims = {path.name: path.read_text() for path in (ROOT / "Sources/CLinux").rglob("*.[ch]")}
    assert not any(word in text for text in shims.values() for word in ("ucontext", "fork()", "ptrace(", "timer_create"))
    assert {name for name, text in shims.items() if "sigaction" in text} == {"Signals.c", "CLinuxSignals.h"}


def test_other_packages_see_no_unsafe_flag_and_warnings_are_errors_only_on_request():
    # A package that depends on one with unsafe flags by version is not built.
    assert not re.search("treatAllWarnings|unsafeFlags", json.dumps(manifest()))
    asked = manifest(OPBENCH_WARNINGS_AS_ERRORS="1")
    for target in asked["targets"]:
        if target["type"] not in ("system", "plugin"):
            settings = [json.dumps(setting) for setting in target["settings"] if "treatAllWarnings" in setting["kind"]]
            assert len(settings) == 2 and all("debug" in setting for setting in settings), target["name"]


def test_the_package_index_documents_targets_of_products():
    (config,) = YAML(typ="safe").load(ROOT / ".spi.yml")["builder"]["configs"]
    documented = config["documentation_targets"]
    assert set(documented) <= {target for product in manifest()["products"] for target in product["targets"]}
    # Every catalogue is among them.
    assert set(documented) >= {path.stem for path in ROOT.glob("Sources/*/*.docc")}


def test_the_changelog_and_the_template_have_the_version():
    facts = (ROOT / "Sources/OpBenchRunner/Parent/OpBenchFacts.swift").read_text()
    version = re.search(r'static let number = "(.*)"', facts)[1]
    assert re.search(rf"^## {re.escape(version)} - ", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert f"/opbench/scripts/ci@{version}\n" in (ROOT / "scripts/ci/github.yml").read_text()
