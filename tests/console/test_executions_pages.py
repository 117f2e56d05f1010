"""Executions in the console: how far each is, what came of it, and how a person stops one or has it begin anew."""

import json
import re
import sys
from asyncio import CancelledError
from html import unescape
from typing import Annotated, Any

import anyio
import httpx2
import pytest

from headgate import Adapter, AqlError, Background, Caller, Context, Danger, DangerLevel, Param
from headgate.executions.service import Executions
from headgate.protocol.errors import ErrorDetail
from headgate.protocol.lifecycle import STATES, State
from headgate.store.executions import Execution, Progress
from tests.console.desks import Browser, Desk, desk, dumped, text_of
from tests.executions.books import WORKER, brought, found, named, reached, result, running, until
from tests.safety.guarding import code_of

pytestmark = pytest.mark.anyio

SAFE = Danger(DangerLevel.SAFE)
HIDDEN = "hunter2"
ANA = Caller(subject="ana", client_id="desk")


class Workshop:
    """An adapter whose work goes on when it is told to."""

    def __init__(self) -> None:
        self.adapter = adapter = Adapter("workshop", "Where things take long")
        self.go = anyio.Event()
        self.works = True
        self.stopped = 0

        @adapter.execute(background=Background(cleanup=2.5), danger=SAFE)
        async def execute_report(
            ctx: Context, name: str, password: Annotated[str, Param(sensitive=True)] = ""
        ) -> list[str]:
            """Write a report."""
            await ctx.progress(1, 4, f"reading {name}")
            try:
                await self.go.wait()
            except CancelledError:
                self.stopped += 1
                raise
            ctx.warn("HALF_READ_WARNING", "Some pages were torn")
            return [name] * 30

        @adapter.execute(background=True, danger=SAFE)
        async def execute_forge(heat: int) -> int:
            """Forge something, if the fire burns."""
            if not self.works:
                raise AqlError("CONFLICT_FIRE_OUT", "The fire is out", {"heat": heat})
            return heat

    async def started(self, at: Desk, operation: str, **params: object) -> str:
        """The id of work that a caller has started."""
        envelope = await at.call(operation, params, caller=ANA)
        assert not code_of(envelope), envelope
        return str(envelope["data"]["execution_id"])


def rows_of(page: httpx2.Response) -> list[str]:
    """The rows of the table, as a person reads them."""
    found = re.findall(r"<tr[^>]*>(.*?)</tr>", page.text.partition("<tbody>")[2].partition("</tbody>")[0], re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]*>", " ", row)).split()) for row in found]


def nav_of(page: httpx2.Response) -> str:
    [entry, *_] = re.findall(r'<a href="/executions"[^>]*>(.*?)</a>', page.text, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", entry)).split())


def fact(page: httpx2.Response, name: str) -> str | None:
    """What stands beside a name in the list of facts."""
    told = re.search(rf"<dt>{name}</dt><dd[^>]*>(.*?)</dd>", page.text, re.DOTALL)
    return None if told is None else " ".join(unescape(re.sub(r"<[^>]*>", " ", told[1])).split())


def decide(page: httpx2.Response) -> str:
    return text_of(page).partition(" Decide ")[2].strip()


async def looked_at(browser: Browser, execution: Execution | str) -> httpx2.Response:
    page = await browser.get(f"/execution?id={execution if isinstance(execution, str) else execution.id}")
    assert page.status_code == 200
    return page


# the list


async def test_where_nothing_has_run_it_says_so() -> None:
    async with desk() as at:
        browser = await at.operator()
        page = await browser.get("/executions")
        assert rows_of(page) == ["Nothing has run in the background yet."]
        assert nav_of(page) == "Executions"
        assert rows_of(await browser.get("/executions?show=unfinished")) == ["Nothing is unfinished."]
        assert rows_of(await browser.get("/executions?before=exec_1")) == ["No more."]
        assert "Nothing runs in the background." in text_of(await browser.get("/"))


@pytest.mark.parametrize("state", State)
async def test_each_is_listed_with_its_exact_state_and_counted_while_it_is_unfinished(state: State) -> None:
    async with desk() as at:
        browser = await at.operator()
        execution = await brought(at.ledger, state)
        page = await browser.get("/executions")
        [row] = rows_of(page)
        assert row.startswith(f"execute_report library {state.value} ")
        assert f'href="/execution?id={execution.id}"' in page.text
        assert (
            nav_of(page)
            == {
                True: "Executions",
                False: f"Executions 1 unfinished{', 1 stuck' if state is State.STUCK else ''}",
            }[state.is_terminal]
        )
        assert len(rows_of(await browser.get("/executions?show=unfinished"))) == 1
        unfinished = text_of(await browser.get("/executions?show=unfinished"))
        assert ("execute_report" in unfinished) is not state.is_terminal
        assert fact(await looked_at(browser, execution), "State") == f"{state.value} {STATES[state].meaning}"


@pytest.mark.parametrize(
    ("progress", "bar", "words"),
    [
        (Progress(1, 3, "page 1"), 'max="100" value="33.3"', "33.3 % page 1"),
        (Progress(2, 2), 'max="100" value="100.0"', "100 %"),
        (Progress(5, 2), 'max="100" value="100.0"', "100 %"),
        (Progress(-5, 2), 'max="100" value="0.0"', "0 %"),
        (Progress(1234567.0), 'max="100"', "1,234,567 done"),
        (Progress(3, 0, "so far"), 'max="100"', "3 done so far"),
        (Progress(message="just begun"), 'max="100"', "just begun"),
        (Progress(), 'max="100"', ""),
    ],
)
async def test_a_bar_tells_how_far_it_is(progress: Progress, bar: str, words: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        execution = await running(at.ledger, created_at=at.clock(), owner='["ana","desk"]')
        await at.ledger.note([(execution.run, progress)])
        at.clock.move(120)
        page = await browser.get("/executions")
        assert f'<progress {bar} aria-label="Progress of execute_report"></progress>' in page.text
        assert rows_of(page) == [
            " ".join(f"execute_report library running {words} ana via desk began 2 min ago".split())
        ]
        one = await looked_at(browser, execution)
        assert f"<progress {bar} " in one.text
        assert fact(one, "Progress") == words
        assert f"<progress {bar} " in (await browser.get("/")).text


async def test_the_list_tells_of_each_what_a_person_wants_to_know_next() -> None:
    async with desk() as at:
        browser = await at.operator()
        limited = Background(concurrency=1)
        now: dict[str, Any] = {"created_at": at.clock()}
        first = await running(at.ledger, limited, operation="execute_import", **now)
        await brought(at.ledger, State.PENDING, limited, operation="execute_import", **now)
        await brought(at.ledger, State.PENDING, operation="execute_soon", **now)
        failing = await running(at.ledger, Background(retries=1), operation="execute_flaky", **now)
        await at.ledger.again(failing, ErrorDetail("INTERNAL_TIMEOUT", "It took too long"), at.clock() + 90)
        await brought(at.ledger, State.RETRYING, operation="execute_again", **now)
        ending = await running(at.ledger, operation="execute_done", **now)
        at.clock.move(75)
        await at.ledger.complete(ending, result({"pages": 3}))
        broken = await running(at.ledger, operation="execute_broken", **now)
        await at.ledger.note([(broken.run, Progress(1, 2, "half"))])
        at.clock.move(0.5)
        await at.ledger.fail(await found(at.ledger, broken), ErrorDetail("INTERNAL_ERROR", "The shelf broke"))
        rows = {row.split()[0]: row for row in rows_of(await browser.get("/executions"))}
        assert rows["execute_import"].startswith("execute_import library running")
        assert "began 1 min ago" in rows["execute_import"]
        assert "It is about to begin. ann asked for 1 min ago" in rows["execute_soon"]
        assert "The next attempt begins in 14 s . INTERNAL_TIMEOUT It took too long" in rows["execute_flaky"]
        assert "The next attempt begins as soon as it can." in rows["execute_again"]
        assert rows["execute_done"].endswith("completed ann ended 0 s ago , took 1 min")
        assert "It had come to 50 %. INTERNAL_ERROR The shelf broke ann" in rows["execute_broken"]
        assert rows["execute_broken"].endswith("took less than 1 s")
        waiting = text_of(await browser.get("/executions?show=unfinished"))
        assert "execute_import library pending It waits for others to end." in waiting
        await at.ledger.ask_to_stop(first.id, "bo")
        rest = text_of(await browser.get("/executions?show=unfinished"))
        assert "execute_import library cancelling" in rest
        assert "execute_done" not in rest


async def test_what_is_unfinished_stands_above_whatever_is_newer_and_the_rest_follows_page_by_page() -> None:
    async with desk() as at:
        browser = await at.operator()
        old = await running(at.ledger, operation="execute_old")
        ended = [await brought(at.ledger, State.CANCELLED, operation=f"execute_{number}") for number in range(101)]
        newest = ended[::-1]

        page = await browser.get("/executions")
        shown = re.findall(r"/execution\?id=(exec_\d+)", page.text)
        assert shown == [old.id, *(one.id for one in newest[:50])]
        [older] = re.findall(r'href="([^"]*)">Older ones', page.text)
        page = await browser.get(older)
        assert re.findall(r"/execution\?id=(exec_\d+)", page.text) == [one.id for one in newest[50:100]]
        [older] = re.findall(r'href="([^"]*)">Older ones', page.text)
        page = await browser.get(older)
        assert re.findall(r"/execution\?id=(exec_\d+)", page.text) == [newest[100].id, old.id]
        assert "Older ones" not in page.text


async def test_of_many_that_are_unfinished_the_overview_shows_some_and_leads_to_all() -> None:
    async with desk() as at:
        browser = await at.operator()
        made = [await running(at.ledger, operation=f"execute_{number}") for number in range(51)]
        overview = await browser.get("/")
        assert [f"execute_{number}" for number in range(50, 44, -1)] == re.findall(r">(execute_\d+)</a>", overview.text)
        [link] = re.findall(r'href="(/executions\?show=unfinished)">All 51 that are unfinished', overview.text)
        page = await browser.get(link)
        assert len(rows_of(page)) == 50
        [older] = re.findall(r'href="([^"]*)">Older ones', page.text)
        [last] = rows_of(await browser.get(unescape(older)))
        assert last.startswith("execute_0 ")
        for one in made[1:]:
            await at.ledger.cancel(one)
        assert "that are unfinished" not in (await browser.get("/")).text


@pytest.mark.parametrize("query", ["before=%00", "before=%ff", "before=" + "a" * 5000, "show=%00", "show=all&before="])
async def test_an_odd_question_is_answered_as_if_nothing_had_been_said(query: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        await running(at.ledger)
        assert len(rows_of(await browser.get(f"/executions?{query}"))) == 1


# one of them


async def test_one_is_shown_with_all_that_is_known_of_it_but_its_secrets() -> None:
    shop = Workshop()
    async with desk(adapter=shop.adapter) as at:
        assert at.executions
        browser = await at.operator()
        started = await shop.started(at, "execute_report", name="the harvest", password=HIDDEN)
        await until(lambda: _is_noted(at, started), "that its progress is written down")
        at.clock.move(60)
        page = await looked_at(browser, started)
        assert "<h1" in page.text
        assert fact(page, "Progress") == "25 % reading the harvest"
        assert fact(page, "Started by") == "ana via desk , 1 min ago"
        assert fact(page, "Began") == "1 min ago"
        assert fact(page, "Attempts") == "1"
        worker = fact(page, "Worker")
        assert worker
        assert worker.startswith(f"{at.executions.host.id} , process {at.executions.host.worker.pid} on ")
        assert fact(page, "Adapter") == "workshop"
        assert fact(page, "Id") == started
        for name in ("Ended", "Error", "Told to stop", "Forgotten"):
            assert fact(page, name) is None
        arguments = re.search(r'<pre class="arguments"[^>]*>(.*?)</pre>', page.text, re.DOTALL)
        assert arguments
        assert json.loads(unescape(arguments[1]))["name"] == "the harvest"
        assert HIDDEN not in page.text
        assert 'class="result"' not in page.text

        shop.go.set()
        await reached(at.ledger, await found(at.ledger, started), State.COMPLETED)
        page = await looked_at(browser, started)
        assert fact(page, "Ended") == "0 s ago , after 1 min"
        assert fact(page, "Forgotten") == "in 7 d"
        assert fact(page, "Progress") == "reading the harvest"
        text = text_of(page)
        assert "30 items, 419 characters of JSON; the first 20:" in text
        preview = re.search(r'<pre class="result"[^>]*>(.*?)</pre>', page.text, re.DOTALL)
        assert preview
        assert json.loads(unescape(preview[1])) == ["the harvest"] * 20
        assert "HALF_READ_WARNING Some pages were torn" in text
        assert decide(page) == "It has ended, and stays as it is."


async def test_of_an_argument_that_is_very_long_only_the_beginning_is_kept_to_be_shown() -> None:
    shop = Workshop()
    async with desk(adapter=shop.adapter) as at:
        shop.go.set()
        started = await shop.started(at, "execute_report", name="n" * 30_000)
        page = await looked_at(await at.operator(), started)
        assert f'"name": "{"n" * 1000}… (30000 characters)"' in unescape(page.text)


async def _is_noted(at: Desk, execution: str) -> bool:
    return (await found(at.ledger, execution)).message is not None


@pytest.mark.parametrize(
    ("data", "said", "shown"),
    [
        ([], "0 items, 0 characters of JSON.", "[]"),
        (["a"], "1 item, 3 characters of JSON.", '[\n  "a"\n]'),
        (None, "4 characters of JSON.", "null"),
        (0, "1 characters of JSON.", "0"),
        ({"a": 1}, "7 characters of JSON.", '{\n  "a": 1\n}'),
        ("x" * 300_000, "300,002 characters of JSON; these are the first 4,000:", '"' + "x" * 3999),
    ],
    ids=["no items", "one item", "nothing", "a number", "an object", "a long text"],
)
async def test_a_result_is_told_by_its_size_and_shown_as_far_as_there_is_room(
    data: object, said: str, shown: str
) -> None:
    async with desk() as at:
        browser = await at.operator()
        execution = await running(at.ledger)
        await at.ledger.complete(execution, result(data))
        page = await looked_at(browser, execution)
        assert f"<p>{said}</p>" in page.text
        [preview] = re.findall(r'<pre class="result"[^>]*>(.*?)</pre>', page.text, re.DOTALL)
        assert unescape(preview) == shown


async def test_a_preview_of_large_items_ends_and_says_so() -> None:
    async with desk() as at:
        browser = await at.operator()
        execution = await running(at.ledger)
        await at.ledger.complete(execution, result(["y" * 2000] * 25))
        page = await looked_at(browser, execution)
        assert "25 items, 50,074 characters of JSON; the first 20:" in text_of(page)
        assert "NOT ALL IS SHOWN: these are 20,000 of" in page.text
        assert len(page.text) < 40_000


async def test_an_error_is_shown_with_its_details_and_with_how_often_it_was_tried() -> None:
    async with desk() as at:
        browser = await at.operator()
        background = Background(retries=3, timeout=600, interrupted="resume")
        await at.ledger.beat(named(WORKER))
        execution = await running(at.ledger, background)
        await at.ledger.leave(WORKER)
        again = await at.ledger.begin(execution.id, "work_b")
        assert again
        page = await looked_at(browser, execution)
        attempts = "2; after a failure, up to 3 more; interrupted 1 time; each may take 10 min"
        assert fact(page, "Attempts") == attempts
        assert fact(page, "Worker") == "work_b", "of a process that nobody knows there is only the name"
        await at.ledger.again(again, ErrorDetail("INTERNAL_ERROR", "The shelf broke", {"shelf": 7}), at.clock() + 9)
        page = await looked_at(browser, execution)
        assert fact(page, "Progress") == "The next attempt begins in 9 s ."
        assert str(fact(page, "Last error")).startswith("INTERNAL_ERROR The shelf broke Details")
        assert '"shelf": 7' in unescape(page.text)
        third = await at.ledger.begin(execution.id, "work_b")
        assert third
        await at.ledger.fail(third, ErrorDetail("INTERNAL_TIMEOUT", "It took too long"))
        page = await looked_at(browser, execution)
        assert fact(page, "Error") == "INTERNAL_TIMEOUT It took too long"
        assert fact(page, "Last error") is None


async def test_one_that_is_stuck_is_shown_as_such_wherever_it_is_with_the_process_that_must_end() -> None:
    async with desk() as at:
        browser = await at.operator()
        await running(at.ledger)
        await at.ledger.beat(named(WORKER, place="barn 4026531836", pid=4711))
        stuck = await brought(at.ledger, State.STUCK)
        listed = await browser.get("/executions")
        assert nav_of(listed) == "Executions 2 unfinished, 1 stuck"
        assert '<span class="count">2<span class="unseen">' in listed.text
        assert listed.text.count('<tr class="stuck">') == listed.text.count('<tr class="unfinished">') == 1
        assert '<li class="card danger">' in (await browser.get("/")).text
        page = await looked_at(browser, stuck)
        assert "It does not stop" in text_of(page)
        assert "To end it, end or restart process 4711 on barn , which works on it." in text_of(page)
        assert decide(page).startswith("It was told to stop, and does not")
        before = await dumped(at.store)
        answer = await browser.post("/execution/cancel", {"id": stuck.id})
        assert answer.status_code == 409
        assert "It has been told to stop already: nothing was changed." in text_of(answer)
        assert await dumped(at.store) == before


async def test_what_a_dead_process_has_left_is_settled_before_it_is_shown() -> None:
    gone = await anyio.open_process([sys.executable, "-c", ""])
    await gone.wait()
    await gone.aclose()
    async with desk() as at:
        browser = await at.operator()
        place = Executions("library", at.store).host.worker.place
        await at.ledger.beat(named(WORKER, place=place, pid=gone.pid))
        execution = await running(at.ledger)
        page = await looked_at(browser, execution)
        assert str(fact(page, "Error")).startswith("INTERNAL_INTERRUPTED")
        assert nav_of(page) == "Executions"


@pytest.mark.parametrize(
    "asked", ["", "?id=", "?id=nothing", "?id=%00", "?id=%ff", "?id=%E2%80%AE", "?id=" + "a" * 5000, "?id=%0d%0a"]
)
async def test_there_is_no_page_for_what_is_no_execution(asked: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        await running(at.ledger)
        assert (await browser.get(f"/execution{asked}")).status_code == 404
        form = dict(httpx2.QueryParams(asked.removeprefix("?")))
        before = await dumped(at.store)
        for path in ("/execution/cancel", "/execution/retry"):
            answer = await browser.post(path, form)
            assert answer.status_code == 404
            assert "There is no such execution." in text_of(answer)
        assert await dumped(at.store) == before


# cancelling


async def test_a_person_cancels_what_runs_and_the_work_hears_of_it() -> None:
    shop = Workshop()
    async with desk(adapter=shop.adapter) as at:
        browser = await at.operator("bo")
        started = await shop.started(at, "execute_report", name="x")
        await until(lambda: _is_noted(at, started), "that it has begun")
        page = await looked_at(browser, started)
        assert decide(page) == "If it is cancelled, it has 2.5 seconds to clean up. Cancel it"
        answer = await browser.post("/execution/cancel", {"id": started})
        assert (answer.status_code, answer.headers["location"]) == (303, f"/execution?id={started}")
        await reached(at.ledger, await found(at.ledger, started), State.CANCELLED)
        assert shop.stopped == 1
        page = await looked_at(browser, started)
        assert fact(page, "Told to stop") == "0 s ago , by bo"
        assert fact(page, "Progress") == "It had come to 25 %. reading x"
        [entry] = [one for one in await at.audit() if one.event == "cancelled"]
        assert (entry.caller, entry.operation, entry.details) == ("bo", "execute_report", {"execution_id": started})
        [row] = rows_of(await browser.get("/audit?event=cancelled"))
        assert row.endswith("bo")


@pytest.mark.parametrize("state", [State.PENDING, State.RETRYING])
async def test_what_nobody_works_on_is_cancelled_at_once(state: State) -> None:
    async with desk() as at:
        browser = await at.operator()
        execution = await brought(at.ledger, state)
        assert decide(await looked_at(browser, execution)).startswith("If it is cancelled, it ends at once.")
        assert (await browser.post("/execution/cancel", {"id": execution.id})).status_code == 303
        assert (await found(at.ledger, execution)).state is State.CANCELLED


async def test_who_cancels_a_second_time_is_told_that_it_is_on_its_way() -> None:
    async with desk() as at:
        browser = await at.operator()
        execution = await running(at.ledger, Background(cleanup=4))
        assert (await browser.post("/execution/cancel", {"id": execution.id})).status_code == 303
        page = await looked_at(browser, execution)
        assert decide(page) == "It was told to stop. If it does not within 4 seconds, it counts as stuck."
        before = await dumped(at.store)
        answer = await browser.post("/execution/cancel", {"id": execution.id})
        assert answer.status_code == 409
        assert "It has been told to stop already: nothing was changed." in text_of(answer)
        assert f'data-live="/execution?id={execution.id}"' in answer.text, "or it would not know what to ask for anew"
        assert await dumped(at.store) == before


@pytest.mark.parametrize("state", [State.COMPLETED, State.FAILED, State.CANCELLED])
async def test_what_has_ended_cannot_be_cancelled(state: State) -> None:
    async with desk() as at:
        browser = await at.operator()
        execution = await brought(at.ledger, state)
        before = await dumped(at.store)
        answer = await browser.post("/execution/cancel", {"id": execution.id})
        assert answer.status_code == 409
        assert "It has ended, so there is nothing to cancel." in text_of(answer)
        assert "Cancel it" not in answer.text
        assert await dumped(at.store) == before


async def test_of_two_who_cancel_and_retry_at_once_each_does_so_once() -> None:
    async with desk() as at:
        browsers = [await at.operator(name) for name in ("ana", "bo")]
        execution = await brought(at.ledger, State.FAILED)
        answers: list[int] = []

        async def retry(browser: Browser) -> None:
            answers.append((await browser.post("/execution/retry", {"id": execution.id})).status_code)

        async with anyio.create_task_group() as tasks:
            for browser in browsers:
                tasks.start_soon(retry, browser)
        assert sorted(answers) == [303, 409]


# retrying


async def test_a_person_has_what_failed_begin_anew_and_it_succeeds() -> None:
    shop = Workshop()
    shop.works = False
    async with desk(adapter=shop.adapter) as at:
        browser = await at.operator("bo")
        started = await shop.started(at, "execute_forge", heat=900)
        await reached(at.ledger, await found(at.ledger, started), State.FAILED)
        page = await looked_at(browser, started)
        assert str(fact(page, "Error")).startswith("CONFLICT_FIRE_OUT The fire is out Details")
        assert decide(page) == "If it is retried, it begins anew, with the same arguments. Retry it"
        shop.works = True
        answer = await browser.post("/execution/retry", {"id": started})
        assert (answer.status_code, answer.headers["location"]) == (303, f"/execution?id={started}")
        await reached(at.ledger, await found(at.ledger, started), State.COMPLETED)
        page = await looked_at(browser, started)
        assert fact(page, "Error") is None
        assert fact(page, "Attempts") == "2"
        assert "3 characters of JSON." in text_of(page)
        [entry] = [one for one in await at.audit() if one.event == "retried"]
        assert (entry.caller, entry.details) == ("bo", {"execution_id": started})


@pytest.mark.parametrize("state", [one for one in State if one is not State.FAILED])
async def test_only_what_has_failed_is_retried(state: State) -> None:
    async with desk() as at:
        browser = await at.operator()
        execution = await brought(at.ledger, state)
        before = await dumped(at.store)
        answer = await browser.post("/execution/retry", {"id": execution.id})
        assert answer.status_code == 409
        assert "It cannot be retried: nothing was changed." in text_of(answer)
        assert "Retry it" not in answer.text
        assert await dumped(at.store) == before


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"background": Background(retry=False)}, "its operation does not allow that. Start it anew."),
        ({"hides": True}, "some of its arguments are secret, and those are not kept. Start it anew."),
    ],
    ids=["an author who does not allow it", "secrets"],
)
async def test_where_it_cannot_be_retried_the_page_says_why(more: dict[str, Any], words: str) -> None:
    async with desk() as at:
        browser = await at.operator()
        execution = await brought(at.ledger, State.FAILED, **more)
        page = await looked_at(browser, execution)
        assert decide(page) == f"It cannot be retried: {words}"
        assert (await browser.post("/execution/retry", {"id": execution.id})).status_code == 409


async def test_without_an_engine_executions_are_shown_and_stopped_too() -> None:
    async with desk(has_engine=False) as at:
        browser = await at.operator()
        execution = await running(at.ledger)
        assert "execute_report" in text_of(await browser.get("/executions"))
        assert (await browser.post("/execution/cancel", {"id": execution.id})).status_code == 303
        assert (await found(at.ledger, execution)).state is State.CANCELLING
