"""What a source is, told by how it is written, and what it is called if nobody says."""

import re
import shlex
from collections.abc import Container, Sequence
from pathlib import Path, PurePath
from typing import Final
from urllib.parse import urlsplit

from headgate.sources.databases import is_database
from headgate.sources.files.recognizing import is_adapter_file
from headgate.sources.gate.specs import SourceKind
from headgate.sources.mcp.configuration import is_mcp_servers
from headgate.sources.mcp.relaxed_json import relaxed_json
from headgate.sources.naming import snake
from headgate.sources.openapi.recognizing import is_openapi

__all__ = [
    "COMMAND",
    "beside",
    "command_words",
    "is_plain",
    "is_server_list",
    "kind_of_source",
    "name_of_source",
    "problem_of_file",
    "unique",
]

COMMAND: Final = "stdio:"
"""What stands before a command that starts an MCP server."""

_WEB: Final = ("http://", "https://")
_LISTS: Final = (".json", ".jsonc")
_DOCUMENTS: Final = (".yaml", ".yml")
_FILES: Final = (*_LISTS, *_DOCUMENTS, ".md")
"""How the names of files end that are no modules."""
_LARGEST_LIST: Final = 4 * 2**20
_NO_JSON: Final = ": it is no JSON from here on"
_RUNNERS: Final = frozenset(
    ["npx", "uvx", "bunx", "pnpx", "pnpm", "npm", "uv", "bun", "deno", "node", "python", "python3", "pipx", "docker"]
)
_STEPS: Final = frozenset(["run", "exec", "dlx", "tool", "x", "-m"])
_AFFIXES: Final = re.compile(r"^(?:mcp[-_])?(?:server[-_])?|[-_]?(?:mcp)?(?:[-_]server)?(?:[-_]mcp)?$")
_NAMELESS: Final = frozenset(["mcp", "api", "www", "sse", "server", "index", "main", "openapi", "swagger"])


def is_server_list(source: str) -> bool:
    """Whether a source is a file that lists MCP servers."""
    path = Path(source)
    return path.suffix.lower() in _LISTS and path.is_file() and not is_openapi(source) and is_mcp_servers(path)


def kind_of_source(source: str) -> SourceKind:
    """What a source is; what nothing else tells is taken for a module."""
    if source.startswith(COMMAND):
        return SourceKind.MCP
    if is_adapter_file(source):
        return SourceKind.ADAPTER_FILE
    if is_openapi(source):
        return SourceKind.OPENAPI
    if source.startswith(_WEB):
        return SourceKind.MCP
    return SourceKind.DATABASE if is_database(source) else SourceKind.MODULE


def is_plain(source: str) -> bool:
    """Whether a source is a module or a database, which need nobody else to be served."""
    return not is_server_list(source) and kind_of_source(source) in (SourceKind.DATABASE, SourceKind.MODULE)


def problem_of_file(source: str) -> str:
    """Why a source that is named like a file, and is nothing else, cannot be served; nothing for a module."""
    path = Path(source)
    if path.suffix.lower() not in _FILES:
        return ""
    if not path.exists():
        return f"There is no file '{source}'"
    if not path.is_file():
        return f"'{source}' is no file: name a file in it"
    if path.suffix.lower() in _LISTS:
        return _problem_of_json(path, source)
    if path.suffix.lower() in _DOCUMENTS:
        return f"'{source}' is no OpenAPI document: it needs a line such as 'openapi: 3.1.0'"
    return f"'{source}' is no adapter file: its head must say 'type: adapter'"


def _problem_of_json(path: Path, source: str) -> str:
    try:
        if path.stat().st_size <= _LARGEST_LIST:
            relaxed_json(path.read_text(encoding="utf-8"))
    except OSError:
        return f"The file '{source}' cannot be read"
    except UnicodeDecodeError:
        return f"'{source}' is no UTF-8: save it as UTF-8"
    except ValueError as error:
        return f"'{source}' is not JSON: {str(error).removesuffix(_NO_JSON)}"
    return f"'{source}' lists no MCP servers and is no OpenAPI document: it needs a key 'mcpServers', or 'openapi'"


def command_words(source: str) -> list[str]:
    """The program and its arguments."""
    return shlex.split(source.removeprefix(COMMAND))


def name_of_source(source: str) -> str:
    """What a source is called: by its file, its module, its program's package or its host."""
    match kind_of_source(source):
        case SourceKind.MCP if source.startswith(COMMAND):
            return _name_of_command(command_words(source))
        case SourceKind.MODULE if PurePath(source).suffix.lower() not in _FILES:
            where = source.removesuffix(".py") if source.endswith(".py") else source.rpartition(":")[0] or source
            return snake(PurePath(where.removesuffix(".py")).name.rpartition(".")[2])
        case SourceKind.ADAPTER_FILE:
            return snake(PurePath(source).name.removesuffix(".md").removesuffix("-adapter"))
        case _:
            return _name_of_address(source) if "://" in source else snake(PurePath(source).name.partition(".")[0])


def _name_of_command(words: Sequence[str]) -> str:
    """The package that a command runs: ``npx -y @scope/server-files /tmp`` is ``files``."""
    telling = (word for word in words if not word.startswith("-") and word not in _STEPS)
    told = next((word for word in telling if PurePath(word).name not in _RUNNERS), "")
    scope, _, package = told.removeprefix("@").partition("/") if told.startswith("@") else ("", "", told)
    package = PurePath(package).name.partition("@")[0].removesuffix(".js").removesuffix(".py")
    short = _AFFIXES.sub("", package) or package
    return snake(scope if scope and short in _NAMELESS else short) if short else "server"


def _name_of_address(url: str) -> str:
    """The telling part of a host, or for a database its own name."""
    parts = urlsplit(url)
    if not url.startswith(_WEB):
        return snake(PurePath(parts.path).stem or parts.hostname or "database")
    labels = [label for label in (parts.hostname or "").split(".") if label not in _NAMELESS]
    is_address = all(label.isdigit() for label in labels) or ":" in (parts.hostname or "")
    telling = labels[-2] if len(labels) > 1 and not is_address else labels[0] if labels and not is_address else "server"
    return snake(telling)


def unique(name: str, taken: Container[str]) -> str:
    """A name that nothing else has."""
    chosen, number = name, 2
    while chosen in taken:
        chosen, number = f"{name}_{number}", number + 1
    return chosen


def beside(folder: Path, named: str) -> str:
    """A path in a file starts from that file's folder; a URL, a command or a module stays as it is."""
    if "://" in named or named.startswith(("memory:", COMMAND)):
        return named
    file, colon, name = named.partition(".py:")
    is_module = ":" in named and not colon
    return named if is_module else f"{folder / file}{colon}{name}"
