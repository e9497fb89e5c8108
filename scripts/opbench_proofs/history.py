"""How long a history takes: 10^6 rows come in within a minute, and a question is answered within a second."""

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMPORT_LIMIT = 60.0
QUERY_LIMIT = 1.0
WORKLOAD = {
    "name": "small",
    "summary": "s",
    "shape": "independent",
    "parameters": {"items": 20, "work_ns": 0},
    "backends": ["engine", "dispatch", "foundation", "serial"],
    "metrics": ["throughput", "latency", "memory"],
}


def opbench(binary: Path, folder: Path, *words: str) -> tuple[str, float]:
    """What it prints, and how many seconds it takes."""
    begun = time.monotonic()
    ended = subprocess.run([binary, *words], cwd=folder, capture_output=True, text=True)
    if ended.returncode != 0:
        raise SystemExit(f"opbench {' '.join(words)} ended with {ended.returncode}:\n{ended.stderr}")
    return ended.stdout, time.monotonic() - begun


def multiply(folder: Path, runs: int, rows: int) -> int:
    """Makes runs of the real one, each with so many rows, of many cells; the number of all rows."""
    real = folder / "results/real"
    with (real / "samples.csv").open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        names, templates = list(reader.fieldnames or []), list(reader)
    manifest = (real / "run.json").read_text(encoding="utf-8")
    cells = rows // len(templates) + 1
    for number in range(runs):
        run_id = f"run{number:04}"
        target = folder / "results" / run_id
        target.mkdir()
        (target / "run.json").write_text(manifest.replace('"real"', f'"{run_id}"'), encoding="utf-8")
        with (target / "samples.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            day = f"2026-01-{number + 1:02}T00:00:00.000Z"
            for cell in range(cells):
                changed = {"run_id": run_id, "timestamp_utc": day, "cell_id": f"small items=20 number={cell}"}
                for row in templates:
                    value = row["value"]
                    scale = 1 + (number * 7 + cell) % 13 / 100
                    if value and row["deterministic"] == "false":
                        value = repr(float(value) * scale)
                    writer.writerow(row | changed | {"value": value})
    return runs * cells * len(templates)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="prove-history", description=__doc__)
    parser.add_argument("--binary", type=Path, default=ROOT / ".build/release/opbench", help="what is proved")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of all runs together")
    options = parser.parse_args(arguments)
    binary = options.binary.resolve()
    held = True

    def judge(what: str, seconds: float, limit: float) -> None:
        nonlocal held
        held = held and seconds <= limit
        print(f"{what}: {seconds:.2f} s{'' if seconds <= limit else f', MORE THAN {limit:.0f} s'}", flush=True)

    for runs in (1, 20):
        folder = Path(tempfile.mkdtemp(prefix="opbench-history-"))
        try:
            (folder / "small.json").write_text(json.dumps(WORKLOAD), encoding="utf-8")
            options_of_run = ["--blocks", "7", "--quick", "--no-progress", "--run-id", "real"]
            opbench(binary, folder, "run", *options_of_run, "small.json")
            rows = multiply(folder, runs, options.rows // runs)
            names = sorted(path.name for path in (folder / "results").glob("run*"))
            _, seconds = opbench(binary, folder, "history", "add", *names)
            size = (folder / "results/history.sqlite").stat().st_size / 1e6
            listed, listing = opbench(binary, folder, "history", "list")
            figures = sum(int(line.split()[4]) for line in listed.splitlines()[2:])
            judge(f"{rows} rows of {runs} run(s) added ({figures} figures, {size:.0f} MB)", seconds, IMPORT_LIMIT)
            judge("history list", listing, QUERY_LIMIT)
            questions = {
                "one figure": ["--cell", "number=7$", "--backend", "engine", "--metric", "time_ratio"],
                "one metric": ["--metric", "allocations"],
                "the headline": [],
            }
            for name, words in questions.items():
                text, seconds = opbench(binary, folder, "history", "trend", "--no-change-points", *words)
                judge(f"history trend, {name} ({len(text.splitlines())} lines)", seconds, QUERY_LIMIT)
        finally:
            shutil.rmtree(folder)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
