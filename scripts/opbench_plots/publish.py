"""Writing the figures: all of them appear in their folder, or none."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from opbench_plots import style
from opbench_plots.errors import BadInput, CannotWrite


def publish(figures: dict[str, Figure], folder: Path) -> list[Path]:
    """Writes each figure as NAME.svg and NAME.png into `folder`, made if need be; returns the paths."""
    with _failures(folder), _workshop(folder) as workshop:
        for name, figure in figures.items():
            _save(figure, workshop / name)
        files = sorted(workshop.iterdir())
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            os.replace(file, folder / file.name)
    return [folder / file.name for file in files]


def _save(figure: Figure, stem: Path) -> None:
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style.SETTINGS)
        # No date, so that the same data makes the same file.
        figure.savefig(stem.with_name(stem.name + ".svg"), metadata={"Date": None})
        figure.savefig(stem.with_name(stem.name + ".png"))


@contextmanager
def _workshop(folder: Path) -> Iterator[Path]:
    """A passing folder on the same file system as `folder`."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    workshop = Path(tempfile.mkdtemp(prefix=".plots-", dir=existing))
    try:
        yield workshop
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


@contextmanager
def _failures(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{folder}: cannot write the figures: {error.strerror}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise CannotWrite(message) from error
        raise BadInput(f"{message}; choose another folder with --output") from error
