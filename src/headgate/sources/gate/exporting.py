"""An adapter as a file that stands for its source: how each kind of source is referred to, and never a secret of it."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from headgate.adapter.adapter import Adapter
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.files.building import operation_of
from headgate.sources.files.exporting import exported
from headgate.sources.files.leaks import is_secret_name, without_credentials
from headgate.sources.files.reading import adapter_file_from
from headgate.sources.files.values import AdapterFile, Target
from headgate.sources.files.wiring import mcp_target, source_target
from headgate.sources.gate.rest_wiring import rest_wiring
from headgate.sources.gate.specs import SourceKind, SourceSpec
from headgate.sources.gate.upstreams import DEMO
from headgate.sources.mcp.configuration import McpSpec

__all__ = ["exported_document", "exported_source", "target_of"]

_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9]+")


def exported_source(adapter: Adapter, spec: SourceSpec, folder: Path | None = None) -> str:
    """The text of an adapter file for a source as it was opened; in ``folder`` the file will lie."""
    if spec.kind is SourceKind.OPENAPI:
        return exported_document(adapter, _placed(spec.where, folder))
    return exported(adapter, target_of(spec, folder))


def target_of(spec: SourceSpec, folder: Path | None = None) -> Target | None:
    """How a file refers to a source; None for one that is an adapter file itself, and says it in its own words."""
    match spec.kind:
        case SourceKind.ADAPTER_FILE:
            return None
        case SourceKind.DEMO:
            return source_target(DEMO)
        case SourceKind.MCP:
            if spec.mcp is None:
                raise AdapterError(f"Source '{spec.name}' says neither a command nor a URL.")
            return mcp_target(dict(_server(spec.mcp)))
        case SourceKind.DATABASE if _has_password(spec.where):
            return source_target(_variable(spec.name, "url"))
        case _:
            return source_target(_placed(spec.where, folder))


def _has_password(where: str) -> bool:
    return "://" in where and urlsplit(where).password is not None


def _variable(*words: str) -> str:
    """A reference to a variable of the environment that is named after these words."""
    return f"${{{_NOT_A_NAME.sub('_', '_'.join(words)).strip('_').upper()}}}"


def _placed(where: str, folder: Path | None) -> str:
    """A file as seen from the folder of the adapter file; a module or a URL as it is."""
    file, colon, name = where.partition(".py:")
    path = Path(f"{file}.py" if colon else where)
    if folder is None or "://" in where or not path.exists():
        return where
    return f"{os.path.relpath(path, folder)}{f':{name}' if colon else ''}"


def _server(spec: McpSpec) -> Iterator[tuple[str, object]]:
    """The command or the URL of a server, with variables where it holds secrets or is given any."""
    if spec.command:
        yield "command", spec.command
        if spec.args:
            yield "args", list(_arguments(spec.name, spec.args))
        if spec.env:
            yield "env", {name: _variable(name) for name in spec.env}
        if spec.cwd:
            yield "cwd", spec.cwd
    else:
        yield "url", _address(spec.name, spec.url)
        if spec.headers:
            yield "headers", {name: _header(spec.name, name, value) for name, value in spec.headers.items()}


def _header(server: str, name: str, value: str) -> str:
    """A header by its variable; the word before a token is no secret."""
    scheme, space, _ = value.partition(" ")
    is_scheme = bool(space) and scheme.lower() in ("bearer", "basic", "token")
    return f"{scheme} {_variable(server, 'token')}" if is_scheme else _variable(server, name)


def _arguments(server: str, args: Sequence[str]) -> Iterator[str]:
    """The arguments; what stands behind an option for secrets, or looks like one, becomes a variable."""
    option = ""
    for arg in args:
        name, equals, value = arg.partition("=")
        if option and not arg.startswith("-"):
            yield _variable(server, option)
        elif equals and value and name.startswith("-") and is_secret_name(name.lstrip("-")):
            yield f"{name}={_variable(server, name)}"
        else:
            yield arg if without_credentials(arg) == arg else _variable(server, "secret")
        option = arg if arg.startswith("-") and not equals and is_secret_name(arg.lstrip("-")) else ""


def _address(server: str, url: str) -> str:
    """A URL without a user's name and password, and with variables for keys in its query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = urlencode(dict(_query(server, parse_qsl(parts.query, keep_blank_values=True))), safe="${}")
    return parts._replace(netloc=host, query=query).geturl()


def _query(server: str, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, value in pairs:
        yield name, _variable(server, name) if is_secret_name(name) else without_credentials(value)


def exported_document(adapter: Adapter, source: str) -> str:
    """The text of an adapter file for an OpenAPI document: with the requests themselves if a file can say them all."""
    wiring = rest_wiring(adapter)
    if wiring is not None:
        try:
            text = exported(adapter, wiring)
        except AdapterError:  # a rule that files have and documents do not
            return exported(adapter, source_target(source))
        if _says_the_same(adapter, adapter_file_from(text, source)):
            return text
    return exported(adapter, source_target(source))


def _says_the_same(adapter: Adapter, file: AdapterFile) -> bool:
    """Whether callers of a file's operations see just what they would see of the adapter's."""
    made = {entry.name: operation_of(entry, _never) for entry in file.entries}
    return all(
        (made[name].schema, made[name].category, made[name].full_description)
        == (one.schema, one.category, one.full_description)
        for name, one in adapter.operations.items()
    )


async def _never(**values: object) -> None:
    """Stands where a handler would be."""
