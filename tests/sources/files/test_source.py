"""A file as a source: opened, watched, and kept as it was when an edit goes wrong."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from headgate.adapter.adapter import Adapter
from headgate.engine.pipeline import Engine
from headgate.safety.policy.limits import ApiLimit
from headgate.sources.files import source as files_source
from headgate.sources.files.mistakes import AdapterFileError
from headgate.sources.files.source import AdapterFileSource, load_adapter_file
from headgate.sources.source import Source
from tests.sources.files.texts import GET_ITEM, called, changed, head, text_of
from tests.sources.http.upstream import always, reply, running

pytestmark = pytest.mark.anyio


def written(path: Path, values: dict[str, Any]) -> None:
    """Replace a file as editors do: at once."""
    beside = path.with_name("beside.tmp")
    beside.write_text(text_of(values))
    beside.replace(path)


@asynccontextmanager
async def followed(
    source: AdapterFileSource, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Callable[[], Awaitable[None]], anyio.abc.ObjectReceiveStream[Adapter]]]:
    """What tells a source that its folder has changed, and the versions that come of it."""
    send, receive = anyio.create_memory_object_stream[Adapter](10)
    tell, told = anyio.create_memory_object_stream[None](0)

    async def watch(*_: object, **__: object) -> AsyncIterator[None]:
        async with told:
            async for one in told:
                yield one

    monkeypatch.setattr(files_source, "awatch", watch)

    async def follow() -> None:
        async with send:
            async for adapter in source.changes():
                await send.send(adapter)

    async with anyio.create_task_group() as tasks, receive, tell:
        tasks.start_soon(follow)
        yield lambda: tell.send(None), receive


def moved(path: Path) -> None:
    path.rename(path.with_name("elsewhere.md"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "items-adapter.md"
    written(path, head(rate_limits={"requests_per_day": 5}))
    return path


async def test_it_is_a_source_like_any_other(file: Path) -> None:
    source: Source = AdapterFileSource("shop", file)
    assert source.name == "shop"
    adapter = await source.open()
    assert list(adapter.operations) == ["get_item"]
    await source.close()


async def test_the_limits_of_the_file_are_there_for_the_server(file: Path) -> None:
    source = AdapterFileSource("shop", file)
    assert not source.policy.api_limits
    await source.open()
    assert source.policy.api_limits == (ApiLimit(limit=5, window="day"),)


async def test_a_broken_file_is_not_opened(file: Path) -> None:
    written(file, head(name="X"))
    with pytest.raises(AdapterFileError, match=r"items-adapter\.md: line 2: 'name'"):
        await AdapterFileSource("shop", file).open()


async def test_an_edit_is_a_new_version_and_a_broken_one_none(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = AdapterFileSource("shop", file)
    await source.open()
    async with followed(source, monkeypatch) as (changes, versions):
        written(file, changed("operations.read.0.name", "get_thing"))
        await changes()
        assert list((await versions.receive()).operations) == ["get_thing"]
        written(file, changed("operations.read.0.name", "Get Thing"))
        await changes()
        await changes()  # taken in only once the one before is done with
        assert "operations.read[0].name" in source.trouble
        assert source.file
        assert [entry.name for entry in source.file.entries] == ["get_thing"]
        written(file, changed("operations.read.0.name", "get_other"))
        await changes()
        assert list((await versions.receive()).operations) == ["get_other"]
        assert not source.trouble
    assert "the version before stays" in caplog.text
    assert "operations.read[0].name" in caplog.text


async def test_a_file_that_is_gone_for_a_while_stays_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = AdapterFileSource("shop", file)
    await source.open()
    async with followed(source, monkeypatch) as (changes, versions):
        moved(file)
        await changes()
        await changes()
        assert "none of this name" in source.trouble
        written(file, changed("operations.read.0.name", "get_thing"))
        await changes()
        assert list((await versions.receive()).operations) == ["get_thing"]


async def test_a_folder_is_really_watched_until_the_source_is_closed(file: Path) -> None:
    source = AdapterFileSource("shop", file)
    await source.open()
    send, receive = anyio.create_memory_object_stream[Adapter](100)

    async def follow() -> None:
        async with send:
            async for adapter in source.changes():
                await send.send(adapter)

    async with anyio.create_task_group() as tasks, receive:
        tasks.start_soon(follow)
        for number in range(100):  # nothing tells when the system has begun to watch
            written(file, changed("operations.read.0.name", f"get_{number}"))
            with anyio.move_on_after(0.5):
                adapter = await receive.receive()
                break
        assert [name.startswith("get_") for name in adapter.operations] == [True]
        await source.close()


async def test_an_edit_of_the_words_alone_keeps_the_connection(file: Path) -> None:
    async with running(always(reply(200, b"1", content_type="application/json"))) as upstream:
        here = head(target={**head()["target"], "base_url": upstream.url})
        written(file, here)
        source = AdapterFileSource("shop", file)
        first = await source.open()
        await called(first, "get_item", id="1")
        written(file, {**here, "description": "Other words"})
        second = await source._again()
        assert second
        await called(second, "get_item", id="2")
        written(file, {**here, "auth": {"type": "bearer", "token_env": "X"}})
        third = await source._again()
        assert third
        assert third.operations["get_item"].function.connection is not second.operations["get_item"].function.connection  # type: ignore[attr-defined]
        await called(second, "get_item", id="3")
        await source.close()
    assert upstream.connections == 1
    assert upstream.targets == ["/items/1", "/items/2", "/items/3"]


async def test_an_edit_that_changes_nothing_is_no_version(file: Path) -> None:
    source = AdapterFileSource("shop", file)
    await source.open()
    assert await source._again() is None


async def test_a_file_can_be_loaded_once(file: Path) -> None:
    async with running(always(reply(200, b'{"id":1}', content_type="application/json"))) as upstream:
        written(file, head(trust={"level": "validated"}, target={**head()["target"], "base_url": upstream.url}))
        adapter = load_adapter_file(file)
        answer = await Engine(adapter).call({"operation": "get_item", "params": {"id": "1"}})
        refused = await Engine(adapter).call({"operation": "get_item", "params": {"id": 1}})
        await adapter.close()
    assert (answer.failed, refused.failed) == (False, True)
    assert len(upstream.requests) == 1


async def test_an_operation_of_a_file_with_all_kinds_is_served(file: Path) -> None:
    kinds = {
        "read": [GET_ITEM],
        "create": [{"name": "create_item", "maps_to": "POST /items"}],
        "update": [{**GET_ITEM, "name": "update_item", "maps_to": "PUT /items/{id}"}],
        "delete": [{**GET_ITEM, "name": "delete_item", "maps_to": "DELETE /items/{id}"}],
        "execute": [{"name": "execute_sale", "maps_to": "POST /sale"}],
    }
    written(file, head(operations=kinds))
    adapter = load_adapter_file(file)
    assert {name: one.tries_nothing for name, one in adapter.operations.items()} == {
        "get_item": False,
        "create_item": True,
        "update_item": True,
        "delete_item": True,
        "execute_sale": True,
    }
