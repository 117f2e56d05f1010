"""Every package imports only from those above it in ARCHITECTURE.md, and only the edge knows MCP."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import ROOT

LAYERS = (
    "protocol",
    "query",
    "adapter",
    "store",
    "safety",
    "executions",
    "sources",
    "engine",
    "server",
    "client",
    "conformance",
    "charts",
    "console",
    "cli",
)
FREE = "headgate._version"
KNOWS_MCP = ("headgate.server", "headgate.client", "headgate.sources.mcp")
KINDS = {"files", "mcp", "openapi", "sql", "bookshop", "modules"}
GATE = "gate"
SOURCE = ROOT / "src" / "headgate"
MODULES = sorted(SOURCE.rglob("*.py"))


def package_of(module: str) -> str:
    """The package of headgate that a module belongs to; the top is everybody's and nobody's."""
    return module.split(".")[1] if module.count(".") else ""


def imports(tree: ast.AST, module: str) -> Iterator[str]:
    """The modules that a file imports, wherever in it: functions and conditions included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(module.split(".")[: -node.level]) if node.level else ""
            origin = ".".join(part for part in (base, node.module) if part)
            yield from (f"{origin}.{alias.name}" for alias in node.names) if origin == "headgate" else (origin,)


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def forbidden(source: str, module: str) -> list[str]:
    """The imports of a module that its place does not allow."""
    here = package_of(module)
    allowed = {*LAYERS[: LAYERS.index(here) + 1]} if here in LAYERS else set(LAYERS)
    found = imports(ast.parse(source), module)
    return [name for name in found if not _is_allowed(name, module, allowed)]


def _is_allowed(name: str, module: str, allowed: set[str]) -> bool:
    top = name.split(".", 1)[0]
    if top in ("mcp", "mcp_types"):
        return module.startswith(KNOWS_MCP)
    if top != "headgate" or name.startswith(FREE) or name == "headgate.__version__":
        return True
    return package_of(name) in allowed and not _is_sibling(name, module)


def _is_sibling(name: str, module: str) -> bool:
    """Whether a kind of source imports another kind: only the gate knows them all."""
    kinds = [one.split(".")[2] for one in (module, name) if one.startswith("headgate.sources.")]
    return len(kinds) == 2 and kinds[0] != kinds[1] and kinds[0] != GATE and set(kinds) <= {*KINDS, GATE}


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_a_module_imports_only_from_the_packages_above_its_own(path: Path) -> None:
    assert forbidden(path.read_text(), module_name(path)) == []


def test_every_package_has_its_place() -> None:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages <= set(LAYERS)
    assert {"protocol", "adapter", "safety", "engine", "server"} <= packages


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("headgate.protocol.x", "from headgate.adapter.y import z"),
        ("headgate.protocol.x", "import headgate.engine"),
        ("headgate.adapter.x", "def f():\n    from headgate.engine import pipeline"),
        ("headgate.safety.x", "if True:\n    from headgate import engine"),
        ("headgate.adapter.x", "from ..engine import pipeline"),
        ("headgate.engine.x", "from mcp import server"),
        ("headgate.cli.x", "import mcp_types as types"),
        ("headgate.sources.openapi.x", "import mcp"),
        ("headgate.sources.files.x", "from headgate.sources.openapi.y import z"),
        ("headgate.sources.mcp.x", "from headgate.sources.gate.y import z"),
        ("headgate.engine.x", "from headgate import Adapter"),
    ],
    ids=[
        *(
            "a package below",
            "by its full name",
            "inside a function",
            "inside a condition",
            "by dots",
            "mcp",
            "mcp types",
            "mcp in another source",
            "another kind of source",
            "the gate",
        ),
        "the public surface",
    ],
)
def test_an_import_that_goes_the_wrong_way_is_found(module: str, source: str) -> None:
    assert len(forbidden(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("headgate.engine.x", "from headgate.adapter.y import z\nfrom headgate.protocol import a"),
        ("headgate.adapter.x", "from headgate._version import __version__"),
        ("headgate.server.x", "import mcp\nimport asyncio"),
        ("headgate.sources.mcp.x", "import mcp"),
        ("headgate.sources.gate.x", "from headgate.sources.mcp.y import z"),
        ("headgate.adapter.x", "from .y import z"),
        ("headgate", "from headgate.server.binding import mcp_server"),
    ],
    ids=[
        "above",
        "the version",
        "mcp on the edge",
        "mcp where servers are wrapped",
        "any source in the gate",
        "its own package",
        "the public surface itself",
    ],
)
def test_an_import_that_goes_the_right_way_is_allowed(module: str, source: str) -> None:
    assert forbidden(source, module) == []
