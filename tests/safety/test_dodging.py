"""Ways around a policy that are none: another spelling, another rule's confirmation, a flood of questions."""

from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import StringConstraints

from headgate import Adapter, Caller, Trust
from headgate.safety.approvals import waiting
from headgate.store.sql import SqlStore
from tests.safety.guarding import Guarded, code_of

pytestmark = pytest.mark.anyio

Env = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True)]


class Works(Guarded):
    """Work that can be done somewhere, so often."""

    def __init__(self, store: SqlStore, rules: str, **more: Any) -> None:
        self.ran: list[object] = []
        adapter = Adapter("works")

        @adapter.execute
        async def execute_work(env: Env = "test", n: int = 1, key: UUID | None = None) -> str:
            """Do work."""
            self.ran.append((env, n))
            return env

        super().__init__(adapter, store, rules, **more)

    async def does(self, **params: Any) -> str:
        return await self.code("execute_work", params)


def rule(decision: str, when: str, name: str = "r", more: str = "") -> str:
    return f'[[rule]]\nname = "{name}"\ndecision = "{decision}"\nwhen = {{ {when} }}\n{more}\n'


@pytest.mark.parametrize("env", ["production", " production", "PRODUCTION", "\tProduction\n", "pRoDuCtIoN  "], ids=repr)
async def test_a_rule_that_denies_a_value_denies_what_the_handler_would_take_for_it(store: SqlStore, env: str) -> None:
    works = Works(store, rule("deny", 'env = "production"'))
    assert await works.does(env=env) == "PERMISSION_DENIED"
    assert works.ran == []
    assert await works.does(env=" Test ") == ""
    assert works.ran == [("test", 1)]


@pytest.mark.parametrize(("env", "code"), [("test", ""), (" TEST", "PERMISSION_DENIED"), ("prod", "PERMISSION_DENIED")])
async def test_a_rule_that_allows_a_value_allows_it_as_it_stands_alone(store: SqlStore, env: str, code: str) -> None:
    works = Works(store, 'default = "deny"\n' + rule("allow", 'env = "test"'))
    assert await works.does(env=env) == code


async def test_another_spelling_of_an_id_is_the_same_id(store: SqlStore) -> None:
    key = "0f8fad5b-d9cb-469f-a165-70867728950e"
    works = Works(store, rule("deny", f'key = "{key}"'))
    assert await works.does(key=key.upper()) == "PERMISSION_DENIED"
    assert await works.does(key=key.replace("0f8f", "1f8f")) == ""


async def test_what_was_confirmed_under_one_rule_is_not_confirmed_under_another(store: SqlStore) -> None:
    remember = 'remember = "session"'
    works = Works(
        store,
        rule("confirm", "n = { lt = 100 }", "few", remember) + rule("confirm", "n = { gte = 100 }", "many", remember),
    )
    token = await works.token("execute_work", {"n": 1})
    assert (await works.call("execute_work", {"n": 1}, token=token))["success"]
    assert await works.does(n=2) == ""
    assert await works.does(n=1_000_000) == "CONFIRMATION_REQUIRED"
    assert works.ran == [("test", 1), ("test", 2)]


async def test_nobody_is_asked_about_a_call_that_could_not_run(store: SqlStore) -> None:
    limit = '[[api_limit]]\nscope = "global"\nlimit = 1\nwindow = "minute"\n'
    works = Works(store, limit + rule("confirm", "n = { gte = 10 }"))
    assert await works.does(n=1) == ""
    assert await works.does(n=10) == "RATE_LIMIT_EXCEEDED"
    assert "issued" not in await works.events()
    works.clock.move(60)
    assert await works.does(n=10) == "CONFIRMATION_REQUIRED"


async def test_one_caller_cannot_bury_what_others_ask_of_a_person(store: SqlStore) -> None:
    works = Works(store, '[[rule]]\nname = "r"\ndecision = "confirm"\nconfirm = "person"\n', trust=Trust.CERTIFIED)
    codes = [await works.does(n=number) for number in range(52)]
    assert codes == ["CONFIRMATION_REQUIRED"] * 50 + ["RATE_LIMIT_EXCEEDED"] * 2
    assert len(await waiting(works.store, works.clock())) == 50
    other = await works.call("execute_work", {"n": 99}, caller=Caller(subject="ada"))
    assert code_of(other) == "CONFIRMATION_REQUIRED"


async def test_a_person_sees_all_parameters(store: SqlStore) -> None:
    works = Works(store, '[[rule]]\nname = "r"\ndecision = "confirm"\nconfirm = "person"\n')
    env = "x" * 5000 + " and the rest"
    assert await works.does(env=env) == "CONFIRMATION_REQUIRED"
    (asked,) = await waiting(works.store, works.clock())
    assert asked.params == {"env": env}
