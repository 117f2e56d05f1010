"""Variables in the configuration of MCP servers, in the spellings of all the hosts that write it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["MissingVariable", "Variables"]

_VARIABLE: Final = re.compile(r"\$\{(?:(?P<kind>env|input):)?(?P<name>[^${}:]+)(?::-(?P<default>[^{}]*))?\}")
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9]+")


class MissingVariable(LookupError):
    """A variable that is named and not set; the name is what must be set."""


@dataclass(frozen=True, slots=True)
class Variables:
    """What ``${NAME}``, ``${env:NAME}``, ``${NAME:-default}``, ``${input:id}`` and the folders of editors stand for."""

    environment: Mapping[str, str] = field(repr=False)
    folder: Path
    """Where the file is that names them: editors open its folder, or the one around it, as their workspace."""

    def filled(self, text: str) -> str:
        """The text with the values of its variables, or a MissingVariable."""
        return _VARIABLE.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        kind, name, default = found["kind"], found["name"], found["default"]
        if kind is None and name in _FOLDERS:
            return _FOLDERS[name](self.folder)
        wanted = _NOT_A_NAME.sub("_", name).upper() if kind == "input" else name
        value = self.environment.get(wanted)
        if default is not None:  # as a shell has it: an empty value is none
            return value or default
        if value is None:
            raise MissingVariable(wanted)
        return value


def _workspace(folder: Path) -> str:
    """The folder that an editor has open: its settings are in a hidden one inside."""
    return str(folder.parent if folder.name.startswith(".") else folder)


_FOLDERS: Final[Mapping[str, Callable[[Path], str]]] = {
    "workspaceFolder": _workspace,
    "workspaceFolderBasename": lambda folder: Path(_workspace(folder)).name,
    "userHome": lambda _: str(Path.home()),
    "pathSeparator": lambda _: "/",
    "/": lambda _: "/",
}
