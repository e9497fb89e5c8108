"""Readers of files under libFuzzer: what broke, and how much was tried."""

import argparse
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "Tests/FuzzTests/Corpus"
SCRATCH = ROOT / ".build-fuzz"

DESCRIPTION = """\
Runs the readers of files (Tests/FuzzTests) under libFuzzer: workloads, policies, all CSV files, run.json, plans, parts to
be merged, histories. Any bytes
have to be taken or refused with an error that names a place; what is taken and written again has to read as the same; no
input may trap, take more than 10 s or more than a gigabyte. Then a megabyte of each of some fifty things that careless readers
take long for. What was found so far is kept in .build-fuzz/corpus and is where the next run begins; an input that breaks
something goes to .build-fuzz/found, with the command that runs it again."""

EXAMPLES = """\
examples:
  scripts/fuzz                                   10^6 inputs for each reader
  scripts/fuzz --short                           20,000 each
  scripts/fuzz --only csv,history --runs 5000000
  scripts/fuzz --address --short                 under AddressSanitizer
  scripts/fuzz --only policy --update-corpus     keep a few of the inputs found, for the tests

exit codes: 0 nothing was found · 1 something was, or the build failed · 64 bad usage"""

# Beside the corpus, where a run begins.
SEEDS = {
    "workload": ["workloads", "workloads/more", "workloads/engine", "Tests/OpBenchModelTests/Workloads/good"],
    "policy": ["workloads/policies"],
}
RUNS, SHORT_RUNS = 1_000_000, 20_000
SECONDS_LIMIT, MEMORY_LIMIT_MB = 10, 1024
KEPT_FILES, KEPT_BYTES = 40, 2048


@dataclass
class Result:
    reader: str
    inputs: int = 0
    taken: int = 0
    seconds: float = 0.0
    memory_mb: int = 0
    edges: int = 0
    files: int = 0
    found: str = ""

    def line(self) -> str:
        rate = self.inputs / self.seconds if self.seconds else 0
        part = 100 * self.taken / self.inputs if self.inputs else 0
        return (
            f"{self.reader:12} {self.inputs:9} {part:6.1f} % {self.seconds:7.0f} s {rate:7.0f} {self.memory_mb:5} MB"
            f" {self.edges:7} {self.files:6}  {self.found or 'nothing'}"
        )


HEADER = f"{'reader':12} {'inputs':>9} {'taken':>8} {'time':>9} {'per s':>7} {'peak':>8} {'edges':>7} {'files':>6}  found"


def runtime() -> Path:
    """libFuzzer without its `main`."""
    told = subprocess.run(["swift", "-print-target-info"], capture_output=True, text=True, check=True).stdout
    resources = Path(json.loads(told)["paths"]["runtimeResourcePath"])
    name = f"libclang_rt.fuzzer_no_main-{platform.machine()}.a"
    found = sorted(resources.parent.glob(f"clang/*/lib/linux/{name}"))
    if not found:
        raise SystemExit(f"fuzz: the toolchain has no {name}; one from swift.org has")
    return found[-1]


def build(with_address: bool) -> Path:
    """The program; says by itself when it has nothing to do."""
    scratch = SCRATCH / ("address" if with_address else "plain")
    options = ["--package-path", str(ROOT), "--scratch-path", str(scratch), "--configuration", "release"]
    # jemalloc would stand in the place of the sanitizer's malloc.
    options += ["--disable-default-traits", "--traits", "Suite"] + (["--sanitize=address"] if with_address else [])
    environment = os.environ | {"OPBENCH_FUZZER": str(runtime())}
    if subprocess.run(["swift", "build", "--quiet", "--product", "fuzz", *options], env=environment).returncode != 0:
        raise SystemExit("fuzz: the build failed")
    folder = subprocess.run(
        ["swift", "build", "--show-bin-path", *options], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()
    return Path(folder) / "fuzz"


def seed_folders(program: Path, reader: str, temporary: Path) -> list[Path]:
    """Where a run begins: what is kept, what the package ships, and what is made."""
    made = temporary / "made"
    made.mkdir()
    subprocess.run([program, "seeds", reader, made], check=True)
    for folder in SEEDS.get(reader, []):
        for file in (ROOT / folder).glob("*.json"):
            shutil.copyfile(file, made / f"{folder.replace('/', '-')}-{file.name}")
    return [CORPUS / reader, made]


def fuzz(program: Path, reader: str, length: int, runs: int, with_address: bool) -> Result:
    """Runs one reader until it has had so many inputs, or one of them breaks something."""
    result = Result(reader)
    grown, found = SCRATCH / "corpus" / reader, SCRATCH / "found"
    grown.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    log = SCRATCH / f"{reader}.log"
    with tempfile.TemporaryDirectory(prefix="opbench-fuzz-") as folder:
        temporary = Path(folder)
        words = temporary / "words"
        words.write_bytes(subprocess.run([program, "words", reader], capture_output=True, check=True).stdout)
        command = [
            program, reader, f"-runs={runs}", f"-max_len={length}", f"-timeout={SECONDS_LIMIT}",
            f"-rss_limit_mb={MEMORY_LIMIT_MB * (3 if with_address else 1)}", f"-dict={words}", "-print_final_stats=1",
            f"-artifact_prefix={found}/{reader}-", grown, *seed_folders(program, reader, temporary),
        ]
        begun = time.monotonic()
        with log.open("wb") as output:
            ended = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, cwd=temporary)
        result.seconds = time.monotonic() - begun
    text = log.read_text(encoding="utf-8", errors="replace")
    result.inputs = _last(text, r"stat::number_of_executed_units:\s+(\d+)")
    result.memory_mb = _last(text, r"stat::peak_rss_mb:\s+(\d+)")
    result.taken = _last(text, r"^taken: (\d+)")
    result.edges = _last(text, r"cov: (\d+)")
    result.files = len(list(grown.iterdir()))
    if ended.returncode != 0:
        written = re.findall(r"Test unit written to (\S+)", text)
        result.found = f"{program} {reader} {written[-1]}" if written else f"see {log}"
    return result


def _last(text: str, pattern: str) -> int:
    found = re.findall(pattern, text, re.MULTILINE)
    return int(found[-1]) if found else 0


def update_corpus(program: Path, reader: str) -> None:
    """Keeps a few small inputs that together reach much of the reader; those that are kept stay."""
    with tempfile.TemporaryDirectory(prefix="opbench-fuzz-") as folder:
        chosen = Path(folder)
        kept = CORPUS / reader
        kept.mkdir(parents=True, exist_ok=True)
        command = [program, reader, "-set_cover_merge=1", f"-max_len={KEPT_BYTES}", chosen, SCRATCH / "corpus" / reader]
        subprocess.run(command, check=True, capture_output=True)
        room = KEPT_FILES - len(list(kept.iterdir()))
        # One of each size rather than the smallest ones, which are hardly ever taken.
        files = sorted(chosen.iterdir(), key=lambda file: (file.stat().st_size, file.name))
        for place in range(max(0, min(room, len(files)))):
            file = files[place * len(files) // room if len(files) > room else place]
            shutil.copyfile(file, kept / file.name[:12])


class Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(64, f"fuzz: {message}\nSee scripts/fuzz --help.\n")


def main(arguments: list[str] | None = None) -> int:
    parser = Arguments(
        prog="scripts/fuzz", description=DESCRIPTION, epilog=EXAMPLES, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", metavar="LIST", help="run only these readers, by name, separated by commas")
    parser.add_argument("--runs", type=int, metavar="N", help=f"inputs for each reader (default: {RUNS})")
    parser.add_argument("--short", action="store_true", help=f"{SHORT_RUNS} inputs for each")
    parser.add_argument("--address", action="store_true", help="under AddressSanitizer, at some third of the speed")
    parser.add_argument("--update-corpus", action="store_true", help="copy a few of the inputs found to Tests/FuzzTests/Corpus")
    options = parser.parse_args(arguments)
    if options.runs is not None and options.runs < 1:
        parser.error("--runs takes a number from 1")
    # So that what it runs ends as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    program = build(options.address)
    listed = subprocess.run([program, "readers"], capture_output=True, text=True, check=True).stdout.split()
    lengths = dict(zip(listed[::2], map(int, listed[1::2]), strict=True))
    chosen = options.only.split(",") if options.only else list(lengths)
    if unknown := [name for name in chosen if name not in lengths]:
        parser.error(f"--only takes names among {', '.join(lengths)}, not {', '.join(unknown)}")
    runs = options.runs or (SHORT_RUNS if options.short else RUNS)
    print(HEADER, flush=True)
    failed = False
    for reader in chosen:
        result = fuzz(program, reader, lengths[reader], runs, options.address)
        print(result.line(), flush=True)
        failed = failed or bool(result.found)
        if options.update_corpus and not result.found:
            update_corpus(program, reader)
    begun = time.monotonic()
    heaps = subprocess.run([program, "heaps"], capture_output=True, text=True)
    lines = heaps.stdout.splitlines()
    slow = sorted(lines, key=lambda line: -float(line.split("\t")[2].split(" ms")[0]))
    print(f"a megabyte of one thing: {len(lines)} inputs in {time.monotonic() - begun:.0f} s")
    for line in slow[:3]:
        print("  " + line.replace("\t", ", "))
    for line in lines:
        if not line.endswith(" ms"):
            print("  " + line.replace("\t", ", "))
    if heaps.returncode != 0 and heaps.returncode != 1:
        print(heaps.stderr[-2000:])
    return 1 if failed or heaps.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
