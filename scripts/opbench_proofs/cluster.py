"""A Slurm of this machine alone: a controller and node daemons on loopback addresses, in a folder of their own. Debian's
slurm-wlm and munge; as any user, since nothing of the system's own Slurm is used."""

import ctypes
import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = ("munged", "mungekey", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
# Debian has the daemons there, which is not on every user's PATH.
SYSTEM = "/usr/sbin:/sbin"
_PR_SET_CHILD_SUBREAPER = 36


class ClusterFailure(Exception):
    """The cluster does not do what is asked of it."""


@dataclass(frozen=True)
class Task:
    """A task of a job array as the controller tells of it."""

    index: int
    state: str
    node: str


def configuration(folder: Path, nodes: list[str], ports: list[int], processors: int, user: str) -> str:
    """The text of slurm.conf; the first port is the controller's. Each node has the whole machine, so that an exclusive task
    fills it."""
    lines = [
        "ClusterName=opbench", "SlurmctldHost=localhost(127.0.0.1)", f"SlurmctldPort={ports[0]}", f"SlurmUser={user}",
        f"SlurmdUser={user}", "AuthType=auth/munge", f"AuthInfo=socket={folder}/munge/socket",
        # Both kinds of daemon listen on the addresses below, and on no other.
        "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny",
        f"StateSaveLocation={folder}/state", f"SlurmdSpoolDir={folder}/spool-%n", f"SlurmctldPidFile={folder}/slurmctld.pid",
        f"SlurmdPidFile={folder}/slurmd-%n.pid", "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
        "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU", "MpiDefault=none", "ReturnToService=2",
        # Ended tasks are told of for as long as the proof takes; a new one is started within two seconds.
        "MinJobAge=86400", "SchedulerParameters=sched_interval=2",
    ]
    lines += [
        f"NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={processors}"
        for node, port in zip(nodes, ports[1:], strict=True)
    ]
    return "\n".join([*lines, f"PartitionName=all Nodes={','.join(nodes)} Default=YES State=UP", ""])


class Cluster:
    """The daemons, from `with` to its end: then none is left, no task of theirs, and no folder, however it ends."""

    def __init__(self, nodes: list[str]) -> None:
        self.nodes = nodes
        self.folder = Path()
        self.environment: dict[str, str] = {}

    def __enter__(self) -> "Cluster":
        missing = [name for name in PROGRAMS if shutil.which(name, path=self._path()) is None]
        if missing:
            raise ClusterFailure(f"not installed: {', '.join(missing)}")
        # A task's processes leave the daemon that starts them; their new parent is this process, which ends them.
        if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
            raise ClusterFailure(f"prctl: {os.strerror(ctypes.get_errno())}")
        self.folder = Path(tempfile.mkdtemp(prefix="opbench-slurm-"))
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends everything. A second Ctrl-C does not interrupt it."""
        kept = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        try:
            for number, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
                deadline = time.monotonic() + seconds
                while (processes := descendants()) and time.monotonic() < deadline:
                    for process in processes:
                        _send(process, number)
                    _reap()
                    time.sleep(0.1)
            _reap()
            shutil.rmtree(self.folder, ignore_errors=True)
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)

    def _path(self) -> str:
        return f"{os.environ.get('PATH', os.defpath)}:{SYSTEM}"

    def _start(self) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH", "SQUEUE"))}
        file = self.folder / "slurm.conf"
        self.environment = kept | {"PATH": self._path(), "SLURM_CONF": str(file)}
        for name in ("munge", "state", *(f"spool-{node}" for node in self.nodes)):
            (self.folder / name).mkdir(mode=0o700)
        text = configuration(
            self.folder, self.nodes, free_ports(1 + len(self.nodes)), os.cpu_count() or 1, getpass.getuser()
        )
        file.write_text(text, encoding="utf-8")
        munge = self.folder / "munge"
        self.ask("mungekey", "--create", f"--keyfile={munge}/key")
        # --force: the folder is closed to others, as the socket in it need not be.
        self._daemon(
            "munged", "--force", "--foreground", f"--key-file={munge}/key", f"--socket={munge}/socket",
            f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed",
        )
        self.wait("munged has no socket", lambda: (munge / "socket").exists(), 20)
        self._daemon("slurmctld", "-D", "-i", "-f", str(file))
        for node in self.nodes:
            self._daemon("slurmd", "-D", "-N", node, "-f", str(file))
        self.wait("the nodes do not come up", lambda: {self.node_state(node) for node in self.nodes} == {"IDLE"}, 60)

    def _daemon(self, *command: str) -> None:
        """In a session of its own: Ctrl-C is for the proof, which ends the daemons in their order."""
        with (self.folder / f"{command[0]}.log").open("ab") as log:
            subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def ask(self, *command: str, folder: Path | None = None) -> str:
        """What a command of Slurm prints."""
        ended = subprocess.run(
            command, env=self.environment, cwd=folder or self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60, check=False,
        )
        if ended.returncode != 0:
            raise ClusterFailure(f"{' '.join(command)} ended with {ended.returncode}: {ended.stderr.strip()}")
        return ended.stdout.strip()

    def wait(self, otherwise: str, is_so: Callable[[], bool], seconds: float) -> None:
        """Until something is so. Slurm tells nobody: it has to be asked."""
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                raise ClusterFailure(f"{otherwise}, {seconds:.0f} s long")
            _reap()
            time.sleep(0.1)

    def node_state(self, node: str) -> str:
        """Such as IDLE, ALLOCATED, IDLE+DRAIN; empty while the controller does not answer."""
        try:
            facts = self.ask("scontrol", "--oneliner", "show", "node", node)
        except ClusterFailure:
            return ""
        return _fact(facts, "State")

    def tasks(self, job: str) -> dict[int, Task]:
        """The tasks of an array by their index."""
        lines = self.ask("squeue", "--noheader", "--array", "--states=all", f"--jobs={job}", "--format=%K|%T|%N").splitlines()
        fields = [line.split("|") for line in lines]
        return {int(index): Task(int(index), state, node) for index, state, node in fields}

    def restarts(self, job: str, index: int) -> int:
        """How often a task was put back into the queue."""
        return int(_fact(self.ask("scontrol", "--oneliner", "show", "job", f"{job}_{index}"), "Restarts"))


def _fact(line: str, name: str) -> str:
    return next(word.partition("=")[2] for word in line.split() if word.startswith(f"{name}="))


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listened on just now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def descendants() -> list[int]:
    """The processes that this one started, and those that they did. Zombies are none: they are waited for."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            # After the name, which stands in parentheses and may hold anything: the state, the parent.
            state, parent = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(entry.name)] = int(parent)
    found, reached = [], {os.getpid()}
    while grown := [process for process, parent in parents.items() if parent in reached and process not in reached]:
        reached.update(grown)
        found += grown
    return found


def with_variable(name: str, value: str) -> list[int]:
    """The processes that this one started with such a variable in their environment."""
    wanted, found = f"{name}={value}".encode(), []
    for process in descendants():
        try:
            variables = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in variables:
            found.append(process)
    return found


def kill(processes: list[int]) -> None:
    """At once, as when the power fails."""
    for process in processes:
        _send(process, signal.SIGKILL)


def _send(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


def _reap() -> None:
    """Waits for those that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass
