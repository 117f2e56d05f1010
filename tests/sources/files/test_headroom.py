"""What an API tells of its limits is respected before it must refuse."""

import httpx2
import pytest

from headgate.protocol.errors import RateLimited
from headgate.sources.files.building import adapter_from, connection_for
from headgate.sources.files.headroom import Headroom, Telling
from headgate.sources.files.plugins.interfaces import Surroundings
from headgate.sources.files.reading import adapter_file_from
from headgate.sources.http.messages import Answer
from tests.sources.files.texts import called, head, text_of
from tests.sources.http.upstream import always, reply, running

NOW = 2_000_000_000.0
TELLING = (Telling("X-Left", "X-Reset"),)


def waits(headers: dict[str, str]) -> float:
    """How long a caller must wait after an answer with these headers."""
    headroom = Headroom(TELLING, lambda: NOW)
    headroom.learn(Answer(200, httpx2.Headers(headers), b"", "https://x.example"))
    try:
        headroom.check()
    except RateLimited as error:
        wait = (error.error.details or {})["retry_after_seconds"]
        assert isinstance(wait, float)
        return wait
    return 0.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"X-Left": "5", "X-Reset": "60"}, 0),
        ({"X-Left": "0"}, 0),
        ({"X-Left": "0", "X-Reset": "60"}, 60),
        ({"X-Left": "0", "X-Reset": "2000000030"}, 30),
        ({"X-Left": "0", "X-Reset": "1999999999"}, 0),
        ({"X-Left": "0", "X-Reset": "999999999"}, 86_400),
        ({"X-Left": "0", "X-Reset": "soon"}, 0),
        ({"X-Left": "none", "X-Reset": "60"}, 0),
        ({"X-Left": "0", "X-Reset": "-5"}, 0),
        ({"X-Left": "0", "X-Reset": "9" * 40}, 0),
    ],
)
def test_nothing_is_sent_until_there_is_room(headers: dict[str, str], seconds: float) -> None:
    assert waits(headers) == seconds


@pytest.mark.anyio
async def test_a_file_names_the_headers() -> None:
    limit = {"scope": "global", "limit": 9, "window": "hour", "remaining_header": "X-Left", "reset_header": "X-Reset"}
    other = {"scope": "category", "category": "read", "limit": 9, "window": "hour"}
    script = always(reply(200, b"1", content_type="application/json", x_left="0", x_reset="300"))
    async with running(script) as upstream:
        values = head(rate_limits={"api_limits": [limit, other]}, target={**head()["target"], "base_url": upstream.url})
        file = adapter_file_from(text_of(values), "items-adapter.md")
        assert file.telling == TELLING
        connection = connection_for(file, Surroundings(name=file.name, telling=file.telling))
        adapter = adapter_from(file, connection)
        assert await called(adapter, "get_item", id="1") == 1
        with pytest.raises(RateLimited):
            await called(adapter, "get_item", id="2")
        await connection.close()
    assert len(upstream.requests) == 1
