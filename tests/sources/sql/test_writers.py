"""Writers: of two at once one wins, constraints are told by their fields, a dry run changes nothing, all or nothing."""

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from headgate.sources.sql.connections import Connection, DatabaseOptions
from headgate.sources.sql.failures import ReadOnly
from tests.databases import Server
from tests.sources.sql.bookshelf import backend_of
from tests.sources.sql.shop import Shop, asked, opened_shop

RACES = int(os.environ.get("HEADGATE_RACES", "100"))


@pytest.fixture
def shop(server: Server) -> Iterator[Shop]:
    with opened_shop(server) as shop:
        yield shop


# two at once


async def race(one: Shop, other: Shop, kind: str, key: int, field: str) -> None:
    """Let two writers who have read the same version change a row at once, again and again."""
    tag = (await one.call(f"get_{kind}", id=key))["data"]["_etag"]
    for number in range(RACES):
        writers = [
            asked(shop.engine, f"update_{kind}", {"id": key, "input": {field: f"{number} {name}"}, "if_match": tag})
            for shop, name in ((one, "one"), (other, "other"))
        ]
        answers = await asyncio.gather(*writers)
        won = [answer for answer in answers if answer["success"]]
        lost = [answer["error"]["code"] for answer in answers if not answer["success"]]
        assert len(won) == 1, answers
        assert lost == ["CONFLICT_VERSION_MISMATCH"]
        tag = won[0]["data"]["_etag"]
        assert (await other.call(f"get_{kind}", id=key))["data"]["_etag"] == tag


@pytest.mark.parametrize(("kind", "key", "field"), [("order", 201, "code"), ("customer", 101, "name")])
def test_of_two_writers_in_one_server_exactly_one_wins(shop: Shop, kind: str, key: int, field: str) -> None:
    shop.runner.run(race(shop, shop, kind, key, field))


@pytest.mark.parametrize(("kind", "key", "field"), [("order", 201, "code"), ("customer", 101, "name")])
def test_of_two_writers_in_two_servers_exactly_one_wins(shop: Shop, kind: str, key: int, field: str) -> None:
    with shop.another() as other:
        shop.runner.run(race(shop, other, kind, key, field))


def test_a_writer_and_a_remover_do_not_both_win(shop: Shop) -> None:
    with shop.another() as other:
        for number in range(RACES // 10):
            made = shop.data("create_customer", name=f"C{number}")

            async def both(made: dict[str, Any]) -> list[dict[str, Any]]:
                key, tag = made["id"], made["_etag"]
                change = {"id": key, "input": {"name": "changed"}, "if_match": tag}
                return list(
                    await asyncio.gather(
                        asked(shop.engine, "update_customer", change),
                        asked(other.engine, "delete_customer", {"id": key, "if_match": tag}),
                    )
                )

            answers = shop.runner.run(both(made))
            lost = [answer["error"]["code"] for answer in answers if not answer["success"]]
            assert lost in (["CONFLICT_VERSION_MISMATCH"], ["NOT_FOUND_RESOURCE"])


def test_a_change_from_outside_makes_a_version_stale(shop: Shop) -> None:
    tag = shop.data("get_customer", id=101)["_etag"]
    shop.run("UPDATE customers SET rating = 0.2 WHERE id = 101")
    error = shop.error("update_customer", id=101, input={"name": "x"}, if_match=tag)
    assert error["code"] == "CONFLICT_VERSION_MISMATCH"
    fresh = error["details"]["current_etag"]
    assert shop.data("update_customer", id=101, input={"name": "x"}, if_match=fresh)["name"] == "x"
    assert shop.error("delete_customer", id=102, if_match=tag)["code"] == "CONFLICT_VERSION_MISMATCH"


def test_a_change_that_changes_nothing_is_no_conflict(shop: Shop) -> None:
    before = shop.data("get_customer", id=101)
    after = shop.data("update_customer", id=101, input={"name": "Ann"}, if_match=before["_etag"])
    assert after == before


def test_any_version_will_do_for_a_star_and_without_one(shop: Shop) -> None:
    assert shop.data("update_order", id=201, input={"code": "B"}, if_match="*")["row_version"] == 2
    assert shop.data("update_order", id=201, input={"code": "C"})["_etag"] == '"3"'


# creating


def test_what_the_database_completes_is_read_back(shop: Shop) -> None:
    made = shop.data("create_order", customer_id=101, code="N", amount="2.50")
    assert isinstance(made["id"], int)
    stored = {name: made[name] for name in ("line", "state", "doubled", "row_version", "_etag")}
    assert stored == {"line": 1, "state": "new", "doubled": "5.00", "row_version": 1, "_etag": '"1"'}
    assert shop.data("get_order", id=made["id"]) == made


def test_a_key_that_is_taken_is_a_conflict(shop: Shop) -> None:
    error = shop.error("create_customer", id=101, name="Ann again")
    assert error["code"] == "CONFLICT_ALREADY_EXISTS"
    assert error["details"]["resource_id"] == 101


def test_a_broken_unique_constraint_names_its_fields(shop: Shop) -> None:
    error = shop.error("create_customer", name="Cid", email="ann@example.org")
    assert (error["code"], error["details"]["fields"]) == ("CONFLICT_ALREADY_EXISTS", ["email"])
    error = shop.error("create_order", customer_id=101, code="A", line=2)
    assert (error["code"], error["details"]["fields"]) == ("CONFLICT_ALREADY_EXISTS", ["code", "line"])
    error = shop.error("update_customer", id=102, input={"email": "ann@example.org"})
    assert (error["code"], error["details"]["fields"]) == ("CONFLICT_ALREADY_EXISTS", ["email"])


def test_a_reference_that_leads_nowhere_names_its_field(shop: Shop) -> None:
    for error in (
        shop.error("create_order", customer_id=9, code="N"),
        shop.error("update_order", id=201, input={"customer_id": 9}),
    ):
        assert (error["code"], error["details"]["fields"]) == ("VALIDATION_INVALID_VALUE", ["customer_id"])


def test_a_broken_rule_names_its_field(shop: Shop) -> None:
    for error in (
        shop.error("create_order", customer_id=101, code="N", amount=13),
        shop.error("update_order", id=201, input={"amount": "13.00"}),
    ):
        assert (error["code"], error["details"]["fields"]) == ("VALIDATION_INVALID_VALUE", ["amount"])


def test_a_value_that_must_be_there_is_asked_for_by_name(shop: Shop) -> None:
    error = shop.error("create_customer", email="x@example.org")
    assert (error["code"], error["details"]["param_name"]) == ("VALIDATION_MISSING_PARAM", "name")
    assert shop.error("update_customer", id=101, input={"name": None})["code"].startswith("VALIDATION_")


def test_a_value_that_is_too_long_is_refused_alike(shop: Shop) -> None:
    assert shop.error("create_customer", name="x" * 51)["code"].startswith("VALIDATION_")


# changing


def test_json_is_merged_and_null_removes(shop: Shop) -> None:
    changed = shop.data("update_customer", id=101, input={"profile": {"likes": {"tea": None, "rum": 3}, "age": 20}})
    assert changed["profile"] == {"likes": {"milk": 2, "rum": 3}, "size": "M", "age": 20}
    assert shop.data("update_customer", id=101, input={"profile": None})["profile"] is None
    assert shop.data("update_customer", id=101, input={"profile": {"a": {"b": 1}}})["profile"] == {"a": {"b": 1}}
    assert shop.data("update_customer", id=101, input={"born": None, "email": None})["born"] is None


def test_identifiers_and_what_is_only_read_cannot_be_changed(shop: Shop) -> None:
    assert shop.error("update_order", id=201, input={"id": 7})["code"] == "VALIDATION_UNKNOWN_FIELD"
    assert shop.error("update_order", id=201, input={"doubled": 1})["code"] == "VALIDATION_READ_ONLY_FIELD"
    assert shop.error("update_order", id=201, input={"row_version": 9})["code"] == "VALIDATION_READ_ONLY_FIELD"
    assert shop.error("update_order", id=9, input={"code": "x"})["code"] == "NOT_FOUND_RESOURCE"


# removing


def test_what_others_refer_to_cannot_be_removed(shop: Shop) -> None:
    assert shop.error("delete_customer", id=101)["code"] == "CONFLICT_REFERENCED"
    assert shop.error("delete_customer", id=101, dry_run=True)["code"] == "CONFLICT_REFERENCED"
    assert shop.data("delete_customer", id=102) == {"deleted": True, "id": 102}
    assert shop.error("delete_customer", id=102)["code"] == "NOT_FOUND_RESOURCE"


# dry runs


def test_a_dry_run_tells_what_would_be_and_changes_nothing(shop: Shop) -> None:
    before = shop.rows()
    would = shop.data("create_order", customer_id=102, code="D", amount=4, dry_run=True)
    assert (would["dry_run"], would["affected"], would["would_create"]["doubled"]) == (True, 1, "8.00")
    change = {"profile": {"size": None}, "name": "Anna"}
    would = shop.data("update_customer", id=101, input=change, dry_run=True)
    gone = shop.data("delete_order", id=201, dry_run=True)
    assert shop.rows() == before
    done = shop.data("update_customer", id=101, input=change)
    assert would["after"] == {name: value for name, value in done.items() if name != "_etag"}
    assert would["before"]["profile"]["size"] == "M"
    assert gone["would_delete"]["code"] == "A"
    assert shop.data("delete_order", id=201)["deleted"]


def test_a_dry_run_fails_as_the_real_one_would(shop: Shop) -> None:
    before = shop.rows()
    for operation, params in (
        ("create_customer", {"name": "x", "email": "ann@example.org"}),
        ("create_order", {"customer_id": 9, "code": "x"}),
        ("update_order", {"id": 201, "input": {"amount": 13}}),
        ("delete_customer", {"id": 101}),
        ("update_order", {"id": 201, "input": {"code": "x"}, "if_match": '"7"'}),
    ):
        tried, done = shop.error(operation, **params, dry_run=True), shop.error(operation, **params)
        assert tried == done
    assert shop.rows() == before


# all or nothing


def test_a_batch_in_one_transaction_is_kept_together(shop: Shop) -> None:
    results = shop.batch(
        ("create_customer", {"id": 300, "name": "Cid"}),
        ("create_order", {"id": 301, "customer_id": 300, "code": "C"}),
        ("get_order", {"id": 301, "fields": ["code", "customer.name"]}),
        ("update_order", {"id": 301, "input": {"state": "paid"}, "if_match": '"1"'}),
    )
    assert [one["result"]["success"] for one in results] == [True] * 4
    assert results[2]["result"]["data"]["customer"] == {"name": "Cid"}
    assert shop.data("get_order", id=301)["state"] == "paid"


@pytest.mark.parametrize(
    "wrong",
    [
        ("create_order", {"customer_id": 9, "code": "x"}),
        ("create_customer", {"name": "x", "email": "ann@example.org"}),
        ("update_order", {"id": 202, "input": {"amount": 13}}),
        ("delete_customer", {"id": 101}),
        ("list_orders", {"filter": {"nothing": 1}}),
        ("update_order", {"id": 202, "input": {"code": "x"}, "if_match": '"9"'}),
    ],
    ids=["reference", "unique", "check", "referenced", "query", "version"],
)
def test_a_batch_in_one_transaction_is_undone_together(shop: Shop, wrong: tuple[str, dict[str, Any]]) -> None:
    before = shop.rows()
    results = shop.batch(
        ("create_customer", {"id": 300, "name": "Cid"}),
        ("update_order", {"id": 201, "input": {"state": "paid"}}),
        wrong,
        ("delete_order", {"id": 201}),
    )
    codes = [one["result"]["error"]["code"] for one in results]
    assert codes[0] == codes[1] == codes[3] == "CONFLICT_ROLLED_BACK"
    assert codes[2] == shop.error(wrong[0], **wrong[1])["code"]
    assert shop.rows() == before
    assert shop.data("list_customers")["pageInfo"]["totalCount"] == 2


def test_a_dry_run_within_a_transaction_takes_only_itself_back(shop: Shop) -> None:
    results = shop.batch(
        ("create_customer", {"id": 300, "name": "Cid"}),
        ("delete_customer", {"id": 300, "dry_run": True}),
        ("update_customer", {"id": 300, "input": {"name": "Sid"}}),
    )
    assert [one["result"]["success"] for one in results] == [True] * 3
    assert shop.data("get_customer", id=300)["name"] == "Sid"


# only to read


def test_a_database_that_is_only_read_offers_no_writing(shop: Shop) -> None:
    with shop.another(DatabaseOptions(read_only=True)) as reader:
        names = reader.engine.adapter.operations
        assert not [name for name in names if name.startswith(("create_", "update_", "delete_"))]
        assert {"list_orders", "get_order", "count_orders", "query_relationships"} <= names.keys()
        assert reader.data("get_order", id=201)["code"] == "A"


def written(statement: str, connection: Connection) -> None:
    connection.execute(statement)


def test_the_session_of_a_database_that_is_only_read_refuses_to_write(shop: Shop) -> None:
    before = shop.rows()
    with shop.another(DatabaseOptions(read_only=True)) as reader:
        database = backend_of(reader.engine).database
        for statement in ("DELETE FROM orders", "INSERT INTO customers (name) VALUES ('x')", "DROP TABLE orders"):
            with pytest.raises(ReadOnly):
                reader.runner.run(database.transaction(partial(written, statement)))
            with pytest.raises(ReadOnly):
                reader.runner.run(database.fetch(statement, likely_fast=True))
            with pytest.raises(ReadOnly):
                reader.runner.run(database.fetch(statement))
    assert shop.rows() == before
