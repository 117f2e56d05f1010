"""The servers of others, installed where they are not yet: once for each set of pinned versions."""

import fcntl
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path

from tests.upstreams.servers import FOLDER

__all__ = ["install", "missing_program"]

_SECONDS = 600
_TRIED = ("js", "sdk1", "sdk2")


def missing_program() -> str | None:
    """What is not here and cannot be installed by us."""
    missing = next((name for name in ("node", "npm", "git") if shutil.which(name) is None), None)
    return missing and f"{missing} is not installed"


def install(*origins: str) -> None:
    """Install what is not installed yet of these sets, or of all that are tried; other processes wait for the first."""
    with (Path(tempfile.gettempdir()) / "headgate-upstreams.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = [do for mark, do in _sets(origins or _TRIED).items() if not mark.exists()]
        with ThreadPoolExecutor() as pool:
            for done in [pool.submit(do) for do in wanted]:
                done.result()


def _sets(origins: Sequence[str]) -> Mapping[Path, Callable[[], None]]:
    """How each set is installed, by the file that says that it is: of another name for other pins."""
    steps: dict[Path, Callable[[], None]] = {}
    for origin in origins:
        is_python = origin.startswith("sdk")
        folder, pins = (".venv", "requirements.txt") if is_python else ("node_modules", "package-lock.json")
        step = _with_pip if is_python else _with_npm
        digest = _digest(FOLDER / origin / pins)
        mark = FOLDER / origin / folder / f".installed-{digest}"
        steps[mark] = partial(_install, step, FOLDER / origin, mark)
    return steps


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()[:16]


def _install(step: Callable[[Path], None], folder: Path, mark: Path) -> None:
    step(folder)
    mark.touch()


def _with_npm(folder: Path) -> None:
    _run(folder, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def _with_pip(folder: Path) -> None:
    _run(folder, sys.executable, "-m", "venv", "--clear", "--without-pip", ".venv")
    pip = (sys.executable, "-m", "pip", "--python", ".venv/bin/python", "--disable-pip-version-check", "--quiet")
    _run(folder, *pip, "install", "--no-compile", "--no-input", "--requirement", "requirements.txt")


def _run(folder: Path, *words: str) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{words[0]} could not install {folder.name}: {done.stderr[-2000:]}")
