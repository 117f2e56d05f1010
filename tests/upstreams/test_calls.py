"""Every call of the table gives through headgate what it gives directly, over real MCP and on real servers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.upstreams.calls import CALLS
from tests.upstreams.comparing import difference
from tests.upstreams.listings import keep
from tests.upstreams.servers import Place, Server, filled
from tests.upstreams.sessions import Answer, Session, connected
from tests.upstreams.trials import leavings, trial
from tests.upstreams.wrapping import Wrapped, wrapped

pytestmark = pytest.mark.anyio


async def _made(name: str, session: Session | Wrapped, place: Place) -> list[Answer]:
    return [await session.call(call.tool, filled(dict(call.arguments), place)) for call in CALLS[name]]


@pytest.mark.parametrize("server", CALLS, indirect=True)
async def test_a_call_through_headgate_gives_what_it_gives_directly(
    server: Server, home: Path, tmp_path: Path, web: str
) -> None:
    with trial(server, home, web) as place:
        async with connected(server.command(place), home, tmp_path) as session:
            keep(server, session.tools)
            schemas: Mapping[str, Any] = {name: tool["inputSchema"] for name, tool in session.tools.items()}
            direct = await _made(server.name, session, place)
    left = leavings(home)
    with trial(server, home, web) as place:
        async with wrapped(server, place, schemas, tmp_path) as gate:
            through = await _made(server.name, gate, place)
    wrong = [
        f"{call.tool} {dict(call.arguments)}: {found}"
        for call, ours, theirs in zip(CALLS[server.name], through, direct, strict=True)
        if (found := _unexpected(call.fails, theirs) or difference(theirs, ours, call.loose))
    ]
    assert not wrong, "\n".join(wrong)
    assert leavings(home) == left


def _unexpected(fails: bool, direct: Answer) -> str | None:
    return (
        None
        if direct.failed == fails
        else f"the table says fails={fails}, the server {str(direct.result or direct.error)[:500]}"
    )
