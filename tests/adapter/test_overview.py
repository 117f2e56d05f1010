"""Thousands of operations of many sources: groups, pages, and where each is from."""

from typing import Any

import pytest

from headgate import Adapter, AqlError, Limits, Mode
from headgate.adapter.exposure import Exposure
from headgate.adapter.introspection import Introspector
from headgate.adapter.operations import Operation
from headgate.adapter.origins import Inferred, Origin, Provenance
from headgate.adapter.parts import Part, PartState
from headgate.protocol.categories import Category
from headgate.protocol.profiles import CRUDE

ORIGIN = Origin(
    own_name="createIssue",
    maps_to="TOOL createIssue",
    category=Inferred("CREATE", 0.95, Provenance.HEURISTIC, ("the name begins with 'create'",)),
    danger=Inferred("reversible", 0.9, Provenance.HEURISTIC),
    needs_review=True,
)


async def nothing() -> None:
    """Nothing."""


def read(name: str, **more: Any) -> Operation:
    return Operation(name, Category.READ, nothing, summary=more.pop("summary", f"What {name} tells."), **more)


def introspector(*operations: Operation, parts: tuple[Part, ...] = (), name: str = "gate") -> Introspector:
    adapter = Adapter(name, "A gate.")
    for operation in operations:
        adapter.add(operation)
    adapter.parts = lambda: parts
    return Introspector(adapter, Exposure(Mode.SEMANTIC, CRUDE), Limits(), "serialized", 1)


def ask(
    of: Introspector, query: str, name: str | None = None, first: int | None = None, after: str | None = None
) -> Any:
    return of.answer("session", query, name, first, after)


MANY = introspector(
    *(
        read(f"get_{thing}_{number}", source=source, group=f"things_{number % 10}")
        for source in ("github", "gitlab", "shop", "web", "crm")
        for thing in (f"{source}_thing",)
        for number in range(1000)
    ),
    parts=(
        *(Part(name=name, kind="mcp", operations=1000, description=f"All of {name}.") for name in ("github", "gitlab")),
        Part(name="shop", kind="database", operations=1000, prefix="s"),
        Part(name="web", kind="openapi", operations=1000),
        Part(name="crm", kind="module", operations=1000),
        Part(name="late", kind="mcp", state=PartState.FAILED, problem="it did not answer within 5 s"),
    ),
)


def test_five_thousand_operations_are_told_source_by_source() -> None:
    found = ask(MANY, "groups", first=12)
    assert [(one["name"], one["operations"], one["group_count"]) for one in found["sources"]] == [
        (name, 1000, 10) for name in ("crm", "github", "gitlab", "shop", "web")
    ]
    assert [len(one["groups"]) for one in found["sources"]] == [10, 2, 0, 0, 0]
    assert found["page"] == {"total": 50, "returned": 12, "after": "github.things_1"}
    assert found["sources"][1]["description"] == "All of github."
    following = ask(MANY, "groups", first=100, after="github.things_1")
    assert [len(one["groups"]) for one in following["sources"]] == [0, 8, 10, 10, 10]
    group = following["sources"][1]["groups"][0]
    assert (group["name"], group["operations"]) == ("github.things_2", 100)
    assert group["description"].startswith("What get_github_thing_2 tells; What get_github_thing_12 tells")


def test_the_operations_of_one_group_or_source_come_in_pages() -> None:
    found = ask(MANY, "groups", "shop.things_7")
    assert found["group"]["operations"] == 100
    assert [one["name"] for one in found["operations"]][:2] == ["get_shop_thing_7", "get_shop_thing_17"]
    assert "page" not in found
    whole = ask(MANY, "groups", "shop", first=10)
    assert (len(whole["operations"]), whole["page"]["total"]) == (10, 1000)
    last = whole["page"]["after"]
    assert ask(MANY, "groups", "shop", first=10, after=last)["operations"][0] != whole["operations"][0]
    with pytest.raises(AqlError, match="'after' is not valid"):
        ask(MANY, "groups", "shop", after="get_web_thing_1")


def test_a_group_that_is_not_there_is_told_as_such() -> None:
    found = ask(MANY, "groups", "shop.nothing")
    assert (found["group"], found["operations"]) == (None, [])


def test_search_finds_one_among_five_thousand_by_source_and_group_too() -> None:
    found = ask(MANY, "search", "gitlab things_3 thing 43", 3)
    assert found["operations"][0]["name"] == "get_gitlab_thing_43"


def test_sources_are_told_with_how_they_fare_and_which_operation_is_whose() -> None:
    info = ask(MANY, "adapter_info")
    assert info["sources"][2] == {
        "name": "shop",
        "kind": "database",
        "state": "ready",
        "operations": 1000,
        "prefix": "s",
    }
    assert info["sources"][-1]["problem"] == "it did not answer within 5 s"
    assert info["operation_sources"]["get_github_thing_5"] == "github"
    assert (len(info["operation_sources"]), info["page"]["total"]) == (100, 5000)
    following = ask(MANY, "adapter_info", first=1000, after=info["page"]["after"])
    assert len(following["operation_sources"]) == 1000


def test_an_operation_tells_where_it_is_from_and_how_that_is_known() -> None:
    one = read("get_issue", source="github", group="issues", local="issue", origin=ORIGIN)
    assert ask(introspector(one), "adapter_info", "get_issue")["operation"] == {
        "name": "get_issue",
        "source": "github",
        "group": "issues",
        "name_in_source": "issue",
        "own_name": "createIssue",
        "maps_to": "TOOL createIssue",
        "category": ORIGIN.category.wire(),
        "danger": ORIGIN.danger.wire(),
        "needs_review": True,
    }


def test_an_adapter_of_one_source_groups_by_what_names_speak_of() -> None:
    alone = introspector(read("get_book"), read("list_books"), read("get_author", summary="W" * 200), name="shelf")
    [source] = ask(alone, "groups")["sources"]
    assert (source["name"], source["description"]) == ("shelf", "A gate.")
    assert [(group["name"], group["operations"]) for group in source["groups"]] == [
        ("shelf.author", 1),
        ("shelf.book", 2),
    ]
    assert len(source["groups"][0]["description"]) <= 100
    assert ask(alone, "adapter_info", "get_book")["operation"] == {
        "name": "get_book",
        "source": "shelf",
        "category": {"value": "READ"},
    }
    assert "sources" not in ask(alone, "adapter_info")
    assert ask(alone, "adapter_info", "nothing") == {"operation": None}


@pytest.mark.parametrize(
    ("query", "name"),
    [("search", "thing"), ("groups", None), ("groups", "shop"), ("groups", "late")],
    ids=["search", "groups", "one group", "no such group"],
)
def test_sources_that_are_not_ready_are_told_beside_what_is_found(query: str, name: str | None) -> None:
    assert ask(MANY, query, name, first=1)["sources_not_ready"] == [{"name": "late", "state": "failed"}]


def test_nothing_is_said_of_readiness_where_all_are_ready_or_disabled() -> None:
    ready = introspector(
        read("get_x", source="a"),
        parts=(Part(name="a", kind="mcp"), Part(name="off", kind="mcp", state=PartState.DISABLED)),
    )
    assert "sources_not_ready" not in ask(ready, "groups")
    assert "sources_not_ready" not in ask(ready, "search", "x")
