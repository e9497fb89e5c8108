"""`opbench export --format prometheus`, read by Prometheus' own Python parser."""

import csv
import json
import subprocess

import pytest
from conftest import OPBENCH
from prometheus_client.parser import text_string_to_metric_families

# A name that needs every escape of the format.
NAME = 'a "name" \\ of two\nlines, {x="y"} #'
WORKLOAD = {
    "name": "small", "summary": "s", "shape": "independent", "parameters": {"items": [20, 30], "work_ns": 0},
    "backends": ["dispatch", "serial"], "sample_kinds": ["throughput", "latency"],
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if not OPBENCH.exists():
        pytest.skip(f"{OPBENCH} is not built")
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "small.json").write_text(json.dumps(WORKLOAD))
    command = [OPBENCH, "run", "--quick", "--run-id", "r", "--no-progress", "small.json"]
    subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=True)
    return folder


def export(folder, run):
    ended = subprocess.run(
        [OPBENCH, "export", "--format", "prometheus", run], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return {family.name: family for family in text_string_to_metric_families(ended.stdout)}


def test_the_parser_reads_every_figure_of_the_summary_and_the_run(folder):
    families = export(folder, "r")
    with open(folder / "results/r/summary.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["throughput_ops_per_s"]]
    times = {
        (sample.labels["cell"], sample.labels["backend"]): sample.value
        for sample in families["opbench_operation_time_seconds"].samples
    }
    assert times.keys() == {(row["cell_id"], row["backend"]) for row in rows} and len(times) == 4
    for row in rows:
        expected = 1 / float(row["throughput_ops_per_s"])
        assert times[row["cell_id"], row["backend"]] == pytest.approx(expected, rel=1e-9)
    assert {family.type for family in families.values()} == {"gauge"}
    assert all(family.documentation for family in families.values())
    assert {"opbench_time_ratio", "opbench_start_latency_p99_seconds", "opbench_operation_cpu_seconds"} < families.keys()
    (info,) = families.pop("opbench_run_info").samples
    assert info.value == 1 and info.labels["run_id"] == "r" and info.labels["started"].endswith("Z")
    # The run is no label of the others, so that their series go on.
    samples = [sample for family in families.values() for sample in family.samples]
    assert all(set(sample.labels) == {"workload", "cell", "backend", "class"} and sample.timestamp is None for sample in samples)
    assert len({(sample.name, *sorted(sample.labels.items())) for sample in samples}) == len(samples)


def test_names_with_quotes_and_line_ends_arrive_unchanged(folder):
    with open(folder / "results/r/samples.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["cell_id"] = NAME
    (folder / "results/odd").mkdir()
    with open(folder / "results/odd/samples.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    families = export(folder, "odd")
    assert {sample.labels["cell"] for sample in families["opbench_operation_time_seconds"].samples} == {NAME}
