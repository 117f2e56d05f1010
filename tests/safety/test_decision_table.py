"""The decision table: every danger, trust, policy and caller, each with a real call. See ``decision_table``."""

from typing import Any

import pytest

from headgate import Adapter, Session
from headgate.store.sql import SqlStore
from tests.engine.asking import leaks
from tests.safety.decision_table import CALLERS, DANGERS, POLICIES, TRUSTS, Case, rendered, squares
from tests.safety.guarding import Guarded, code_of

pytestmark = pytest.mark.anyio

CALL = {"operation": "execute_work", "params": {"size": 10}}


class Work:
    """An adapter with one operation of a given danger, and how often that ran."""

    def __init__(self, danger: str) -> None:
        self.ran = 0
        self.adapter = Adapter("workshop")

        @self.adapter.execute(danger=danger)
        async def execute_work(size: int) -> str:
            """Do the work."""
            self.ran += 1
            return "done"


def words_of(cases: list[Case]) -> str:
    """What a test shows: the decision for all callers, or each that there is."""
    case, decisions = cases[0], dict.fromkeys(case.decision for case in cases)
    return f"{case.danger} operation, {case.trust} adapter, {case.demand.words} -> {' or '.join(decisions)}"


@pytest.mark.parametrize("cases", list(squares()), ids=words_of)
async def test_the_decision_is_the_most_restrictive_one(cases: list[Case], store: SqlStore) -> None:
    work = Work(cases[0].danger)
    guard = Guarded(work.adapter, store, cases[0].toml, trust=cases[0].trust)
    for case in cases:
        work.ran = 0
        envelope = await guard.ask(CALL, caller=CALLERS[case.caller])
        assert code_of(envelope) == case.code, case
        assert work.ran == (case.decision == "allow"), case
        check(envelope, case)
        if case.decision == "client":
            await confirm(envelope, case, guard)
            assert work.ran == 1, case


def check(envelope: Any, case: Case) -> None:
    """The answer has what the decision wants it to have, and nothing that gives more away."""
    if case.decision == "allow":
        assert envelope == {"success": True, "data": "done"}, case
        return
    error = envelope["error"]
    assert leaks(error["message"]) == []
    if case.decision == "client":
        assert envelope["confirmation"]["token"] == error["details"]["confirmation_token"]
        assert "approval_id" not in error["details"]
        return
    assert set(envelope) == {"success", "error"}
    assert "conf_" not in str(envelope)
    assert ("approval_id" in error["details"]) is (case.decision == "person")


async def confirm(envelope: Any, case: Case, guard: Guarded) -> None:
    """The token lets the call run once; what comes then depends on whether the confirmation is remembered."""
    token, caller = envelope["confirmation"]["token"], CALLERS[case.caller]
    assert (await guard.call("execute_work", {"size": 10}, token=token, caller=caller))["success"], case
    assert await guard.code("execute_work", {"size": 10}, token=token, caller=caller) == "TOKEN_ALREADY_USED", case


@pytest.mark.parametrize("cases", [one for one in squares() if one[0].demand.remembered], ids=words_of)
async def test_what_is_remembered_is_not_asked_again_and_only_for_its_caller(
    cases: list[Case], store: SqlStore
) -> None:
    work = Work(cases[0].danger)
    guard = Guarded(work.adapter, store, cases[0].toml, trust=cases[0].trust)
    for case in cases:
        caller = CALLERS[case.caller]
        envelope = await guard.ask(CALL, caller=caller)
        assert code_of(envelope) == case.code, case
        if case.decision == "client":
            await confirm(envelope, case, guard)
            assert (await guard.call("execute_work", {"size": 11}, caller=caller))["success"], case


@pytest.mark.parametrize("trust", TRUSTS)
@pytest.mark.parametrize(
    "policy", ['default = "deny"', '[[rule]]\nname = "no"\ndecision = "deny"'], ids=["default", "rule"]
)
async def test_introspection_is_open_whatever_is_decided(trust: str, policy: str, store: SqlStore) -> None:
    guard = Guarded(Work("forbidden").adapter, store, policy, trust=trust)
    for params in ({"query": "operations"}, {"query": "operations", "name": "execute_work"}, {"query": "danger"}):
        assert (await guard.call("introspect", params))["success"]


@pytest.mark.parametrize("danger", DANGERS)
@pytest.mark.parametrize("trust", TRUSTS)
async def test_introspection_tells_the_same_matrix(danger: str, trust: str, store: SqlStore) -> None:
    guard = Guarded(Work(danger).adapter, store, trust=trust)
    told = (await guard.call("introspect", {"query": "danger"}))["data"]
    [level] = [level for level in told["levels"] if level["level"] == danger]
    by_trust = Case(danger, trust, POLICIES[0], "ann").by_trust
    words = {"client": "confirm", "deny": "introspect_only" if danger == "safe" else "deny"}
    assert level["decisions"][trust] == words.get(by_trust, by_trust)
    [row] = told["operations"]
    assert (row["level"], row["decision"]) == (danger, {"client": "confirm"}.get(by_trust, by_trust))
    assert row["requires_confirmation"] is (by_trust == "client")


async def test_a_session_that_is_not_the_one_that_confirmed_is_asked_again(store: SqlStore) -> None:
    remembering = next(demand for demand in POLICIES if demand.remembered)
    work = Work("reversible")
    guard = Guarded(work.adapter, store, remembering.toml)
    token = await guard.token("execute_work", {"size": 10})
    assert (await guard.call("execute_work", {"size": 10}, token=token))["success"]
    assert (await guard.call("execute_work", {"size": 11}))["success"]
    assert code_of(await guard.ask(CALL, session=Session())) == "CONFIRMATION_REQUIRED"
    assert work.ran == 2


def test_the_table_can_be_read() -> None:
    text = rendered()
    assert text.startswith("Under no policy, called by anybody:\n")
    assert "  destructive         deny (danger)       deny (danger)       client              allow" in text
    assert len(text.splitlines()) > 300
