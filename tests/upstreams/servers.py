"""The servers of others that headgate is tried on, as servers.toml lists them."""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.upstreams.homes import GIT_IDENTITY

__all__ = ["FOLDER", "SERVERS", "Place", "Server", "filled", "server_of", "versions"]

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Place:
    """Where a trial is held: its folder, the address of its pages, the port of its store and the browser there is."""

    home: Path
    web: str
    redis: int = 9
    chromium: str = "chromium"

    def names(self) -> dict[str, str]:
        """What the words in braces stand for."""
        return {"{home}": str(self.home), "{web}": self.web, "{redis}": str(self.redis), "{chromium}": self.chromium}


@dataclass(frozen=True, slots=True)
class Server:
    """One server: how it is installed and started."""

    name: str
    origin: str
    package: str
    program: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    account: bool
    folder: Path = FOLDER
    """Where it is installed."""

    @property
    def version(self) -> str:
        """The version that is pinned."""
        return versions(self.origin)[self.package.lower()]

    @property
    def browses(self) -> bool:
        """Whether it needs a browser."""
        return "{chromium}" in self.arguments

    @property
    def stores(self) -> bool:
        """Whether it needs a store."""
        return any("{redis}" in word for word in self.arguments)

    @property
    def path(self) -> Path:
        """The program, once installed."""
        folder = "node_modules/.bin" if self.origin == "js" else ".venv/bin"
        return self.folder / self.origin / folder / self.program

    def command(self, place: Place) -> list[str]:
        """The words that start it, in an environment of its own that is the same whoever starts it."""
        own: dict[str, str] = filled(dict(self.environment), place)
        variables = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(place.home),
            "TMPDIR": str(place.home / "out"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "NO_COLOR": "1",
            **GIT_IDENTITY,
            **own,
        }
        words = [f"{name}={value}" for name, value in variables.items()]
        return ["env", "-i", *words, str(self.path), *filled(list(self.arguments), place)]


def filled(value: Any, place: Place) -> Any:
    """The value with its words in braces replaced, however deep they stand."""
    if isinstance(value, str):
        for name, meaning in place.names().items():
            value = value.replace(name, meaning)
        return value
    if isinstance(value, list):
        return [filled(child, place) for child in value]
    if isinstance(value, dict):
        return {key: filled(child, place) for key, child in value.items()}
    return value


@cache
def versions(origin: str) -> Mapping[str, str]:
    """The versions that are pinned for one way of installing, by package in lower case."""
    if origin == "js":
        pinned: dict[str, str] = json.loads((FOLDER / "js" / "package.json").read_text())["dependencies"]
        return {name.lower(): version for name, version in pinned.items()}
    text = (FOLDER / origin / "requirements.txt").read_text()
    return {name.lower(): version for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)$", text)}


def server_of(name: str, row: Mapping[str, Any], folder: Path = FOLDER) -> Server:
    """A server as a row of the list tells it."""
    return Server(
        name=name,
        origin=row["from"],
        package=row["package"],
        program=row["program"],
        arguments=tuple(row.get("arguments", ())),
        environment=row.get("environment", {}),
        account=row.get("account", False),
        folder=folder,
    )


SERVERS: Mapping[str, Server] = {
    name: server_of(name, row) for name, row in tomllib.loads((FOLDER / "servers.toml").read_text()).items()
}
