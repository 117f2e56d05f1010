"""MCP servers as hosts list them: the files of Claude Desktop, Cursor, VS Code, Windsurf, Cline and others."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.mcp.relaxed_json import relaxed_json
from headgate.sources.mcp.variables import MissingVariable, Variables

__all__ = ["McpSpec", "Transport", "is_mcp_servers", "mcp_servers_from", "read_mcp_servers"]

Transport: TypeAlias = Literal["stdio", "http", "sse"]

_LARGEST_FILE: Final = 4 * 2**20
_TRANSPORTS: Final[Mapping[str, Transport]] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "https": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamablehttp": "http",
    "remote": "http",
    "sse": "sse",
}
_ADDRESSES: Final = ("url", "serverUrl", "httpUrl", "endpoint")
_LONGEST_IN_SECONDS: Final = 3600
_LISTS: Final = ("mcpServers", "servers", "context_servers")
"""Under which key hosts list their servers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSpec:
    """How one MCP server is reached. Only its name and its kind are shown: the rest may hold secrets."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    transport: Transport = "stdio"
    disabled: bool = False
    timeout: float | None = None
    """Seconds that a call may take, if its configuration says so."""
    problem: str = ""
    """Why it cannot be started as it is written; the others in its file can."""

    def __repr__(self) -> str:
        return f"McpSpec(name={self.name!r}, transport={self.transport!r}, disabled={self.disabled!r})"


def is_mcp_servers(path: Path) -> bool:
    """Whether a file lists MCP servers; anything that cannot be read does not."""
    try:
        return _listed(_content(path)) is not None
    except AdapterError:
        return False


def read_mcp_servers(path: Path | str, environment: Mapping[str, str] | None = None) -> tuple[McpSpec, ...]:
    """The servers that a file lists, in its order. What is wrong with one of them is that one's ``problem``."""
    file = Path(path)
    folder = file.resolve().parent
    return mcp_servers_from(_content(file), str(path), folder, os.environ if environment is None else environment)


def mcp_servers_from(content: object, where: str, folder: Path, environment: Mapping[str, str]) -> tuple[McpSpec, ...]:
    """The servers in what a file holds; relative folders start from ``folder``."""
    servers = _listed(content)
    if servers is None:
        raise AdapterError(
            f"'{where}' lists no MCP servers: it needs a key 'mcpServers', or 'servers' as VS Code has it"
        )
    variables = Variables(environment, folder)
    return tuple(_spec(str(name), entry, variables) for name, entry in servers.items())


def _content(path: Path) -> object:
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_FILE + 1)
        text = raw.decode("utf-8")
    except OSError:
        raise AdapterError(f"The file '{path}' cannot be read") from None
    except UnicodeDecodeError:
        raise AdapterError(f"'{path}' is no UTF-8: save it as UTF-8") from None
    if len(raw) > _LARGEST_FILE:
        raise AdapterError(f"'{path}' is larger than {_LARGEST_FILE} bytes, and so hardly a list of servers")
    try:
        return relaxed_json(text)
    except ValueError as error:
        raise AdapterError(f"'{path}', {error}") from None


def _listed(content: object) -> Mapping[str, object] | None:
    """The servers, whichever host has written the file: by themselves, or among the settings of an editor."""
    if not isinstance(content, Mapping):
        return None
    settings = [content, content.get("mcp"), {"servers": content.get("mcp.servers")}]
    for one in settings:
        for key in _LISTS:
            servers = one.get(key) if isinstance(one, Mapping) else None
            if isinstance(servers, Mapping):
                return servers
    return None


def _spec(name: str, entry: object, variables: Variables) -> McpSpec:
    """One server. Whatever keys a host keeps for itself, such as what it approves, mean nothing here."""
    try:
        return _Entry(name, entry, variables).spec()
    except _Unusable as error:
        is_off = isinstance(entry, Mapping) and _is_off(entry)
        return McpSpec(name=name, disabled=is_off, problem=f"MCP server '{name}': {error}")


class _Unusable(ValueError):
    """Why a server cannot be started as its entry stands."""


def _is_off(entry: Mapping[str, object]) -> bool:
    return entry.get("disabled") is True or entry.get("enabled") is False


class _Entry:
    """What a file says of one server."""

    def __init__(self, name: str, entry: object, variables: Variables) -> None:
        if not isinstance(entry, Mapping):
            raise _Unusable("its entry must be an object with 'command' or 'url'")
        self._name = name
        self._entry = entry
        self._variables = variables

    def spec(self) -> McpSpec:
        """The server, or an _Unusable that says what is wrong with its entry."""
        address = self._address()
        command, args = self._command()
        if bool(command) == bool(address):
            needs = "both 'command' and 'url': leave one of them out" if command else "neither 'command' nor 'url'"
            raise _Unusable(f"its entry has {needs}")
        return McpSpec(
            name=self._name,
            command=command,
            args=args,
            env=self._pairs("env"),
            cwd=self._folder(),
            url=address,
            headers=self._pairs("headers") or self._pairs("http_headers"),
            transport=self._transport("http" if address else "stdio"),
            disabled=_is_off(self._entry),
            timeout=self._timeout(),
        )

    def _text(self, key: str) -> str:
        value = self._entry.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise _Unusable(f"'{key}' must be a text")
        return self._filled(key, value)

    def _filled(self, key: str, value: str) -> str:
        try:
            return self._variables.filled(value)
        except MissingVariable as missing:
            raise _Unusable(f"'{key}' needs the environment variable '{missing}', which is not set") from None

    def _address(self) -> str:
        return next(filter(None, map(self._text, _ADDRESSES)), "")

    def _command(self) -> tuple[str, tuple[str, ...]]:
        """The program and its arguments; some hosts write both as one list, and people as one line."""
        command = self._entry.get("command")
        words = self._list("command", command) if isinstance(command, list) else _words(self._text("command"))
        args = self._list("args", self._entry.get("args") or [])
        return (words[0] if words else ""), (*words[1:], *args)

    def _list(self, key: str, given: object) -> list[str]:
        if not isinstance(given, list) or any(isinstance(one, list | dict | None) for one in given):
            raise _Unusable(f"'{key}' must be a list of texts")
        return [self._filled(key, one if isinstance(one, str) else _plain(one)) for one in given]

    def _pairs(self, key: str) -> dict[str, str]:
        given = self._entry.get(key)
        if given is None:
            return {}
        if not isinstance(given, Mapping) or any(isinstance(one, list | dict) for one in given.values()):
            raise _Unusable(f"'{key}' must be an object of names and texts")
        return {
            str(name): self._filled(f"{key}.{name}", one if isinstance(one, str) else _plain(one))
            for name, one in given.items()
            if one is not None
        }

    def _folder(self) -> str | None:
        """Where it runs, if that is said."""
        given = self._text("cwd")
        return str(self._variables.folder / Path(given).expanduser()) if given else None

    def _transport(self, usual: Transport) -> Transport:
        said = self._entry.get("type") or self._entry.get("transport") or self._entry.get("transportType") or usual
        found = _TRANSPORTS.get(said.lower()) if isinstance(said, str) else None
        if found is None:
            raise _Unusable("its 'type' is not known; it may be 'stdio', 'http' or 'sse'")
        if (found == "stdio") != (usual == "stdio"):
            raise _Unusable(
                f"its 'type' does not fit: a server with '{'command' if usual == 'stdio' else 'url'}' has another"
            )
        return found

    def _timeout(self) -> float | None:
        """Seconds; hosts that count in milliseconds write numbers that nobody would mean as seconds."""
        value = self._entry.get("timeout")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise _Unusable("'timeout' must be a number of seconds, more than 0")
        return value / 1000 if value > _LONGEST_IN_SECONDS else float(value)


def _words(line: str) -> list[str]:
    """The words of a command line; one that is the name of a program as it stands is not taken apart."""
    if " " not in line or Path(line).exists():
        return [line] if line else []
    try:
        return shlex.split(line)
    except ValueError:
        raise _Unusable("'command' has a quotation mark without its other half") from None


def _plain(value: object) -> str:
    """A number or a truth value as a shell would be given it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
