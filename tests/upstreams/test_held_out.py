"""What headgate takes the tools of servers for that its rules were not tuned with.

Ten such servers are labelled in held_out.toml and measured in docs/review.md; these are small enough for every run.
"""

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest

from tests.upstreams.classified import Row, adapter_of, score_of
from tests.upstreams.installing import install, missing_program
from tests.upstreams.labels import Label
from tests.upstreams.listings import Tools
from tests.upstreams.servers import FOLDER
from tests.upstreams.sessions import connected

pytestmark = pytest.mark.xdist_group("upstreams-held-out")

_PROGRAMS = FOLDER / "held" / "node_modules" / ".bin"
_COMMANDS: Mapping[str, Sequence[str]] = {
    "trello": ("env", "TRELLO_API_KEY=none", "TRELLO_TOKEN=none", "mcp-server-trello"),
    "shopify": ("shopify-mcp", "--accessToken", "shpat_none", "--domain", "none.myshopify.com"),
    "hubspot": ("env", "PRIVATE_APP_ACCESS_TOKEN=none", "mcp-hubspot"),
}
_LABELS: Mapping[str, Mapping[str, Label]] = {
    server: {tool: Label.read(text) for tool, text in tools.items()}
    for server, tools in tomllib.loads((FOLDER / "held_out.toml").read_text()).items()
}


async def _tools_of(command: Sequence[str]) -> Tools:
    """What a server lists, started in an empty folder with nothing of ours in its environment."""
    with TemporaryDirectory(prefix="hg-") as folder:
        path = f"PATH={_PROGRAMS}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        words = ["env", "-i", path, f"HOME={folder}", "LANG=C.UTF-8", *command]
        async with connected(words, Path(folder), Path(folder)) as session:
            return session.tools


@pytest.fixture(scope="module")
def listed() -> dict[str, Tools]:
    """What the servers list, installed if they are not yet."""
    if missing := missing_program():
        pytest.skip(missing)
    install("held")

    found: dict[str, Tools] = {}

    async def ask(name: str, command: Sequence[str]) -> None:
        found[name] = await _tools_of(command)

    async def ask_all() -> None:
        async with anyio.create_task_group() as tasks:
            for name, command in _COMMANDS.items():
                tasks.start_soon(ask, name, command)

    anyio.run(ask_all)
    return found


@pytest.fixture(scope="module")
def rows(listed: dict[str, Tools]) -> list[Row]:
    """Every tool, classified."""
    return [
        Row(name, operation.origin, _LABELS[name][operation.origin.own_name])
        for name, tools in listed.items()
        for operation in adapter_of(name, tools).operations.values()
        if operation.origin is not None
    ]


def test_every_tool_is_labelled_and_becomes_an_operation(listed: dict[str, Tools], rows: list[Row]) -> None:
    assert {name: set(tools) for name, tools in listed.items()} == {name: set(_LABELS[name]) for name in _COMMANDS}
    assert len(rows) == sum(map(len, listed.values()))


def test_nothing_that_changes_state_is_taken_for_reading(rows: list[Row]) -> None:
    assert [(row.server, row.origin.own_name) for row in rows if row.is_changing_read] == []


def test_categories_and_dangers_are_right_as_often_as_we_say(rows: list[Row]) -> None:
    score = score_of(rows)
    assert score.category / score.tools >= 0.88
    assert score.danger / score.tools >= 0.9
    assert score.played_down == 0


def test_what_is_not_marked_for_review_is_right_as_often_as_we_say(rows: list[Row]) -> None:
    sure = [row for row in rows if not row.origin.needs_review]
    assert sum(row.category_is_right for row in sure) / len(sure) >= 0.95
