"""Sources as they are made from what is known of them: each kind really opened."""

import sqlite3
from pathlib import Path

import anyio
import pytest

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.safety.policy.rules import Policy
from headgate.sources.curation import Curation
from headgate.sources.gate.modules import ModuleSource
from headgate.sources.gate.opening import source_of
from headgate.sources.gate.picking import Picked, picked
from headgate.sources.gate.planning import distinct
from headgate.sources.gate.specs import DatabaseSpec, SourceKind
from headgate.sources.mcp.configuration import McpSpec
from headgate.sources.source import Source
from tests.sources.gate.pieces import Told, adapter, operation, spec

pytestmark = pytest.mark.anyio

MODULE = '''
from headgate import Adapter

tools = Adapter("tools")

@tools.read
async def {name}() -> str:
    """A thing."""
    return "{name}"
'''

DOCUMENT = """
openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: "http://127.0.0.1:9/"}]
paths:
  /pets:
    get: {operationId: listPets, responses: {"200": {description: All}}}
    post: {operationId: createPet, responses: {"201": {description: One}}}
"""


async def names(source: Source) -> list[str]:
    try:
        return list((await source.open()).operations)
    finally:
        await source.close()


async def test_a_database_is_opened_as_its_spec_says(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE items (item_id INTEGER PRIMARY KEY, title TEXT)")
    connection.close()
    (tmp_path / "tables.toml").write_text('[tables.items]\nname = "goods"\nsingular = "good"\n')
    database = DatabaseSpec(read_only=True, tables=tmp_path / "tables.toml", statement_timeout=5)
    found = await names(source_of(spec("shop", kind=SourceKind.DATABASE, where=str(path), database=database)))
    assert "list_goods" in found
    assert not [name for name in found if name.startswith(("create", "delete", "update"))]


async def test_the_demo_is_a_source_like_any_other() -> None:
    assert "list_books" in await names(source_of(spec("demo", kind=SourceKind.DEMO)))


async def test_a_document_is_picked_from_while_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "pets.yaml").write_text(DOCUMENT)
    curation = Curation.of({"include": ["list_*"]}, "x")
    pets = spec("pets", kind=SourceKind.OPENAPI, where=str(tmp_path / "pets.yaml"), curation=curation, timeout=3.0)
    assert await names(source_of(pets)) == ["list_pets"]


async def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    wrong = {
        "is not set": spec("a", problem="'KEY' is not set"),
        "neither a command nor a URL": spec("a", kind=SourceKind.MCP),
        "no-such-program": spec("a", kind=SourceKind.MCP, mcp=McpSpec(name="x", command="no-such-program")),
        "none-adapter.md": spec("a", kind=SourceKind.ADAPTER_FILE, where=str(tmp_path / "none-adapter.md")),
        "none.py": spec("a", where=str(tmp_path / "none.py")),
    }
    for said, one in wrong.items():
        with pytest.raises(AdapterError, match=said):
            await names(source_of(one))


async def test_a_module_is_read_anew_when_its_file_changes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    path = tmp_path / "tools_of_mine.py"
    path.write_text(MODULE.format(name="get_one"))
    source = source_of(spec("tools", where=str(path), reload=True))
    assert list((await source.open()).operations) == ["get_one"]
    found: list[str] = []

    async def follow() -> None:
        async for changed in source.changes():
            found.extend(changed.operations)
            seen.set()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            for text in ("this is no Python", MODULE.format(name="get_two")):
                seen = anyio.Event()
                tasks.start_soon(follow) if not found and text.startswith("this") else None
                while not (seen.is_set() or (text.startswith("this") and "not reloaded" in caplog.text)):
                    path.write_text(text)
                    with anyio.move_on_after(0.3):
                        await seen.wait()
            await source.close()
    assert set(found) == {"get_two"}


async def test_a_module_that_is_not_watched_never_changes(tmp_path: Path) -> None:
    path = tmp_path / "tools_that_stay.py"
    path.write_text(MODULE.format(name="get_one"))
    source = ModuleSource("tools", str(path))
    await source.open()
    await source.close()
    assert [one async for one in source.changes()] == []


# a part of a source


async def test_what_is_picked_of_a_source_is_renamed_described_and_hidden(caplog: pytest.LogCaptureFixture) -> None:
    curation = Curation.of(
        {
            "include": ["get_*", "delete_*"],
            "exclude": ["get_c"],
            "operations": {
                "get_a": {"name": "find_a", "description": "Finds it.", "group": "finding"},
                "delete_b": {"danger": "dangerous"},
                "get_nothing": {"hide": True},
            },
        },
        "x",
    )
    whole = adapter("s", "get_a", "get_c", "list_d", operation("delete_b", Category.DELETE), trust="generated")
    found = picked(whole, curation)
    assert list(found.operations) == ["find_a", "delete_b"]
    assert (found.operations["find_a"].group, found.trust) == ("finding", whole.trust)
    assert found.operations["delete_b"].danger is not None
    assert "get_nothing" in caplog.text


async def test_a_category_that_follows_from_code_stays_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    curation = Curation.of({"operations": {"get_a": {"category": "delete"}}}, "x")
    found = picked(adapter("whole", operation("get_a")), curation)
    assert found.operations["get_a"].category is Category.READ
    assert "'get_a' stays READ" in caplog.text


async def test_one_review_of_several_sources_need_not_fit_each_of_them(caplog: pytest.LogCaptureFixture) -> None:
    review = Curation.of({"operations": {"get_a": {"group": "x"}}}, "x")
    one, other = distinct([spec("one", curation=review), spec("other", curation=review)])
    alone = distinct([spec("one", curation=review)])[0]
    for each in (one, other):
        assert each.curation is not None
        picked(adapter("whole", operation("get_b")), each.curation)
    assert caplog.text == ""
    assert alone.curation is not None
    picked(adapter("whole", operation("get_b")), alone.curation)
    assert "get_a" in caplog.text


async def test_every_version_of_a_source_is_picked_from_and_what_it_demands_stays() -> None:
    class Demanding(Told):
        policy = Policy(name="own")

    told = Demanding("s", [lambda: adapter("s", "get_a", "list_b")])
    source = Picked(told, Curation.of({"include": ["get_*"]}, "x"))
    assert source.name == "s"
    assert source.policy == Policy(name="own")
    assert Picked(Told("t"), Curation()).policy is None
    assert list((await source.open()).operations) == ["get_a"]
    told.tell(adapter("s", "get_c", "list_d"))
    async for version in source.changes():
        assert list(version.operations) == ["get_c"]
        break
    await source.close()
    assert told.closed
