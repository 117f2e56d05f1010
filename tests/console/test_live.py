"""News for open pages: an event when something has changed, none when nothing has, and an end with the session."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import pytest
from starlette.requests import Request

from headgate import Caller, Session
from headgate.console.doors import Visit
from headgate.console.pages import live
from headgate.console.signing_in import find_operator, is_signed_in, sign_out
from headgate.executions import persons
from headgate.protocol.lifecycle import State
from headgate.safety.approvals import approve, turn_down
from headgate.safety.loop.persons import show_code
from headgate.store.executions import Progress
from headgate.store.interface import Store
from tests.console.desks import Browser, Desk, desk, dumped
from tests.executions.books import brought, running
from tests.safety.supervising import HARMLESS
from tests.server.processes import PATIENCE

pytestmark = pytest.mark.anyio

Action = Callable[[], Awaitable[object]]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_SECONDS_BETWEEN_LOOKS", 0.0)


async def visit_of(at: Desk, browser: Browser) -> Visit:
    operator = await find_operator(at.store, browser.cookie, at.clock)
    assert operator
    return Visit(Request({"type": "http", "headers": []}), operator, {})


async def nothing() -> None:
    """Nothing happens."""


async def heard(
    at: Desk, browser: Browser, monkeypatch: pytest.MonkeyPatch, *actions: Action
) -> list[tuple[int, str, str]]:
    """At which look there was an event, which, and what it told; before each look something is done."""
    left = list(actions)
    count = 0

    async def signed_in(*_: Any) -> bool:
        nonlocal count
        if not left:
            return False
        await left.pop(0)()
        count += 1
        return True

    monkeypatch.setattr(live, "is_signed_in", signed_in)
    return [
        (count, str(event.event), str(event.data))
        async for event in live._news(at.console, await visit_of(at, browser))
    ]


async def looks(at: Desk, browser: Browser, monkeypatch: pytest.MonkeyPatch, *actions: Action) -> list[tuple[int, str]]:
    """The same where nothing is told but that something has changed."""
    found = await heard(at, browser, monkeypatch, *actions)
    assert {event for _, event, _ in found} == {"changed"}
    return [(look, told) for look, _, told in found]


async def test_the_first_event_comes_at_once_and_then_none_while_nothing_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with desk() as at:
        browser = await at.operator()
        assert [look for look, _ in await looks(at, browser, monkeypatch, *[nothing] * 12)] == [1]


async def test_whatever_a_page_shows_is_told_when_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as at:
        browser = await at.operator()
        first, second = await at.asked(), await at.asked("delete_label", {"number": 2})
        paused = await at.paused()
        challenge = await at.stopped()

        async def time_out() -> None:
            at.clock.move(301)

        actions: list[Action] = [
            lambda: approve(at.store, first, "ana", at.clock),
            lambda: turn_down(at.store, second, "ana", at.clock),
            lambda: show_code(at.store, challenge.id, "console", "ana", at.clock),
            lambda: at.step(HARMLESS),
            lambda: at.operator("bo"),
            lambda: at.asked("delete_label", {"number": 3}, caller=Caller(subject="cy"), session=Session()),
            time_out,
            lambda: approve(at.store, paused.approval_id, "ana", at.clock),
        ]
        script = [nothing, *(one for action in actions for one in (action, nothing))]
        told = await looks(at, browser, monkeypatch, *script)
        assert [look for look, _ in told] == [1, *range(2, 2 * len(actions) + 1, 2)]
        assert len({state for _, state in told}) == len(told)
        assert {len(state) for _, state in told} == {16}, "nothing follows from it"


async def test_requests_are_told_but_not_each_of_them_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as at:
        browser = await at.operator()

        async def ask() -> None:
            await at.call("get_nothing")

        script: list[Action] = [nothing, ask, ask, ask, nothing, nothing, ask, nothing, nothing, nothing, nothing]
        assert [look for look, _ in await looks(at, browser, monkeypatch, *script)] == [1, 5, 10]


async def test_a_page_that_asks_for_itself_anew_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as at:
        browser = await at.operator()
        approval = await at.asked("delete_old", {"before": "2020"})
        paused, challenge = await at.paused(), await at.stopped()
        execution = await running(at.ledger)
        pages = [
            "/",
            "/approvals",
            f"/approvals/{approval}",
            f"/approvals/{paused.approval_id}",
            "/codes",
            f"/codes/{challenge.id}",
            "/agents",
            "/agent?name=bot",
            "/executions",
            f"/execution?id={execution.id}",
            "/audit",
            "/operations",
            "/operations/delete_old",
        ]
        before = await dumped(at.store)

        def refreshing(path: str) -> Action:
            return lambda: browser.get(path, x_headgate_refresh="1")

        told = await looks(at, browser, monkeypatch, nothing, *map(refreshing, pages), *[nothing] * 10)
        assert [look for look, _ in told] == [1], "or an open page would keep itself and all others busy for ever"
        assert await dumped(at.store) == before
        assert at.made == []
        await browser.get(f"/approvals/{approval}")
        assert await dumped(at.store) != before, "somebody who opens the page makes a dry run, which is written down"


async def test_without_metrics_there_is_nothing_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(has_engine=False) as at:
        browser = await at.operator()
        assert [look for look, _ in await looks(at, browser, monkeypatch, *[nothing] * 11)] == [1]


@pytest.mark.parametrize("end", ["sign out", "time", "closing"])
async def test_it_ends_with_the_session_and_with_the_server(end: str) -> None:
    async with desk() as at:
        visit = await visit_of(at, await at.operator())
        news = live._news(at.console, visit)
        assert (await anext(news)).event == "changed"
        match end:
            case "sign out":
                await sign_out(at.store, visit.operator, at.clock)
            case "time":
                at.clock.move(12 * 3600)
            case _:
                at.console.closing.set()
        with anyio.fail_after(PATIENCE):
            assert [event async for event in news] == []
        assert await is_signed_in(at.store, visit.operator, at.clock) is (end == "closing")


async def test_it_waits_between_two_looks_until_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_SECONDS_BETWEEN_LOOKS", 3600.0)
    async with desk() as at:
        news = live._news(at.console, await visit_of(at, await at.operator()))
        await anext(news)
        rest: list[object] = []

        async def listen() -> None:
            rest.extend([event async for event in news])

        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listen)
                await anyio.wait_all_tasks_blocked()
                at.console.closing.set()
        assert rest == []


async def test_what_waits_is_read_only_when_there_is_something_new(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls of a megabyte each may wait, and pages may be open all day."""
    at = Desk(store)
    browser = await at.operator()
    await at.asked()
    await at.stopped()
    kinds: list[str] = []
    listed = store.list

    async def counted(kind: str, **more: Any) -> Any:
        kinds.append(kind)
        return await listed(kind, **more)

    monkeypatch.setattr(store, "list", counted)
    assert len(await looks(at, browser, monkeypatch, *[nothing] * 50)) == 1
    assert kinds.count("grant") == kinds.count("challenge") == 2, "up to the end of each list, once"


async def test_what_time_alone_ends_is_told_one_after_the_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    at = Desk(store)
    browser = await at.operator()
    await at.asked()
    await at.stopped()

    async def later() -> None:
        at.clock.move(100)

    told = await looks(at, browser, monkeypatch, nothing, *[later] * 12)
    assert [look for look, _ in told] == [1, 4, 10], "a challenge ends after 300 seconds, an approval after 900"


# executions, which go on without the audit


async def events(at: Desk, browser: Browser, monkeypatch: pytest.MonkeyPatch, *actions: Action) -> list[str]:
    """What was told at each look: that something has changed, that executions have got on, or nothing."""
    told = {look: event for look, event, _ in await heard(at, browser, monkeypatch, *actions)}
    return [told.get(look, "") for look in range(1, len(actions) + 1)]


async def test_that_an_execution_gets_on_is_told_and_so_is_what_becomes_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as at:
        browser = await at.operator()
        execution = await running(at.ledger)

        def noting(*progress: Any) -> Action:
            return lambda: at.ledger.note([(execution.run, Progress(*progress))])

        script: Mapping[Action, str] = {
            nothing: "changed",
            noting(1, 4, "one"): "moved",
            noting(1, 4, "two"): "moved",
            noting(1, 5, "two"): "moved",
            noting(2, 5, "two"): "moved",
            noting(2, 5, "two"): "",
            lambda: running(at.ledger): "changed",
            noting(3, 5, "two"): "moved",
            lambda: at.ledger.ask_to_stop(execution.id, "bo"): "changed",
            lambda: at.ledger.stuck(execution.run): "changed",
            lambda: at.ledger.cancel(execution): "changed",
            noting(4, 5, "two"): "",
        }
        assert await events(at, browser, monkeypatch, *script) == list(script.values())


async def test_what_starts_while_nothing_runs_is_told_soon_even_if_it_has_ended_by_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with desk() as at:
        browser = await at.operator()

        async def brief() -> None:
            await brought(at.ledger, State.COMPLETED)

        script = [nothing, brief, nothing, nothing, nothing, lambda: running(at.ledger), nothing, nothing, nothing]
        told = await events(at, browser, monkeypatch, *script)
        assert told == ["changed", "", "", "changed", "", "", "changed", "", ""]


async def test_what_an_operator_decides_about_an_execution_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as at:
        browser = await at.operator()
        failed = await brought(at.ledger, State.FAILED)

        async def retry() -> None:
            assert await persons.retry(at.store, failed.id, "ana", at.clock)

        assert await events(at, browser, monkeypatch, nothing, retry, nothing) == ["changed", "changed", ""]


async def test_executions_are_looked_at_less_often_while_none_is_unfinished(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk() as at:
        browser = await at.operator()
        looked = 0

        async def counted(store: Store) -> persons.Signs:
            nonlocal looked
            looked += 1
            return await persons.signs(store)

        monkeypatch.setattr(live, "signs", counted)
        await heard(at, browser, monkeypatch, *[nothing] * 12)
        assert looked == 4
        await running(at.ledger)
        await heard(at, browser, monkeypatch, *[nothing] * 12)
        assert looked == 4 + 12
