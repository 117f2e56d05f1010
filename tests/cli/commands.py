"""Commands run in this process, which is a hundred times as fast as starting one."""

import io
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.cli import main
from tests.server.processes import environment


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


class Shell:
    """Runs commands: ``shell("ops", "get_book")``."""

    def __init__(self, patch: pytest.MonkeyPatch, output: pytest.CaptureFixture[str]) -> None:
        self._patch = patch
        self._output = output

    def __call__(
        self, *words: str, given: str = "", cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> Done:
        with self._patch.context() as patch:
            patch.setattr("os.environ", environment(env))
            patch.setattr("sys.argv", ["headgate", *words])
            patch.setattr("sys.stdin", io.StringIO(given))
            patch.setattr("sys.path", list(sys.path))
            if cwd:
                patch.chdir(cwd)
            with pytest.raises(SystemExit) as ended:
                main()
        said = self._output.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, said.out, said.err)
