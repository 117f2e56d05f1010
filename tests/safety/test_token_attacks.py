"""A token is for one call: attempts to use it with other parameters, by others, or for something else."""

import json
import unicodedata
from typing import Any

import pytest

from headgate import Caller, Session
from headgate.protocol.danger import Trust
from headgate.store.sql import SqlStore
from tests.safety.deletions import ANN, CALL, Shop

pytestmark = pytest.mark.anyio


@pytest.fixture
def guard(store: SqlStore) -> Shop:
    return Shop(store, "[confirmation]\nrefusals_per_minute = 1000")


# With other parameters.

CHANGES: dict[str, dict[str, Any]] = {
    "1.0 for 1": {"one": 1.0},
    "true for 1": {"one": True},
    "the text '1' for 1": {"one": "1"},
    "2 for 1": {"one": 2},
    "-1 for 1": {"one": -1},
    "0 for 1": {"one": 0},
    "false for 1": {"one": False},
    "null for 1": {"one": None},
    "a list for 1": {"one": [1]},
    "an object for 1": {"one": {"1": 1}},
    "an empty text for 1": {"one": ""},
    "a nested 1.0 for 1": {"two": {"deep": [1.0, {"flag": True}]}},
    "a nested 1 for true": {"two": {"deep": [1, {"flag": 1}]}},
    "a nested text for true": {"two": {"deep": [1, {"flag": "true"}]}},
    "a nested false for true": {"two": {"deep": [1, {"flag": False}]}},
    "a nested null for true": {"two": {"deep": [1, {"flag": None}]}},
    "a nested key less": {"two": {"deep": [1, {}]}},
    "a nested key more": {"two": {"deep": [1, {"flag": True, "more": None}]}},
    "a nested item less": {"two": {"deep": [1]}},
    "another nested order": {"two": {"deep": [{"flag": True}, 1]}},
    "another name of a nested key": {"two": {"Deep": [1, {"flag": True}]}},
    "a nested key of another Unicode form": {"two": {"de\u0301ep": [1, {"flag": True}]}},
    "a text for an object": {"two": '{"deep":[1,{"flag":true}]}'},
    "an empty object": {"two": {}},
    "an item more": {"three": [1, 2, 3]},
    "an item less": {"three": [1]},
    "another order of items": {"three": [2, 1]},
    "an item twice": {"three": [1, 1, 2]},
    "an item that is null": {"three": [1, 2, None]},
    "a list in the list": {"three": [[1, 2]]},
    "no items": {"three": []},
    "a text for a list": {"three": "[1,2]"},
    "another Unicode form": {"text": unicodedata.normalize("NFD", "caf\u00e9")},
    "a capital letter": {"text": "Caf\u00e9"},
    "a space after": {"text": "caf\u00e9 "},
    "a space before": {"text": " caf\u00e9"},
    "a zero-width space": {"text": "ca\u200bf\u00e9"},
    "a zero-width joiner": {"text": "caf\u00e9\u200d"},
    "a soft hyphen": {"text": "ca\u00adf\u00e9"},
    "a byte order mark": {"text": "\ufeffcaf\u00e9"},
    "a variation selector": {"text": "caf\u00e9\ufe0f"},
    "a letter that looks the same": {"text": "c\u0430f\u00e9"},
    "a newline": {"text": "caf\u00e9\n"},
    "the letters spelt out": {"text": "caf\\u00e9"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_token_is_refused_with_a_changed_parameter(guard: Shop, change: dict[str, Any]) -> None:
    token = await guard.token("delete_thing", CALL)
    error = await guard.refused("TOKEN_SCOPE_MISMATCH", {**CALL, **change}, token)
    assert error["details"]["differs_in"] == ["parameters"]
    assert (await guard.call("delete_thing", CALL, token=token))["success"]
    assert len(guard.ran) == 1


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_token_for_the_changed_call_is_refused_for_the_plain_one(guard: Shop, change: dict[str, Any]) -> None:
    token = await guard.token("delete_thing", {**CALL, **change})
    await guard.refused("TOKEN_SCOPE_MISMATCH", CALL, token)


@pytest.mark.parametrize("name", ["two", "three", "text"])
async def test_a_token_is_refused_where_a_parameter_is_left_out_added_or_null(guard: Shop, name: str) -> None:
    without = {key: value for key, value in CALL.items() if key != name}
    for asked, used in (
        (CALL, without),
        (without, CALL),
        (without, {**without, name: None}),
        ({**CALL, name: None}, without),
    ):
        token = await guard.token("delete_thing", asked)
        await guard.refused("TOKEN_SCOPE_MISMATCH", used, token)


@pytest.mark.parametrize("more", [{"dry_run": False}, {"dry_run": True}], ids=str)
async def test_a_token_is_refused_with_a_dry_run_that_was_not_confirmed(guard: Shop, more: dict[str, Any]) -> None:
    await guard.refused("TOKEN_SCOPE_MISMATCH", {**CALL, **more}, await guard.token("delete_thing", CALL))


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(child) for key, child in reversed(value.items())}
    return [reordered(child) for child in value] if isinstance(value, list) else value


SAME: dict[str, Any] = {
    "in another order of keys": lambda token: {
        "operation": "delete_thing",
        "params": {"_confirmation": token, **reordered(CALL)},
    },
    "beside the operation": lambda token: {"operation": "delete_thing", **CALL, "_confirmation": token},
    "with the token among its parameters": lambda token: {
        "operation": "delete_thing",
        "params": {**CALL, "confirmation_token": token},
    },
    "with the token in camel case": lambda token: {
        "operation": "delete_thing",
        "params": {**CALL, "confirmationToken": token},
    },
    "with parameters sent as text": lambda token: {
        "operation": "delete_thing",
        "params": json.dumps({**reordered(CALL), "confirmation_token": token}, indent=2),
    },
    "with labels of the client": lambda token: {
        "operation": "delete_thing",
        "params": {**CALL, "confirmation_token": token},
        "_meta": {"trace": 7},
        "_request_id": "again",
    },
}


@pytest.mark.parametrize("spelt", SAME.values(), ids=SAME)
async def test_the_same_call_in_another_spelling_is_the_same_call(guard: Shop, spelt: Any) -> None:
    token = await guard.token("delete_thing", {**CALL, "two": {"b": 1, "a": [{"y": 1, "x": 2}], **CALL["two"]}})
    await guard.refused("TOKEN_SCOPE_MISMATCH", CALL, token)
    token = await guard.token("delete_thing", CALL)
    assert (await guard.ask(spelt(token)))["success"]
    assert guard.ran == [(1, CALL["two"], CALL["three"], CALL["text"])]


async def test_what_was_confirmed_is_what_runs_and_not_what_the_client_changes_afterwards(guard: Shop) -> None:
    params = {"one": [1]}
    token = await guard.token("delete_thing", params)
    params["one"].append(2)
    await guard.refused("TOKEN_SCOPE_MISMATCH", params, token)


# By others, elsewhere, for something else.


@pytest.mark.parametrize(
    "other",
    [
        Caller(),
        Caller(subject="bob"),
        Caller(client_id="ann"),
        Caller(subject="ann", client_id="desk"),
        Caller(subject="Ann"),
        Caller(subject="ann "),
        Caller(subject=""),
        Caller(label="ann"),
    ],
    ids=[
        "somebody without a name",
        "another name",
        "a client that is called the same",
        "the same name from another client",
        "the name in capitals",
        "the name with a space",
        "an empty name",
        "somebody who says to be ann",
    ],
)
async def test_a_token_of_one_caller_is_unknown_to_another(guard: Shop, other: Caller) -> None:
    token = await guard.token("delete_thing", CALL, caller=ANN)
    await guard.refused("TOKEN_INVALID", CALL, token, caller=other)
    assert (await guard.call("delete_thing", CALL, token=token, caller=ANN))["success"]


async def test_a_name_that_is_spelt_like_the_inner_form_of_another_is_not_that_one(guard: Shop) -> None:
    for theirs, mine in (("anonymous", None), ('["ann",null]', "ann")):
        token = await guard.token("delete_thing", CALL, caller=Caller(subject=mine))
        await guard.refused("TOKEN_INVALID", CALL, token, caller=Caller(subject=theirs))


async def test_scopes_and_labels_do_not_make_another_caller(guard: Shop) -> None:
    token = await guard.token("delete_thing", CALL, caller=Caller(subject="ann", scopes=frozenset({"a"}), label="x"))
    assert (await guard.call("delete_thing", CALL, token=token, caller=ANN))["success"]


async def test_a_token_of_one_session_is_unknown_in_another(guard: Shop) -> None:
    token = await guard.token("delete_thing", CALL)
    await guard.refused("TOKEN_INVALID", CALL, token, session=Session())
    await guard.refused("TOKEN_INVALID", CALL, token, session=Session(lasting=False))
    assert (await guard.call("delete_thing", CALL, token=token))["success"]


async def test_where_tokens_may_outlive_the_session_they_do(store: SqlStore) -> None:
    guard = Shop(store, "[confirmation]\noutlive_session = true")
    token = await guard.token("delete_thing", CALL)
    assert (await guard.call("delete_thing", CALL, token=token, session=Session()))["success"]


async def test_a_token_of_one_operation_is_refused_for_another(guard: Shop) -> None:
    error = await guard.refused("TOKEN_SCOPE_MISMATCH", CALL, await guard.token("delete_thing", CALL), "delete_other")
    assert error["details"]["differs_in"] == ["operation"]
    assert (error["details"]["token_operation"], error["details"]["requested_operation"]) == (
        "delete_thing",
        "delete_other",
    )


async def test_a_token_of_one_adapter_is_refused_for_another_on_the_same_store(store: SqlStore) -> None:
    first, second = Shop(store), Shop(store, name="warehouse")
    token = await first.token("delete_thing", CALL)
    error = await second.refused("TOKEN_SCOPE_MISMATCH", CALL, token, session=first.session)
    assert error["details"]["differs_in"] == ["adapter"]


async def test_a_token_counts_on_every_server_of_the_same_store(store: SqlStore) -> None:
    first = Shop(store)
    second = Shop(store, clock=first.clock)
    token = await first.token("delete_thing", CALL)
    assert (await second.call("delete_thing", CALL, token=token, session=first.session))["success"]
    await first.refused("TOKEN_ALREADY_USED", CALL, token)


@pytest.mark.parametrize(
    "changed",
    [
        '[[rule]]\nname = "more"\ndecision = "confirm"\noperations = "delete_*"',
        "[confirmation]\nclock_skew_seconds = 31",
        '[danger."delete_*"]\nlevel = "destructive"\nreasons = ["It is gone"]',
        '[[rule]]\nname = "less"\ndecision = "allow"',
    ],
    ids=["a rule more", "another setting", "a reason more", "a rule that allows"],
)
async def test_a_token_is_refused_under_another_policy(store: SqlStore, changed: str) -> None:
    before = Shop(store)
    token = await before.token("delete_thing", CALL)
    after = Shop(store, changed, clock=before.clock)
    error = await after.refused("TOKEN_SCOPE_MISMATCH", CALL, token, session=before.session)
    assert error["details"]["differs_in"] == ["policy"]
    assert (await before.call("delete_thing", CALL, token=token))["success"]


async def test_the_same_policy_in_another_file_is_the_same(store: SqlStore) -> None:
    before = Shop(store, "[confirmation]\nclock_skew_seconds = 10")
    after = Shop(store, "# The same.\nconfirmation = {clock_skew_seconds = 10.0}")
    token = await before.token("delete_thing", CALL)
    assert (await after.call("delete_thing", CALL, token=token, session=before.session))["success"]


async def test_a_token_is_refused_under_another_trust(store: SqlStore) -> None:
    before = Shop(store, trust=Trust.VALIDATED)
    token = await before.token("delete_thing", CALL)
    after = Shop(store, trust=Trust.CERTIFIED, clock=before.clock)
    error = await after.refused("TOKEN_SCOPE_MISMATCH", CALL, token, session=before.session)
    assert error["details"]["differs_in"] == ["policy"]
    assert (await after.call("delete_thing", CALL))["success"], "it needs no token now"


async def test_a_token_is_no_way_around_a_denial(store: SqlStore) -> None:
    before = Shop(store)
    token = await before.token("delete_thing", CALL)
    after = Shop(store, trust=Trust.GENERATED)
    assert (
        await after.code("delete_thing", CALL, token=token, session=before.session) == "PERMISSION_DANGER_LEVEL_DENIED"
    )
    assert (before.ran, after.ran) == ([], [])
