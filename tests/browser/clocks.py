"""The clock of a program that is started, set from here: nobody has to wait for a quarter of an hour to be over."""

import os
from collections.abc import Mapping
from pathlib import Path

from tests.support import ROOT

__all__ = ["Clock"]

_SHIFT = "HEADGATE_TEST_SHIFT"
_SITE = f"""
import os, time
_real = time.time
time.time = lambda: _real() + float(open(os.environ["{_SHIFT}"]).read())
"""
"""What Python runs first of all, before anything can have looked at the clock."""


class Clock:
    """How far a program's clock is from ours, in a file that it looks at each time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "sitecustomize.py").write_text(_SITE)
        self.set(0)

    @property
    def env(self) -> Mapping[str, str]:
        """The environment of programs that go by this clock."""
        return {"PYTHONPATH": f"{self._folder}{os.pathsep}{ROOT}", _SHIFT: str(self._folder / "shift")}

    def set(self, seconds: float) -> None:
        """Move it, into the past if negative."""
        made = self._folder / "shift.new"
        made.write_text(str(seconds))
        made.replace(self._folder / "shift")  # which nobody finds half written
