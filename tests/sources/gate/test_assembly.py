"""Several adapters as one: names that tell apart, and everything else as it was."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.adapter.adapter import Adapter
from headgate.adapter.operations import Operation
from headgate.adapter.parameters import Parameter
from headgate.engine.concurrency import _resource
from headgate.engine.pipeline import Engine
from headgate.protocol.categories import Category
from headgate.protocol.names import is_snake_case
from headgate.protocol.profiles import CRUDE, PROFILES
from headgate.safety.danger import classify
from headgate.sources.gate.assembly import Collision, Piece, assembled, served_names
from headgate.sources.gate.opening import database_adapter
from headgate.sources.gate.specs import DatabaseSpec
from tests.engine.asking import answer, ask, error
from tests.sources.gate.pieces import adapter, operation

pytestmark = pytest.mark.anyio


def names(*pieces: Piece) -> list[str]:
    return list(assembled("gate", pieces).operations)


def test_names_that_only_one_source_has_stay_as_they_are() -> None:
    found = names(Piece("a", adapter("a", "get_x", "list_y")), Piece("b", adapter("b", "get_z")))
    assert found == ["get_x", "list_y", "get_z"]


def test_a_name_that_several_have_is_told_apart_by_all_of_them() -> None:
    served = served_names([Piece("git", adapter("x", "search", "get_a")), Piece("Git Lab", adapter("y", "search"))])
    assert served == {
        ("git", "search"): "git_search",
        ("git", "get_a"): "get_a",
        ("Git Lab", "search"): "git_lab_search",
    }


def test_a_prefix_stands_before_all_names_of_its_source() -> None:
    found = names(Piece("a", adapter("a", "get_x"), "gh"), Piece("b", adapter("b", "get_x")))
    assert found == ["gh_get_x", "get_x"]


def test_an_empty_prefix_keeps_the_names_whatever_others_are_called() -> None:
    found = names(Piece("a", adapter("a", "get_x"), ""), Piece("b", adapter("b", "get_x")))
    assert found == ["get_x", "b_get_x"]


def test_prefixes_that_do_not_tell_apart_name_both_sources() -> None:
    pieces = [Piece("a", adapter("a", "get_x"), ""), Piece("b", adapter("b", "get_x"), "")]
    with pytest.raises(
        Collision, match="'a' and 'b' both have an operation 'get_x': set another prefix for 'b'"
    ) as told:
        assembled("gate", pieces)
    assert told.value.source == "b"


def test_a_name_with_its_source_s_may_be_another_s_own() -> None:
    pieces = [Piece("a", adapter("a", "get_x")), Piece("b", adapter("b", "get_x")), Piece("c", adapter("c", "a_get_x"))]
    found = names(*pieces)
    assert len(set(found)) == 3
    assert "a_get_x" in found
    assert found == names(*pieces)


def test_a_prefix_makes_no_name_that_is_the_protocol_s_own() -> None:
    [name] = names(Piece("a", adapter("a", operation("agent", Category.EXECUTE)), "execute"))
    assert name.startswith("execute_agent_")


_WORD = st.from_regex(r"[a-z][a-z0-9]{0,12}(_[a-z0-9]{1,12}){0,6}", fullmatch=True).filter(lambda one: len(one) <= 64)
_ADAPTERS = st.dictionaries(_WORD, st.sets(_WORD, min_size=1, max_size=5), min_size=1, max_size=5)


@given(_ADAPTERS)
def test_names_are_always_allowed_and_distinct_and_none_is_lost(found: dict[str, set[str]]) -> None:
    pieces = [
        Piece(source, adapter(source, *(operation(name, Category.EXECUTE) for name in sorted(own))))
        for source, own in found.items()
    ]
    whole = assembled("gate", pieces)
    assert len(whole.operations) == sum(map(len, found.values()))
    for name, one in whole.operations.items():
        assert is_snake_case(name)
        assert len(name) <= 64
        assert (one.local or one.name) in found[one.source]


def test_a_name_that_grows_too_long_is_cut_and_marked() -> None:
    long = "get_" + "x" * 60
    [name] = names(Piece("a", adapter("a", long), "prefix"))
    assert (len(name) <= 64, name.startswith("prefix_get_xxx")) == (True, True)


def test_an_operation_keeps_its_meaning_under_another_name() -> None:
    before = operation("delete_all_users", Category.DELETE)
    [after] = assembled("gate", [Piece("crm", adapter("crm", before), "crm")]).operations.values()
    assert (after.name, after.local, after.source) == ("crm_delete_all_users", "delete_all_users", "crm")
    assert after.known_as == ("crm_delete_all_users", "delete_all_users")
    assert classify(after).level is classify(before).level
    assert after.function is before.function


def test_a_source_that_is_named_like_a_verb_makes_no_read_suspicious() -> None:
    pieces = [Piece(one, adapter(one, "list_x")) for one in ("delete", "run")]
    whole = assembled("gate", pieces)
    assert list(whole.operations) == ["delete_list_x", "run_list_x"]
    assert whole.operations["delete_list_x"].full_description == "What list_x is for."


def test_what_is_compiled_is_not_compiled_again() -> None:
    one = operation("get_x", parameters=(Parameter("y", {"type": "string"}),))
    compiled = one.validator
    assert one.as_part_of("s", "s_get_x").validator is compiled
    assert one.as_part_of("s", "s_get_x").resource == "x"


def test_one_profile_of_all_is_kept_and_several_become_the_usual_one() -> None:
    discover = PROFILES["discover"]
    placed = Operation("get_x", Category.READ, lambda: None, summary="X.", endpoint=discover.families[0].name)
    same = [Piece("a", adapter("a", placed, profile=discover)), Piece("b", adapter("b", "get_y", profile=discover))]
    assert assembled("gate", same).profile == discover
    mixed = assembled("gate", [same[0], Piece("c", adapter("c", "get_z"))])
    assert mixed.profile == CRUDE
    assert mixed.operations["get_x"].endpoint is None
    assert placed.endpoint == discover.families[0].name


def test_one_source_alone_keeps_its_words() -> None:
    whole = assembled("only", [Piece("only", adapter("only", "get_x", description="All of it.", version="7"))])
    assert (whole.description, whole.version) == ("All of it.", "7")
    assert assembled("none", []).description == ""


async def test_every_operation_is_answered_by_its_own_source() -> None:
    pieces = [Piece(one, adapter(one, "get_x")) for one in ("a", "b")]
    engine = Engine(assembled("gate", pieces))
    assert (await ask(engine, "a_get_x"))["data"] == "a: get_x"
    assert (await ask(engine, "b_get_x"))["data"] == "b: get_x"


async def test_changes_of_one_thing_wait_for_each_other_under_any_name_and_not_for_another_source_s() -> None:
    changes = [
        operation(f"{verb}_x", Category.DELETE, parameters=(Parameter("x_id", {"type": "string"}),))
        for verb in ("delete", "drop")
    ]
    whole = assembled("gate", [Piece(one, adapter(one, *changes), one) for one in ("a", "b")])
    keys = {name: _resource(one, {"x_id": "7"}) for name, one in whole.operations.items()}
    assert keys["a_delete_x"] == keys["a_drop_x"]
    assert keys["a_delete_x"] != keys["b_delete_x"]


async def test_the_risk_that_each_source_tells_counts() -> None:
    one, two = adapter("a", "get_x"), adapter("b", "get_y")
    scorer = one.risk(lambda *_: None)  # type: ignore[arg-type]
    assert list(assembled("gate", [Piece("a", one), Piece("b", two)]).scorers) == [scorer]


# databases


def shop(folder: Path, name: str) -> Adapter:
    path = folder / f"{name}.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE items (item_id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
        connection.execute("CREATE TABLE parts (part_id INTEGER PRIMARY KEY, item_id INTEGER REFERENCES items)")
        connection.execute(f"CREATE TABLE {name}_things (thing_id INTEGER PRIMARY KEY)")
    connection.close()
    return database_adapter(str(path), DatabaseSpec())


async def test_collections_of_several_databases_are_shown_together(tmp_path: Path) -> None:
    one, two = shop(tmp_path, "one"), shop(tmp_path, "two")
    whole = assembled("gate", [Piece("one", one), Piece("two", two)])
    engine = Engine(whole)
    shown = (await ask(engine, "introspect", query="collections"))["data"]["collections"]
    assert sorted(collection["name"] for collection in shown) == [
        *("one_items", "one_parts", "one_things", "two_items", "two_parts", "two_things")
    ]
    made = await ask(engine, "two_create_item", title="lamp")
    assert made["success"], made
    assert (await ask(engine, "two_list_items"))["data"]["items"][0]["title"] == "lamp"
    assert (await ask(engine, "one_list_items"))["data"]["items"] == []
    await one.close()
    await two.close()


async def test_collections_that_would_have_one_name_are_numbered(tmp_path: Path) -> None:
    one, two, three = shop(tmp_path, "one"), shop(tmp_path, "two"), shop(tmp_path, "one_one")
    whole = assembled("gate", [Piece("one", one), Piece("two", two), Piece("one_one", three, "one")])
    found = [collection.name for collection in whole.collections.catalog]
    assert len(set(found)) == len(found) == 9
    assert "one_items_2" in found
    for each in (one, two, three):
        await each.close()


def batch(*operations: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"operations": [{"operation": name, "params": params} for name, params in operations], "transaction": True}


async def test_a_transaction_stays_inside_one_database(tmp_path: Path) -> None:
    one, two = shop(tmp_path, "one"), shop(tmp_path, "two")
    plain = adapter("plain", "get_x")
    engine = Engine(assembled("gate", [Piece("one", one), Piece("two", two), Piece("plain", plain)]))
    kept = await answer(engine, batch(("one_create_item", {"title": "a"}), ("one_create_item", {"title": "b"})))
    assert [item["result"]["success"] for item in kept["results"]] == [True, True]
    undone = await answer(engine, batch(("one_create_item", {"title": "c"}), ("one_get_item", {"item_id": 99})))
    assert [item["result"]["success"] for item in undone["results"]] == [False, False]
    both = await answer(engine, batch(("one_create_item", {"title": "d"}), ("two_create_item", {"title": "d"})))
    assert "of several sources, 'one', 'two'" in both["error"]["message"]
    none = await answer(engine, batch(("get_x", {})))
    assert "'plain' cannot undo its work" in none["error"]["message"]
    titles = [item["title"] for item in (await ask(engine, "one_list_items"))["data"]["items"]]
    assert titles == ["a", "b"]
    assert (await ask(engine, "two_list_items"))["data"]["items"] == []
    await one.close()
    await two.close()


async def test_without_any_database_nothing_can_be_undone() -> None:
    engine = Engine(assembled("gate", [Piece("a", adapter("a", "get_x"))]))
    refused = await answer(engine, batch(("get_x", {})))
    assert "nothing here can be undone" in refused["error"]["message"]


async def test_an_unknown_operation_is_answered_with_the_nearest() -> None:
    engine = Engine(assembled("gate", [Piece("a", adapter("a", "get_issue"))]))
    found = await error(engine, "get_isue")
    assert "get_issue" in found["message"]
    assert "sources_not_ready" not in found["details"]
