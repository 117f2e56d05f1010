"""Persons are told of every challenge through every channel, once; what one channel does concerns no other."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from headgate import Caller, Session
from headgate.console.channels.announcing import Announcer
from headgate.console.channels.interface import Channel, ChannelError, Notice
from headgate.console.channels.mail import Mail, MailServer
from headgate.console.channels.webhook import Webhook
from headgate.safety.loop.challenges import Challenge
from headgate.store.interface import StoreError
from headgate.store.opening import open_store
from tests.channels.mailboxes import mailbox
from tests.channels.receivers import receiving
from tests.hostile.recording import Fragments, LogLines, files_in
from tests.safety.guarding import Clock
from tests.safety.supervising import DEADLY, Supervised, supervised

pytestmark = pytest.mark.anyio


class Heard:
    """A channel that a test listens to."""

    def __init__(self, name: str = "heard", error: Exception | None = None) -> None:
        self.name = name
        self.error = error
        self.notices: list[Notice] = []
        self._new: asyncio.Queue[Notice] = asyncio.Queue()

    async def show(self, notice: Notice) -> None:
        self.notices.append(notice)
        self._new.put_nowait(notice)
        if self.error:
            raise self.error

    async def next(self) -> Notice:
        with anyio.fail_after(30):
            return await self._new.get()


class Hanging(Heard):
    """One that does not come back."""

    async def show(self, notice: Notice) -> None:
        await super().show(notice)
        await anyio.sleep_forever()


@asynccontextmanager
async def announcing(world: Supervised, *channels: Channel, **more: Any) -> AsyncIterator[Announcer]:
    """Has challenges announced while it is open."""
    announcer = Announcer(world.store, channels, world.clock, **more)
    world.loop.announce = announcer.announce
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(announcer.run)
        yield announcer
        tasks.cancel_scope.cancel()


async def blocked(world: Supervised, name: str) -> None:
    """Have an agent blocked that works in a session of its own."""
    who = {"session": Session(), "caller": Caller(subject=f"host of {name}")}
    await world.start(name, **who)
    assert (await world.step(DEADLY, name=name, **who))["stopped"] is True


def kept_channels(challenge: Challenge) -> list[str]:
    return [code.channel for code in challenge.codes]


# each channel


async def test_each_channel_shows_a_code_of_its_own_and_each_releases_the_agent(tmp_path: Path) -> None:
    """The whole way: an agent is blocked, a webhook and a mail tell of it, and the code of either counts."""
    store = open_store(str(tmp_path / "state.db"))
    world = Supervised(store)
    async with mailbox() as box, receiving() as receiver:
        hook = Webhook(receiver.address)
        mail = Mail(MailServer.read(f"smtp://127.0.0.1:{box.port}"), "ana@example.org")
        codes = []
        for way in ("webhook", "mail"):
            heard = Heard()
            async with announcing(world, hook, mail, heard, options="--state state.db"):
                await world.start(way)
                challenge = await world.blocked(name=way)
                await heard.next()
                for come in (box.come, receiver.come):
                    await asyncio.wait_for(come.wait(), 30)
                    come.clear()
            code = receiver.requests[-1].json["code"] if way == "webhook" else _code_in(box.text())
            codes += [code, heard.notices[0].code]
            assert sorted(kept_channels(await world.challenge())) == ["heard", "mail", "webhook"]
            state = files_in(tmp_path)
            assert Fragments(codes).found_in(state) == set()
            envelope = await world.verify(challenge.id, code)
            assert envelope["success"], envelope
            assert f"headgate verify {challenge.id} --state state.db" in heard.notices[0].text
            box.envelopes.clear()
            receiver.requests.clear()
    assert len(set(codes)) == 4
    await store.close()


def _code_in(text: str) -> str:
    return next(line.strip() for line in text.splitlines() if line.strip().count("-") == 6 and "verify" not in line)


async def test_a_challenge_is_announced_once_however_often_the_agent_asks() -> None:
    heard = Heard()
    async with supervised() as world, announcing(world, heard):
        await world.start()
        challenge = await world.blocked()
        assert (await heard.next()).challenge.id == challenge.id
        for _ in range(5):
            assert not (await world.report(DEADLY))["success"]
        await blocked(world, "other")
        assert (await heard.next()).challenge.name == "other"
        assert len(heard.notices) == 2


async def test_no_step_of_an_agent_waits_for_a_person_to_be_told() -> None:
    hanging = Hanging()
    async with supervised() as world, announcing(world, hanging):
        await world.start()
        await world.blocked()
        await hanging.next()
        await world.release()
        assert (await world.step())["continue"] is True


async def test_a_channel_that_hangs_keeps_no_other_waiting() -> None:
    hanging, heard = Hanging("hanging"), Heard()
    async with supervised() as world, announcing(world, hanging, heard):
        for number in range(15):
            await blocked(world, f"bot {number}")
            assert (await heard.next()).challenge.name == f"bot {number}"
        assert len(hanging.notices) == 10  # and no more dialogs than that at once


async def test_what_was_met_before_its_turn_is_not_announced() -> None:
    heard = Heard()
    async with supervised() as world:
        announcer = Announcer(world.store, [heard], world.clock)
        world.loop.announce = announcer.announce
        await world.start()
        await world.blocked()
        await world.release()
        await blocked(world, "other")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(announcer.run)
            assert (await heard.next()).challenge.name == "other"
            tasks.cancel_scope.cancel()
        assert len(heard.notices) == 1


# restarts


async def test_what_waits_since_before_a_restart_is_told_once_by_each_channel(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "state.db"))
    clock = Clock()
    before = Supervised(store, clock=clock)
    await before.start()
    await before.blocked()  # as the server ended before anybody was told
    first, told = Heard("first"), Heard("second")
    clock.move(1)
    async with announcing(Supervised(store, clock=clock), first):
        shown = await first.next()
    clock.move(1)
    after = Supervised(store, clock=clock)
    again = Heard("first")
    async with announcing(after, again, told):
        assert (await told.next()).challenge.id == shown.challenge.id
        assert again.notices == []
        assert (await after.verify(shown.challenge.id, shown.code))["success"]  # which was shown before
    await store.close()


async def test_what_expired_or_was_met_before_a_restart_is_not_told() -> None:
    async with supervised() as world:
        await world.start()
        await world.blocked()
        await world.release()
        await blocked(world, "other")
        world.clock.move(301)
        heard = Heard()
        async with announcing(world, heard):
            await blocked(world, "third")
            assert (await heard.next()).challenge.name == "third"
        assert len(heard.notices) == 1


async def test_what_is_made_as_the_server_starts_is_told_once() -> None:
    heard = Heard()
    async with supervised() as world:
        await world.start()
        announcer = Announcer(world.store, [heard], world.clock)
        world.loop.announce = announcer.announce
        await world.blocked()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(announcer.run)
            await heard.next()
            await blocked(world, "other")
            assert (await heard.next()).challenge.name == "other"
            tasks.cancel_scope.cancel()
        assert len(heard.notices) == 2


async def test_who_asks_when_the_server_is_about_to_end_is_not_in_its_way() -> None:
    heard = Heard()
    async with supervised() as world:
        async with announcing(world, heard):
            await world.start()
        assert (await world.blocked()).blocks


# failures

FAILURES: dict[str, tuple[Exception, str]] = {
    "one in words": (ChannelError("the pigeon is asleep"), "the pigeon is asleep"),
    "the state": (StoreError("The store is gone"), "The store is gone"),
    "one that nobody thought of": (ValueError("{code}"), "an error in headgate itself (ValueError)"),
}


@pytest.mark.parametrize(("error", "words"), FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_logged_without_the_code_and_concerns_no_other_channel(
    error: Exception, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Heard):
        async def show(self, notice: Notice) -> None:
            error.args = tuple(str(one).format(code=notice.code) for one in error.args)
            await super().show(notice)

    failing, heard = Failing("pigeon", error), Heard()
    lines = LogLines()
    with lines.listening():
        async with supervised() as world, announcing(world, failing, heard):
            for name in ("one", "two"):
                await blocked(world, name)
                assert (await failing.next()).challenge.name == name
                assert (await heard.next()).challenge.name == name
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.getMessage() for record in warnings] == [
        f"nobody was told through pigeon that '{shown.challenge.id}' waits to be verified: {words}"
        for shown in failing.notices
    ]
    codes = [shown.code for shown in (*failing.notices, *heard.notices)]
    assert Fragments(codes).found_in(lines.heard.getvalue().encode()) == set()


async def test_a_state_that_cannot_be_read_at_the_start_is_told_of(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_: object) -> list[Challenge]:
        raise StoreError("The store is gone")

    heard = Heard()
    async with supervised() as world:
        with monkeypatch.context() as patch:
            patch.setattr("headgate.console.channels.announcing.challenges", gone)
            async with announcing(world, heard):
                await world.start()
                await world.blocked()
                await heard.next()
    assert caplog.messages == ["nobody was told of what has waited since before to be verified: The store is gone"]
