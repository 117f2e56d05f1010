"""The source: a document from a file or a URL, served, and read again when the file changes."""

import json
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import anyio
import pytest

from headgate.adapter.adapter import Adapter
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.curation import Curation
from headgate.sources.openapi.documents import document_of
from headgate.sources.openapi.options import OpenApiOptions
from headgate.sources.openapi.source import OpenApiSource, openapi_adapter
from tests.sources.http.upstream import Upstream, always, by_path, reply, running
from tests.sources.openapi.making import Node, call, document, get

pytestmark = pytest.mark.anyio


def written(path: Path, **paths: Node) -> None:
    """Put a document into its place as editors do: as a whole."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(document({f"/{name}": {"get": node} for name, node in paths.items()})))
    draft.replace(path)


async def served(tree: object, **options: object) -> tuple[Adapter, Upstream]:
    answers = {"openapi.json": reply(200, json.dumps(tree).encode(), content_type="application/json"), "a": reply(204)}
    async with running(by_path(**answers)) as upstream:
        source = OpenApiSource("shop", f"{upstream.url}/openapi.json")
        adapter = await source.open()
        await call(next(iter(adapter.operations.values())))
        await source.close()
    return adapter, upstream


async def test_a_document_behind_a_url_is_served_relative_to_it() -> None:
    adapter, upstream = await served(document({"/a": {"get": get()}}, servers=[{"url": "/"}]))
    assert (adapter.name, list(adapter.operations)) == ("shop", ["list_a"])
    assert upstream.targets == ["/openapi.json", "/a"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (reply(404), "cannot be fetched: the server answers 404"),
        (reply(200, b"x", content_length="99999999999"), "cannot be fetched: Payload exceeds"),
        (reply(200, b"<html>"), "no OpenAPI document"),
        (reply(302, location="http://169.254.169.254/openapi.json"), "cannot be fetched"),
    ],
)
async def test_a_url_that_gives_no_document_is_said(answer: bytes, words: str) -> None:
    async with running(always(answer)) as upstream:
        source = OpenApiSource("shop", f"{upstream.url}/openapi.json")
        with pytest.raises(AdapterError, match=words):
            await source.open()
        await source.close()


async def test_a_url_in_a_forbidden_place_is_refused() -> None:
    with pytest.raises(AdapterError):
        await OpenApiSource("shop", "http://169.254.169.254/openapi.json").open()


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[OpenApiSource]:
    written(tmp_path / "shop.json", a=get())
    source = OpenApiSource("shop", str(tmp_path / "shop.json"), OpenApiOptions(), Curation())
    yield source
    await source.close()


async def until(done: anyio.Event, again: Callable[[], None]) -> None:
    """Do something until it is noticed: nobody tells when the watching has begun."""
    with anyio.fail_after(20):
        while not done.is_set():
            again()
            with anyio.move_on_after(0.3):
                await done.wait()


async def test_a_changed_file_is_read_again(source: OpenApiSource) -> None:
    assert list((await source.open()).operations) == ["list_a"]
    changed = anyio.Event()
    async with anyio.create_task_group() as group:

        async def follow() -> None:
            async for adapter in source.changes():
                assert list(adapter.operations) == ["list_b"]
                changed.set()

        group.start_soon(follow)
        await until(changed, lambda: written(Path(source.where), b=get()))
        await source.close()


async def test_what_cannot_be_read_again_leaves_the_version_before(
    source: OpenApiSource, caplog: pytest.LogCaptureFixture
) -> None:
    await source.open()
    noticed = anyio.Event()

    class Noticing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            noticed.set()

    handler = Noticing()
    logging.getLogger("headgate").addHandler(handler)
    async with anyio.create_task_group() as group:

        async def follow() -> None:
            assert [adapter async for adapter in source.changes()] == []

        group.start_soon(follow)
        await until(noticed, lambda: spoilt(Path(source.where)))
        await source.close()
    logging.getLogger("headgate").removeHandler(handler)
    assert "not reloaded, the version before stays: 'shop.json' is not valid JSON" in caplog.text


def spoilt(file: Path) -> None:
    file.write_text('{"openapi": ')


async def test_a_url_does_not_change_until_it_is_closed() -> None:
    source = OpenApiSource("shop", "https://shop.example/openapi.json")
    async with anyio.create_task_group() as group:

        async def follow() -> None:
            assert [adapter async for adapter in source.changes()] == []

        group.start_soon(follow)
        await source.close()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("gone.json", None, "There is no file 'gone.json'"),
        ("shop.json", b"\xff\xfe", "is not UTF-8"),
        ("folder.json", "folder", "cannot be read"),
    ],
)
async def test_a_file_that_cannot_be_read_is_said(
    tmp_path: Path, name: str, text: bytes | str | None, words: str
) -> None:
    if isinstance(text, bytes):
        (tmp_path / name).write_bytes(text)
    elif text == "folder":
        (tmp_path / name).mkdir()
    with pytest.raises(AdapterError, match=words):
        await OpenApiSource("shop", str(tmp_path / name)).open()


def test_an_adapter_without_a_file_is_called_like_its_title() -> None:
    tree = document({"/a": {"get": get()}})
    assert openapi_adapter(document_of(json.dumps(tree), "x")).name == "shop"
    assert openapi_adapter(document_of(json.dumps({**tree, "info": None}), "x")).name == "openapi"


def test_an_adapter_is_called_like_its_file(tmp_path: Path) -> None:
    written(tmp_path / "Pet-Shop.v3.json", a=get())
    assert openapi_adapter(tmp_path / "Pet-Shop.v3.json").name == "pet_shop"
    assert openapi_adapter(str(tmp_path / "Pet-Shop.v3.json"), name="mine").name == "mine"
