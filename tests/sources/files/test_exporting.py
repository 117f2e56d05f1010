"""Any adapter becomes a file, and the file the same operations again."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.adapter.adapter import Adapter
from headgate.adapter.binary import Binary
from headgate.adapter.context import Context
from headgate.adapter.operations import Example, Operation
from headgate.adapter.origins import Inferred, Origin, Provenance
from headgate.adapter.parameters import Deprecated, Param, Parameter
from headgate.adapter.patch import Patch
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel, Trust
from headgate.protocol.errors import AqlError, Denied
from headgate.sources.curation import Curation
from headgate.sources.files import exporting
from headgate.sources.files.building import adapter_from, connection_for
from headgate.sources.files.exporting import exported, file_name_of
from headgate.sources.files.plugins.interfaces import Surroundings, Upstream
from headgate.sources.files.reading import adapter_file_from
from headgate.sources.files.references import reached
from headgate.sources.files.values import CONTEXT
from headgate.sources.files.wiring import mcp_target, source_target
from headgate.sources.gate.opening import demo_adapter
from headgate.sources.gate.specs import DatabaseSpec
from headgate.sources.gate.upstreams import opened_upstream
from headgate.sources.mcp.captures import Capture
from headgate.sources.mcp.source import mcp_operations
from headgate.sources.modules import load_adapter
from headgate.sources.source import Fixed, Source
from tests.cli.desks import TOOLS
from tests.sources.files.texts import GET_ITEM, adapter_of, called, context_of, head
from tests.support import ROOT, schema_errors

OTHERS = ("client.py", "embedded.py", "weather_station.py")
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py") if path.name not in OTHERS)


def facts(operation: Operation) -> dict[str, Any]:
    """All that makes two operations the same to whoever calls them."""
    schemas = [*(one.schema for one in operation.parameters), operation.rules, operation.returns]
    background = asdict(operation.background) if operation.background else {}
    return {
        "category": operation.category,
        "words": (operation.summary, operation.full_description),
        "parameters": [(one.name, one.schema, one.required, one.deprecated) for one in own_parameters(operation)],
        "definitions": {name: one for name, one in reached(schemas, operation.definitions).items() if one},
        "rules": operation.rules,
        "answer": (operation.returns, operation.returns_description),
        "examples": operation.examples,
        "deprecated": operation.deprecated,
        "danger": operation.danger,
        "others": (operation.group, operation.locks, operation.rationale, operation.endpoint, operation.tries_nothing),
        "background": {**background, "process": False} if background else {},
    }


def own_parameters(operation: Operation) -> list[Parameter]:
    """All but the one by which the engine makes a table of a list: a file has no word for that."""
    return [one for one in operation.parameters if not (operation.tabular and one.name == "format")]


def read_back(text: str, opener: Callable[[Upstream], Source] | None = None, folder: Path = Path()) -> Adapter:
    file = adapter_file_from(text, "x-adapter.md", folder)
    connection = connection_for(file, Surroundings(name=file.name, folder=folder, opener=opener))
    adapter = adapter_from(file, connection)
    adapter.on_close(connection.close)
    return adapter


def assert_same(one: Adapter, other: Adapter) -> None:
    assert set(one.operations) == set(other.operations)
    for name, operation in one.operations.items():
        assert facts(other.operations[name]) == facts(operation), name


# from every kind of source


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_comes_back_the_same(name: str) -> None:
    adapter = load_adapter(str(ROOT / "examples" / name))
    text = exported(adapter, source_target(f"examples/{name}"))
    assert_same(adapter, read_back(text))


@pytest.fixture(scope="module")
def bookshop() -> Adapter:
    return demo_adapter(DatabaseSpec())


def test_a_database_comes_back_the_same(bookshop: Adapter) -> None:
    assert_same(bookshop, read_back(exported(bookshop, source_target("demo"))))


def test_a_file_comes_back_the_same_and_so_does_its_text() -> None:
    values = head(
        auth={"type": "bearer", "token_env": "T"},
        author="Ada",
        trust={"level": "validated"},
        rate_limits={"requests_per_minute": 5},
        schemas={"Item": {"type": "object", "properties": {"parent": {"$ref": "#/schemas/Item"}}}},
        operations={
            "read": [
                {**GET_ITEM, "supports_fields": True, "default_fields": ["id"], "requires_confirmation": True},
                {
                    "name": "list_items",
                    "maps_to": "GET /items",
                    "description": "List items",
                    "params": {"X-Trace": {"type": "string", "in": "header"}, "pageSize": {"type": "integer"}},
                    "pagination": {"style": "page", "per_page_param": "pageSize", "total_field": "n"},
                },
            ],
            "update": [
                {
                    "name": "update_item",
                    "maps_to": "PATCH /items/{itemId}",
                    "params": {
                        "itemId": {"type": "string", "required": True},
                        "newItem": {"$ref": "#/schemas/Item", "required": True},
                        "old": {"type": "string", "deprecated": True},
                    },
                }
            ],
        },
    )
    adapter = adapter_of(values)
    text = exported(adapter)
    again = read_back(text)
    assert_same(adapter, again)
    assert exported(again) == text
    assert again.trust is Trust.VALIDATED
    first, second = (one.operations["list_items"].function.entry for one in (adapter, again))  # type: ignore[attr-defined]
    assert (first.paging, first.sent["x_trace"]) == (second.paging, second.sent["x_trace"])
    file = adapter_file_from(text, "x")
    assert (file.auth.type, file.metadata, len(file.policy.api_limits), len(file.policy.rules)) == (
        "bearer",
        {"author": "Ada"},
        1,
        1,
    )


def test_a_simple_export_is_a_file_by_the_schema_of_the_specification() -> None:
    import yaml

    values = yaml.safe_load(exported(adapter_of(head())).split("---\n")[1])
    values["trust"]["level"] = "untrusted"  # the schema has other words for the same levels
    assert schema_errors(values, "adapter-schema") == []


def tool(name: str, own: str) -> Operation:
    told = Inferred("READ", 0.9, Provenance.HEURISTIC)

    async def function(**values: Any) -> object:
        return {"tool": own, **{name: value for name, value in values.items() if name != CONTEXT}}

    return Operation(
        name=name,
        category=Category.READ,
        function=function,
        summary="A tool",
        parameters=(Parameter("query_text", {"type": "string"}),),
        context_parameter=CONTEXT,
        origin=Origin(own_name=own, maps_to=f"TOOL {own}", category=told, danger=told),
    )


@pytest.mark.anyio
async def test_an_mcp_server_is_referred_to_by_its_tools() -> None:
    adapter = Adapter("files")
    adapter.add(tool("read_file", "readFile"))
    target = mcp_target({"command": "npx", "args": ["-y", "some-server"], "env": {"TOKEN": "${FILES_TOKEN}"}})
    text = exported(adapter, target)
    assert "maps_to: TOOL readFile" in text
    asked: list[Upstream] = []

    def opener(upstream: Upstream) -> Source:
        asked.append(upstream)
        return Fixed("files", lambda: adapter)

    again = read_back(text, opener)
    assert_same(adapter, again)
    assert await called(again, "read_file", query_text="x") == {"tool": "readFile", "query_text": "x"}
    assert [(one.kind, one.options) for one in asked] == [("mcp", target.options)]


def test_the_tools_of_a_server_come_back_the_same() -> None:
    adapter = Adapter("desk")
    for operation in mcp_operations(Capture(tools=tuple(TOOLS)), "desk", made, Curation()):
        adapter.add(operation)
    assert len(adapter.operations) == len(TOOLS)
    assert_same(adapter, read_back(exported(adapter, mcp_target({"url": "https://desk.example/mcp"}))))


def test_a_tool_without_its_own_name_cannot_be_referred_to() -> None:
    with pytest.raises(AdapterError, match="which tool"):
        exported(made(), mcp_target({"command": "x"}))


@pytest.mark.parametrize("value", ["s3cret", "plain"])
def test_the_environment_of_a_server_is_named_and_never_written(value: str) -> None:
    adapter = Adapter("files")
    adapter.add(tool("read_file", "readFile"))
    with pytest.raises(AdapterError, match="environment variable"):
        exported(adapter, mcp_target({"command": "x", "env": {"TOKEN": value}}))


# of Python functions with all that they can say


class Book:
    """Stands for nothing."""


def made() -> Adapter:
    """An adapter with a bit of everything."""
    adapter = Adapter("Town Library!", "Books.\nAnd more.", version="v2")

    @adapter.read(
        examples=[Example({"isbn": "1", "kinds": ["a"]}, "One")],
        deprecated=Deprecated("old", "find_book", date(2027, 1, 1)),
        danger=Danger(DangerLevel.REVERSIBLE, ("why",), "Get {isbn}?", 3, True),
        rationale="because",
        locks=("isbn",),
    )
    def get_book(
        isbn: Annotated[str, Param(pattern="^[0-9]+$", description="Its number: 'on', 1e5 or 0o17", examples=["1e5"])],
        kinds: list[str] | None = None,
        size: Annotated[int, Param(minimum=1, maximum=10**15)] = 5,
        weight: float = 1e-7,
        secret: Annotated[str, Param(sensitive=True)] = "hunter2",  # noqa: S107  (it must not be written)
        old: Annotated[str | None, Param(deprecated="use more")] = None,
    ) -> dict[str, Any]:
        """Get a book.

        With a second paragraph: # and "quotes", it's | odd.

        Returns:
            The book
        """
        return {"isbn": isbn, "kinds": kinds, "size": size, "weight": weight, "secret": secret, "old": old}

    @adapter.update
    async def update_book(isbn: str, input: Patch[dict[str, int]], ctx: Context) -> dict[str, Any]:  # noqa: A002
        """Change a book."""
        ctx.warn("BOOK_CHANGED", "It was changed")
        return {"isbn": isbn, **input.changes}

    @adapter.create
    def create_cover(cover: Binary, day: date) -> dict[str, Any]:
        """Store a cover."""
        return {"bytes": len(cover.data), "kind": cover.mime_type, "year": day.year}

    return adapter


def test_all_that_a_function_can_say_comes_back() -> None:
    adapter = made()
    text = exported(adapter, source_target("library.py"))
    again = read_back(text)
    without = {**facts(adapter.operations["get_book"])}
    without["parameters"] = [
        (name, {key: value for key, value in schema.items() if name != "secret" or key != "default"}, *rest)
        for name, schema, *rest in without["parameters"]
    ]
    assert facts(again.operations["get_book"]) == without
    assert facts(again.operations["update_book"]) == facts(adapter.operations["update_book"])
    assert facts(again.operations["create_cover"]) == facts(adapter.operations["create_cover"])
    assert "hunter2" not in text
    assert (again.name, again.version) == ("town-library", "0.1.0")


@pytest.mark.anyio
async def test_a_file_that_stands_for_functions_runs_them() -> None:
    adapter = made()
    again = read_back(exported(adapter, source_target("library.py")), lambda _: Fixed("x", lambda: adapter))
    context = context_of("update_book")
    book = await called(again, "get_book", isbn="7")
    assert book == {"isbn": "7", "kinds": None, "size": 5, "weight": 1e-7, "secret": "hunter2", "old": None}
    assert await called(again, "update_book", context, isbn="7", input={"pages": 3}) == {"isbn": "7", "pages": 3}
    assert [one.code for one in context.warnings] == ["BOOK_CHANGED"]
    cover = await called(again, "create_cover", cover="aGVsbG8=", cover_mime_type="image/png", day="2026-02-04")
    assert cover == {"bytes": 5, "kind": "image/png", "year": 2026}
    await again.close()


@pytest.mark.anyio
async def test_what_the_source_would_refuse_is_refused() -> None:
    adapter = made()
    text = exported(adapter, source_target("library.py")).replace("format: date", "format: dates")
    again = read_back(text, lambda _: Fixed("x", lambda: adapter))
    with pytest.raises(AqlError) as caught:
        await called(again, "create_cover", cover="aGVsbG8=", day="soon")
    assert caught.value.error.code == "VALIDATION_INVALID_VALUE"


@pytest.mark.anyio
async def test_what_the_source_cannot_try_is_not_tried_for_a_file_that_says_so() -> None:
    adapter = made()
    text = exported(adapter, source_target("library.py"))
    again = read_back(
        text.replace("      day: {", "      dry_run: {type: boolean}\n      day: {"), lambda _: Fixed("x", made)
    )
    assert not again.operations["create_cover"].tries_nothing
    with pytest.raises(AqlError, match="cannot try it without effect"):
        await called(again, "create_cover", cover="aGVsbG8=", day="2026-02-04", dry_run=True)


@pytest.mark.anyio
async def test_nothing_is_opened_for_a_file_that_nobody_has_vouched_for() -> None:
    again = read_back(exported(made(), source_target("library.py")))
    with pytest.raises(Denied, match="--trust validated"):
        await called(again, "get_book", isbn="7")


@pytest.mark.anyio
async def test_an_operation_that_is_gone_from_the_source_is_told() -> None:
    again = read_back(exported(made(), source_target("library.py")), lambda _: Fixed("x", lambda: Adapter("empty")))
    with pytest.raises(AqlError, match="no 'get_book'") as caught:
        await called(again, "get_book", isbn="7")
    assert caught.value.error.code == "PROTOCOL_INVALID_MAPPING"


@pytest.mark.anyio
async def test_a_source_that_cannot_be_opened_is_told_without_its_own_words() -> None:
    def fails() -> Adapter:
        raise AdapterError("/secret/path is broken")

    again = read_back(exported(made(), source_target("library.py")), lambda _: Fixed("x", fails))
    with pytest.raises(AqlError, match="log says why") as caught:
        await called(again, "get_book", isbn="7")
    assert "secret" not in caught.value.error.message


@pytest.mark.anyio
async def test_the_demo_runs_behind_a_file(bookshop: Adapter) -> None:
    again = read_back(exported(bookshop, source_target("demo")), opened_upstream)
    try:
        answer = await called(again, "list_books", first=2, fields=["title"])
    finally:
        await again.close()
    assert [list(item) for item in answer["items"]] == [["title"], ["title"]]


@pytest.mark.anyio
async def test_a_module_beside_the_file_runs_behind_it(tmp_path: Path) -> None:
    (tmp_path / "shelf_behind_a_file.py").write_text(
        "from headgate import Adapter\n\nadapter = Adapter('shelf')\n\n\n@adapter.read\n"
        "def get_sum(a: int, b: int) -> int:\n    '''Add two numbers.'''\n    return a + b\n"
    )
    adapter = load_adapter(str(tmp_path / "shelf_behind_a_file.py"))
    text = exported(adapter, source_target("shelf_behind_a_file.py:adapter"))
    again = read_back(text, opened_upstream, tmp_path)
    try:
        assert await called(again, "get_sum", a=1, b=2) == 3
    finally:
        await again.close()


@pytest.mark.anyio
async def test_a_source_may_be_named_by_a_variable(monkeypatch: pytest.MonkeyPatch, bookshop: Adapter) -> None:
    text = exported(bookshop, source_target("${SHOP_SOURCE}"))
    again = read_back(text, opened_upstream)
    monkeypatch.delenv("SHOP_SOURCE", raising=False)
    with pytest.raises(AqlError):
        await called(again, "list_books", first=1)
    monkeypatch.setenv("SHOP_SOURCE", "demo")
    try:
        assert len((await called(again, "list_books", first=1))["items"]) == 1
    finally:
        await again.close()


@pytest.mark.anyio
async def test_a_server_is_opened_as_its_configuration_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FILES_TOKEN", "abc")
    options = {"command": "some-server", "args": ["--x"], "env": {"TOKEN": "${FILES_TOKEN}"}}
    source: Any = opened_upstream(Upstream(kind="mcp", options=options))
    assert (source.spec.command, source.spec.args, dict(source.spec.env)) == ("some-server", ("--x",), {"TOKEN": "abc"})


def test_an_adapter_that_does_not_say_where_it_runs_needs_a_target() -> None:
    with pytest.raises(AdapterError, match="name its source"):
        exported(made())


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("shop", "shop-adapter.md"),
        ("Town Library!", "town-library-adapter.md"),
        ("7up", "a-7up-adapter.md"),
        ("x", "x-api-adapter.md"),
        ("é", "a-api-adapter.md"),
        ("a" * 90, f"{'a' * 64}-adapter.md"),
    ],
)
def test_every_adapter_has_a_name_that_files_may_have(name: str, file: str) -> None:
    assert file_name_of(Adapter(name)) == file


def test_credentials_do_not_get_into_a_file() -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    adapter = Adapter("x", f"Use {token}")

    @adapter.read(name="get_x", description=f"Get it with {token}")
    def get_x(api_token: Annotated[str, Param(description=f"Such as {token}")] = token) -> str:
        return api_token

    text = exported(adapter, source_target("postgresql://shop:Qx7-lighthouse@db.example/shop"))
    assert token not in text
    assert "lighthouse" not in text
    assert "***" in text


def test_schemas_of_one_name_that_differ_stay_apart() -> None:
    adapter = Adapter("x")
    for name, kind in (("get_a", "string"), ("get_b", "integer"), ("get_c", "string")):
        adapter.add(
            Operation(
                name=name,
                category=Category.READ,
                function=made,
                summary="x",
                parameters=(Parameter("one", {"$ref": "#/$defs/One"}),),
                definitions={"One": {"type": "array", "items": {"$ref": "#/$defs/Two"}}, "Two": {"type": kind}},
            )
        )
    text = exported(adapter, source_target("x"))
    assert_same(adapter, read_back(text))


def test_a_file_that_nobody_could_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "LARGEST_FILE", 100)
    with pytest.raises(AdapterError, match="larger than the 100 bytes"):
        exported(made(), source_target("x"))


def test_another_set_of_endpoints_comes_back() -> None:
    adapter = Adapter("x", profile="database")

    @adapter.read(endpoint="inspect")
    def get_schema() -> str:
        """Get the schema."""
        return ""

    again = read_back(exported(adapter, source_target("x")))
    assert again.profile == adapter.profile
    assert_same(adapter, again)


def test_a_schema_that_its_source_has_cut_off_stays_open() -> None:
    adapter = Adapter("x")
    for name, definitions in (("get_a", {}), ("get_b", {"One": {"type": "string"}})):
        made_of: dict[str, Any] = {"type": "array", "items": {"$ref": "#/$defs/One"}}
        adapter.add(
            Operation(
                name=name,
                category=Category.READ,
                function=made,
                summary="x",
                returns=made_of,
                definitions=definitions,
                checked=True,
            )
        )
    again = read_back(exported(adapter, source_target("x")))
    assert_same(adapter, again)
    assert again.operations["get_a"].definitions == {"One": {}}


# whatever can be an adapter

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(lambda text: text.strip())
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,15}", fullmatch=True).filter(
    lambda name: name not in ("operation", "params", "operations", "dry_run", "input")
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner, max_size=3),
    ),
    max_leaves=6,
)
LEAVES: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"type": st.just("string")}, optional={"minLength": st.integers(0, 9), "description": TEXTS}),
    st.fixed_dictionaries({"type": st.just("integer")}, optional={"minimum": st.integers(), "default": st.integers()}),
    st.fixed_dictionaries({"type": st.just("number")}, optional={"multipleOf": st.floats(0.001, 1e9)}),
    st.fixed_dictionaries({"enum": st.lists(VALUES, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"const": VALUES}),
    st.fixed_dictionaries(
        {"type": st.just(["string", "null"])}, optional={"title": TEXTS, "x-sensitive": st.just(True)}
    ),
    st.just({"$ref": "#/$defs/Named"}),
    st.fixed_dictionaries({"type": st.just("boolean"), "deprecated": st.just(True), "x-own": VALUES}),
)
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(TEXTS, inner, max_size=3),
                "required": st.lists(TEXTS, max_size=2, unique=True),
            },
            optional={"additionalProperties": st.one_of(st.booleans(), inner)},
        ),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
    ),
    max_leaves=6,
)
DEPRECATED = st.one_of(
    st.none(),
    st.builds(Deprecated, st.one_of(st.just(""), TEXTS), st.one_of(st.none(), TEXTS), st.one_of(st.none(), st.dates())),
)
DANGERS = st.one_of(
    st.none(),
    st.builds(
        Danger,
        st.sampled_from(list(DangerLevel)),
        st.lists(TEXTS, max_size=2).map(tuple),
        TEXTS.filter(lambda text: "{" not in text),
        st.floats(0, 120),
        st.booleans(),
    ),
)


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    name = "get_" + draw(NAMES)
    parameters = tuple(
        Parameter(one, draw(SCHEMAS), required=draw(st.booleans()), deprecated=draw(DEPRECATED))
        for one in draw(st.lists(NAMES, max_size=4, unique=True))
    )
    return Operation(
        name=name,
        category=Category.READ,
        function=made,
        parameters=parameters,
        summary=" ".join(draw(TEXTS).split()) or "x",
        description=draw(st.one_of(st.just(""), TEXTS)),
        returns=draw(SCHEMAS),
        returns_description=draw(st.one_of(st.just(""), TEXTS)),
        definitions={"Named": {"type": "object", "properties": {"again": {"$ref": "#/$defs/Named"}}}},
        deprecated=draw(DEPRECATED),
        danger=draw(DANGERS),
        group=draw(st.one_of(st.just(""), TEXTS)),
        rationale=draw(st.one_of(st.just(""), TEXTS)),
    )


@settings(max_examples=30)
@given(st.lists(operations(), min_size=1, max_size=3, unique_by=lambda one: one.name))
def test_any_adapter_comes_back_the_same(made_up: list[Operation]) -> None:
    adapter = Adapter("made up")
    for operation in made_up:
        adapter.add(operation)
    assert_same(adapter, read_back(exported(adapter, source_target("x"))))
