"""A user who types what a page shows, from the first line to the last, in the folder of the examples."""

import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from tests.cli.commands import Shell
from tests.cli.terminals import on_terminal
from tests.server.processes import HEADGATE, PATIENCE, environment, serve_http
from tests.support import ROOT

__all__ = ["EXAMPLES", "Home"]

EXAMPLES = ROOT / "examples"

_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_SEEN = {
    "appr_…": re.compile(r"\bappr_[\w-]{16}"),
    "challenge": re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    "code": re.compile(r"\b(?:[2-9A-Z]{4}-){6}[2-9A-Z]{4}\b"),
}
"""What commands print and later ones are given."""


class Home:
    """Remembers what was printed, and so what the ids that a page shows stand for."""

    def __init__(
        self, shell: Shell, folder: Path, *, written: Iterable[str] = (), files: Mapping[str, str] | None = None
    ) -> None:
        self._shell = shell
        self.variables = {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state")}
        self._folder = folder
        self._written = tuple(written)
        self._files = files or {}
        self._seen: dict[str, str] = {}
        self._places: dict[str, str] = {}

    def knows(self, shown: str, real: str) -> None:
        """What a page writes for something that is elsewhere in a test."""
        self._places[shown] = real

    def types(self, words: str) -> tuple[str, str]:
        """What a command prints: its answer, and what it says beside that."""
        given = shlex.split(self._filled(words))
        if given[0] == "export":
            self.variables |= dict(word.split("=", 1) for word in given[1:])
            return "", ""
        if given[:2] == ["headgate", "watch"]:
            shown = on_terminal(*given[1:], **self.variables)
            assert shown.code == 0, shown.text
            return self._noted(_COLOURS.sub("", shown.text)), ""
        variables = dict(word.split("=", 1) for word in given[: given.index("headgate")])
        done = self._shell(
            *given[given.index("headgate") + 1 :],
            given=f"{self._seen.get('code', '')}\n",
            cwd=EXAMPLES,
            env={**self.variables, **variables},
        )
        assert done.code in (0, 1), f"{words}: {done.err}"
        self._noted(done.out + done.err)
        return self._plain(done.out), self._plain(done.err)

    def serves(self, words: str) -> None:
        """Start a server as it is typed; it must come up, and end when nobody speaks to it any more."""
        _, command, *given = shlex.split(self._filled(words))
        given = _on_any_port(given)
        variables = {"XDG_STATE_HOME": self.variables["XDG_STATE_HOME"]}
        over_http = "--http" in given
        if over_http:
            at = given.index("--http")
            del given[at : at + 2]
        if over_http and command == "serve":
            with serve_http(*self._placed(given), env=variables) as serving:
                assert serving.port
            return
        run = subprocess.run(
            [HEADGATE, command, *self._placed(given)],
            stdin=subprocess.DEVNULL,
            env=environment(variables),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        said = [line for line in run.stderr.splitlines() if "console at" not in line]
        assert (run.returncode, said) == (0, [])

    def _placed(self, words: Iterable[str]) -> list[str]:
        """The words with the paths of files that the page tells of: examples, or what the user has written."""
        for name, text in self._files.items():
            (self._folder / name).write_text(text)
        own = {name: self._folder / name for name in self._files}
        return [str(own.get(one, EXAMPLES / one if (EXAMPLES / one.split(":")[0]).exists() else one)) for one in words]

    def _filled(self, words: str) -> str:
        words = words.replace("appr_…", self._seen.get("appr_…", "appr_…"))
        words = _SEEN["challenge"].sub(lambda found: self._seen.get("challenge", found[0]), words)
        for shown, real in self._places.items():
            words = words.replace(shown, real)
        for name in self._written:
            words = words.replace(name, str(self._folder / name))
        return words

    def _plain(self, text: str) -> str:
        return text.replace(f"{self._folder}/", "")

    def _noted(self, text: str) -> str:
        for name, pattern in _SEEN.items():
            for found in pattern.finditer(text):
                self._seen[name] = found[0]
        return text


def _on_any_port(words: list[str]) -> list[str]:
    """The console is shown wherever there is room: a page names the usual port."""
    return [re.sub(r":\d+$", ":0", word) if after == "--console" else word for after, word in pairwise(["", *words])]
