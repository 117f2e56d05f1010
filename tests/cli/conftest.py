"""What the tests of the command line share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Shell
from tests.server.processes import LIBRARY, Serving, serve_http

SHELF = '''
from typing import Any, Literal
from headgate import Adapter

shelf = Adapter("shelf", "Everything that a command line can get wrong")

@shelf.read
async def get_types(
    text: str = "", maybe: str | None = "unset", number: int = 0, ratio: float = 0.0, yes: bool = False,
    words: list[str] | None = None, anything: Any = None, size: Literal["small", "large"] = "small",
) -> dict[str, Any]:
    """What arrived. [red]Not a colour.[/]"""
    return dict(locals())
'''
BEARER = "0123456789abcdef"
KNOWN = {"HEADGATE_TOKEN": BEARER}
"""The environment of somebody who may call the library's server."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with an adapter in a file."""
    (tmp_path / "shelf.py").write_text(SHELF)
    return tmp_path


@pytest.fixture(scope="session")
def library() -> Iterator[Serving]:
    """The library over HTTP, with a token."""
    with serve_http(LIBRARY, env=KNOWN) as serving:
        yield serving
