"""Each source is guarded by its own trust, policy and limits; what is ruled of one is nothing to the others."""

import tomllib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from headgate.adapter.context import Session
from headgate.engine.pipeline import Engine
from headgate.protocol.categories import Category
from headgate.protocol.danger import Trust
from headgate.safety.policy.checking import check_policy
from headgate.safety.policy.reading import PolicyError, policy_from
from headgate.safety.policy.rules import Policy
from headgate.server.settings import SettingError, Settings
from headgate.sources.gate.assembly import Piece, assembled
from headgate.store.interface import Store
from headgate.store.opening import open_store
from tests.engine.asking import answer, ask
from tests.sources.gate.pieces import adapter, operation

pytestmark = pytest.mark.anyio

DELETES = (operation("delete_x", Category.DELETE), operation("list_x"))
WHOLE = assembled("gate", [Piece(one, adapter(one, *DELETES)) for one in ("a", "b")])


def policy(toml: str = "", **parts: str) -> Policy:
    top = policy_from(tomllib.loads(toml), "policy") if toml else Policy()
    return replace(top, parts=tuple((name, policy_from(tomllib.loads(text), name)) for name, text in parts.items()))


@asynccontextmanager
async def engine_of(store: Store | None = None, **settings: Any) -> AsyncIterator[Engine]:
    kept = store or open_store("memory:")
    await kept.open()
    yield Settings(**settings).engine(WHOLE, kept)
    await kept.close()


async def codes(engine: Engine, *names: str) -> list[str | None]:
    answers = [await ask(engine, name) for name in names]
    return [(one.get("error") or {}).get("code") for one in answers]


async def test_trust_is_each_source_s_own() -> None:
    trusts = {"a": Trust.UNTESTED, "b": Trust.CERTIFIED}
    async with engine_of(trusts=trusts) as engine:
        found = await codes(engine, "a_list_x", "a_delete_x", "b_list_x", "b_delete_x")
        assert found == ["PERMISSION_TRUST_LEVEL_INSUFFICIENT", "PERMISSION_DANGER_LEVEL_DENIED", None, None]
        told = await ask(engine, "a_list_x")
        assert told["error"]["details"]["actual_trust"] == "untested"
        danger = (await ask(engine, "introspect", query="danger"))["data"]
        assert danger["trusts"] == {"a": "untested", "b": "certified"}
        note = (await ask(engine, "introspect", query="operations", name="a_list_x"))["data"]["operation"]
        assert "trust is 'untested'" in note["description"]


async def test_a_policy_of_one_source_concerns_its_own_operations_alone() -> None:
    rules = policy(a='[[rule]]\nname = "never"\ndecision = "deny"\noperations = "list_x"\n')
    async with engine_of(policy=rules) as engine:
        assert await codes(engine, "a_list_x", "b_list_x") == ["PERMISSION_DENIED", None]
        shown = (await ask(engine, "introspect", query="policies"))["data"]["rules"]
        assert [(rule["name"], rule["source"]) for rule in shown] == [("never", "a")]


async def test_a_rule_for_all_means_an_operation_by_its_name_in_its_source_too() -> None:
    rules = policy('[[rule]]\nname = "never"\ndecision = "deny"\noperations = "list_x"\n')
    async with engine_of(policy=rules) as engine:
        assert await codes(engine, "a_list_x", "b_list_x") == ["PERMISSION_DENIED", "PERMISSION_DENIED"]


async def test_a_rule_may_name_sources() -> None:
    rules = policy('[[rule]]\nname = "never"\ndecision = "deny"\nsources = "b"\n')
    async with engine_of(policy=rules) as engine:
        assert await codes(engine, "a_list_x", "b_list_x") == [None, "PERMISSION_DENIED"]


DEFAULTS: Mapping[str, tuple[str, str, list[str | None]]] = {
    "a source denies by default": ("", 'default = "deny"', ["PERMISSION_DENIED", None]),
    "but what it allows": (
        "",
        'default = "deny"\n[[rule]]\nname = "r"\ndecision = "allow"\noperations = "list_*"\n',
        [None, None],
    ),
    "whatever is allowed for all": (
        '[[rule]]\nname = "r"\ndecision = "allow"\n',
        'default = "deny"',
        ["PERMISSION_DENIED", None],
    ),
    "all deny by default, and a source allows": (
        'default = "deny"',
        '[[rule]]\nname = "r"\ndecision = "allow"\noperations = "list_*"\n',
        [None, "PERMISSION_DENIED"],
    ),
    "a source asks by default": ("", 'default = "confirm"', ["CONFIRMATION_REQUIRED", None]),
}


@pytest.mark.parametrize(("top", "part", "found"), DEFAULTS.values(), ids=DEFAULTS)
async def test_a_default_of_one_source_counts_beside_that_of_all(top: str, part: str, found: list[str | None]) -> None:
    async with engine_of(policy=policy(top, a=part)) as engine:
        assert await codes(engine, "a_list_x", "b_list_x") == found
        shown = (await ask(engine, "introspect", query="policies"))["data"]
        assert list(shown["defaults"]) == ["a"]


async def test_limits_of_one_source_count_its_calls_alone() -> None:
    limits = '[[api_limit]]\nscope = "global"\nlimit = 1\nwindow = "day"\n'
    async with engine_of(policy=policy(a=limits, b=limits)) as engine:
        found = await codes(engine, "a_list_x", "b_list_x", "a_list_x", "b_list_x")
        assert found == [None, None, "RATE_LIMIT_EXCEEDED", "RATE_LIMIT_EXCEEDED"]
        shown = (await ask(engine, "introspect", query="quota_status"))["data"]["api_limits"]
        assert [(limit["source"], limit["remaining"]) for limit in shown] == [("a", 0), ("b", 0)]


async def test_quotas_and_prices_of_one_source_count_its_calls_alone() -> None:
    quota = (
        '[[quota]]\nmetric = "cost_per_day"\nwarn = 1\nhard_stop = 2\n'
        '[cost]\ncurrency = "EUR"\npricing = [{operations = "*", cost_per_call = 1.5}]\n'
    )
    async with engine_of(policy=policy(a=quota)) as engine:
        found = await codes(engine, "a_list_x", "a_list_x", "b_list_x", "b_list_x")
        assert found == [None, "RATE_LIMIT_QUOTA_EXHAUSTED", None, None]
        [shown] = (await ask(engine, "introspect", query="quota_status"))["data"]["quotas"]
        assert (shown["source"], shown["current"]) == ("a", 1.5)


async def test_danger_that_one_source_s_policy_declares_is_its_own() -> None:
    graver = policy(a='[danger.list_x]\nlevel = "dangerous"\n')
    async with engine_of(policy=graver) as engine:
        assert await codes(engine, "a_list_x", "b_list_x") == ["PERMISSION_DANGER_LEVEL_DENIED", None]


async def test_a_confirmation_counts_for_the_trust_of_its_source() -> None:
    store = open_store("memory:")
    await store.open()
    asking = policy('[[rule]]\nname = "ask"\ndecision = "confirm"\noperations = "delete_x"\n')
    async with engine_of(store, policy=asking, trusts={"a": Trust.VALIDATED, "b": Trust.VALIDATED}) as engine:
        later = Settings(policy=asking, trusts={"a": Trust.VALIDATED, "b": Trust.CERTIFIED}).engine(WHOLE, store)
        changed = Settings(policy=asking, trusts={"a": Trust.COMMUNITY_REVIEWED}).engine(WHOLE, store)
        assert (await _confirmed(engine, later))["success"]
        assert (await _confirmed(engine, changed))["error"]["code"] == "TOKEN_SCOPE_MISMATCH"


async def _confirmed(asking: Engine, running: Engine) -> dict[str, Any]:
    """What one engine answers to a call with the token that another has given."""
    session, request = Session(), {"operation": "a_delete_x", "params": {}}
    asked = await answer(asking, request, session=session)
    again = {**request, "params": {"confirmation_token": asked["confirmation"]["token"]}}
    return await answer(running, again, session=session)


def test_a_mistake_in_the_policy_of_a_source_is_told_with_the_source() -> None:
    wrong = policy(a='[[rule]]\nname = "r"\ndecision = "deny"\noperations = "list_y"\n')
    with pytest.raises(PolicyError, match=r"policy of source 'a': rule 1 .*no operation 'list_y'"):
        check_policy(wrong, "gate", WHOLE.operations)
    with pytest.raises(SettingError, match="policy of source 'a'"):
        Settings(policy=wrong).engine(WHOLE, open_store("memory:"))
    elsewhere = policy(c='[[rule]]\nname = "r"\ndecision = "deny"\noperations = "list_y"\n')
    assert check_policy(elsewhere, "gate", WHOLE.operations) == []


def test_a_rule_for_a_source_that_is_not_there_looks_odd() -> None:
    odd = policy('[[rule]]\nname = "r"\ndecision = "deny"\nsources = "aa"\n')
    [warning] = check_policy(odd, "gate", WHOLE.operations)
    assert "it is not for any source here" in warning


def test_two_policies_of_one_source_restrict_together() -> None:
    one = policy('default = "deny"\n[cost]\ncurrency = "EUR"\npricing = [{operations = "*", cost_per_call = 1}]\n')
    two = policy(
        '[[rule]]\nname = "r"\ndecision = "deny"\n'
        '[cost]\ncurrency = "EUR"\npricing = [{operations = "*", cost_per_call = 2}]\n'
    )
    both = one.beside(two)
    assert (both.default, len(both.rules)) == (one.default, 1)
    assert both.price(WHOLE.operations["a_list_x"]) == 1_000_000
    assert both.version != one.version


async def test_introspection_names_the_source_of_each_operation() -> None:
    async with engine_of() as engine:
        found = (await ask(engine, "introspect", query="adapter_info", name="a_list_x"))["data"]["operation"]
        assert (found["source"], found["name_in_source"]) == ("a", "list_x")
        none = (await ask(engine, "introspect", query="adapter_info", name="nothing"))["data"]
        assert none == {"operation": None}
