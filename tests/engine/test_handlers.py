"""What a handler does, and what the caller sees of it: never its insides (Spec 5; Structured Error Codes)."""

import logging
import threading
from datetime import date
from typing import Annotated, Any

import anyio
import pytest
from pydantic import BaseModel

from headgate import (
    AqlError,
    Binary,
    Caller,
    Conflict,
    Context,
    Denied,
    Deprecated,
    EngineOptions,
    Invalid,
    NotFound,
    Param,
    RateLimited,
    Session,
    Unavailable,
    VersionMismatch,
)
from headgate.engine.events import Event, Failed, Refused
from tests.engine.asking import answer, ask, engine_of, error, leaks

pytestmark = pytest.mark.anyio

Secret = Annotated[str, Param(sensitive=True)]


class InternalTrouble(Exception):
    """An exception with a telling name."""


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("cannot even be printed")


BROKEN = [
    pytest.param(KeyError("/srv/app/secret.py"), id="KeyError"),
    pytest.param(InternalTrouble("SELECT * FROM users"), id="an exception of ones own"),
    pytest.param(ValueError("password=hunter2"), id="ValueError"),
    pytest.param(Unreadable(), id="an exception that cannot be printed"),
    pytest.param(RecursionError("deep"), id="RecursionError"),
    pytest.param(MemoryError(), id="MemoryError"),
    pytest.param(ExceptionGroup("several", [KeyError("a"), InternalTrouble("b")]), id="a group"),
    pytest.param(AssertionError("x"), id="AssertionError"),
    pytest.param(StopAsyncIteration("x"), id="StopAsyncIteration"),
    pytest.param(SystemExit(3), id="sys.exit"),
]


@pytest.mark.parametrize("exception", BROKEN)
@pytest.mark.parametrize("is_async", [True, False], ids=["async", "in a thread"])
async def test_whatever_a_handler_raises_the_caller_sees_nothing_of_it(
    exception: BaseException, is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def get_async() -> None:
        """Get a thing."""
        raise exception

    def get_sync() -> None:
        """Get a thing."""
        raise exception

    told: list[Event] = []
    engine = engine_of(get_async, get_sync, listeners=[told.append])
    with caplog.at_level(logging.ERROR, "headgate"):
        reply = await engine.call({"operation": "get_async" if is_async else "get_sync"})
    envelope = await answer(engine, {"operation": "get_async" if is_async else "get_sync"})
    assert envelope["error"]["code"] == "INTERNAL_ERROR"
    assert set(envelope["error"]["details"]) == {"request_id", "session_id"}
    assert leaks(reply.text) == []
    for words in ("secret", "SELECT", "hunter2", "Trouble", "several", "deep"):
        assert words not in reply.text
    assert reply.is_error
    assert type(exception).__name__ in caplog.text
    assert reply.request_id in caplog.text
    assert [type(event) for event in told if isinstance(event, Failed | Refused)] == [Failed, Failed]


async def test_a_stop_iteration_in_a_thread_does_not_hang() -> None:
    def get_thing() -> None:
        """Get a thing."""
        raise StopIteration

    assert (await error(engine_of(get_thing), "get_thing"))["code"] == "INTERNAL_ERROR"


async def test_a_cancelled_request_is_not_swallowed() -> None:
    started = anyio.Event()

    async def get_thing() -> None:
        """Get a thing."""
        started.set()
        await anyio.sleep_forever()

    engine = engine_of(get_thing)
    answered = False
    async with anyio.create_task_group() as tasks:

        async def request() -> None:
            nonlocal answered
            await engine.call({"operation": "get_thing"})
            answered = True

        tasks.start_soon(request)
        await started.wait()
        tasks.cancel_scope.cancel()
    assert not answered


TYPED = [
    pytest.param(NotFound("book", "b1"), "NOT_FOUND_RESOURCE", False, id="NotFound"),
    pytest.param(Invalid("isbn", "wrong digit"), "VALIDATION_INVALID_VALUE", False, id="Invalid"),
    pytest.param(Denied("no"), "PERMISSION_DENIED", False, id="Denied"),
    pytest.param(Conflict("book", "b1"), "CONFLICT_ALREADY_EXISTS", False, id="Conflict"),
    pytest.param(VersionMismatch("book", "b1", "e"), "CONFLICT_VERSION_MISMATCH", False, id="VersionMismatch"),
    pytest.param(RateLimited(2), "RATE_LIMIT_EXCEEDED", False, id="RateLimited"),
    pytest.param(Unavailable("the house is closed"), "INTERNAL_ERROR", True, id="Unavailable"),
    pytest.param(AqlError("TRANSPORT_TIMEOUT", "It took too long"), "TRANSPORT_TIMEOUT", True, id="AqlError"),
]


@pytest.mark.parametrize(("exception", "code", "is_error"), TYPED)
@pytest.mark.parametrize("is_async", [True, False], ids=["async", "in a thread"])
async def test_an_error_that_the_author_raises_reaches_the_caller(
    exception: AqlError, code: str, is_error: bool, is_async: bool
) -> None:
    async def get_async() -> None:
        """Get a thing."""
        raise exception

    def get_sync() -> None:
        """Get a thing."""
        raise exception

    engine = engine_of(get_async, get_sync)
    name = "get_async" if is_async else "get_sync"
    found = await error(engine, name)
    assert (found["code"], found["message"]) == (code, exception.error.message)
    assert found.get("details", {}).items() >= (exception.error.details or {}).items()
    assert (await engine.call({"operation": name})).is_error is is_error


async def test_an_unavailable_backend_names_the_request() -> None:
    async def get_thing() -> None:
        """Get a thing."""
        raise Unavailable("closed")

    reply = await engine_of(get_thing).call({"operation": "get_thing"})
    assert reply.request_id in reply.text


# Details that cannot be written.


class Strange:
    """Something with no JSON form."""


class Exploding(BaseModel):
    name: str = "x"

    def model_dump(self, **_: Any) -> dict[str, Any]:
        raise OSError("while it was read")


RING: dict[str, Any] = {}
RING["ring"] = RING


@pytest.mark.parametrize(
    "value", [Strange(), Exploding(), RING, {"a": {Strange()}}], ids=["unknown", "exploding", "ring", "nested"]
)
async def test_details_that_cannot_be_written_are_left_out(value: object) -> None:
    async def get_thing() -> None:
        """Get a thing."""
        raise NotFound("book", value)

    found = await error(engine_of(get_thing), "get_thing")
    assert found == {"code": "NOT_FOUND_RESOURCE", "message": "Resource 'book' not found"}


@pytest.mark.parametrize(
    "value", [Strange(), Exploding(), RING, [Strange()]], ids=["unknown", "exploding", "ring", "nested"]
)
async def test_an_answer_that_cannot_be_written_is_a_failure(value: object) -> None:
    async def get_thing() -> object:
        """Get a thing."""
        return value

    found = await error(engine_of(get_thing), "get_thing")
    assert found["code"] == "INTERNAL_ERROR"


async def test_details_of_any_type_that_has_a_json_form_are_written() -> None:
    async def get_thing() -> None:
        """Get a thing."""
        raise Invalid("when", "too early", earliest=date(2026, 1, 2))

    assert (await error(engine_of(get_thing), "get_thing"))["details"]["earliest"] == "2026-01-02"


# Secrets.


class Login(BaseModel):
    user: str
    password: Secret


def leaking(how: str) -> Any:
    async def create_login(
        api_key: Secret, login: Login | None = None, pin: Annotated[int, Param(sensitive=True)] = 0
    ) -> None:
        """Log in."""
        words = f"{api_key} {login.password if login else ''} {pin}"
        match how:
            case "message":
                raise Denied(f"{words} is wrong")
            case "details":
                raise Invalid("api_key", "wrong", given=[words, {"key": api_key}], pin=pin, login=login)
            case _:
                raise RuntimeError(words)

    return engine_of(create_login)


@pytest.mark.parametrize("how", ["message", "details", "trace"])
@pytest.mark.parametrize(
    "params",
    [
        pytest.param(
            {"api_key": "K3Y-hunter", "login": {"user": "u", "password": "P4SS-hunter"}, "pin": 987654}, id="plain"
        ),
        pytest.param({"apiKey": "K3Y-hunter", "login": {"user": "u", "password": "P4SS-hunter"}}, id="camelCase"),
        pytest.param({"api_key": "K3Y-hunter", "login": '{"user": "u", "password": "P4SS-hunter"}'}, id="as text"),
        pytest.param({"api_key": "K3Y\nhunter\\'", "pin": 987654}, id="with odd characters"),
    ],
)
async def test_a_secret_of_the_request_is_in_no_error_and_in_no_log(
    how: str, params: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        reply = await leaking(how).call({"operation": "create_login", "params": params})
    for secret in ("hunter", "K3Y", "P4SS", "987654"):
        assert secret not in reply.text
        assert secret not in caplog.text
    assert "***" in reply.text or how == "trace"


async def test_a_rule_of_a_type_that_repeats_a_secret_does_not_give_it_away() -> None:
    from pydantic import field_validator
    from pydantic_core import PydanticCustomError

    class Strict(BaseModel):
        password: Secret

        @field_validator("password")
        @classmethod
        def _check(cls, password: str) -> str:
            raise PydanticCustomError("weak", f"'{password}' is too weak")

    async def create_login(login: Strict) -> None:
        """Log in."""

    found = await error(engine_of(create_login), "create_login", login={"password": "K3Y-hunter"})
    assert found["message"] == "Parameter 'login.password' is not valid: '***' is too weak"


async def test_unwritable_details_of_an_operation_with_secrets_are_left_out_too() -> None:
    async def create_login(api_key: Secret) -> None:
        """Log in."""
        raise Invalid("api_key", f"{api_key} is wrong", given=Strange())

    found = await error(engine_of(create_login), "create_login", api_key="K3Y-hunter")
    assert found["message"] == "Parameter 'api_key' is not valid: *** is wrong"


# What a handler gets and how it runs.


async def test_a_plain_function_runs_in_a_thread_and_an_async_one_does_not() -> None:
    def get_thread() -> bool:
        """Get the thread."""
        return threading.current_thread() is threading.main_thread()

    async def get_loop() -> bool:
        """Get the loop."""
        return threading.current_thread() is threading.main_thread()

    engine = engine_of(get_thread, get_loop)
    assert (await ask(engine, "get_thread"))["data"] is False
    assert (await ask(engine, "get_loop"))["data"] is True


async def test_a_slow_function_in_a_thread_does_not_stop_others() -> None:
    may_end = threading.Event()

    def get_slow() -> str:
        """Get something slowly."""
        assert may_end.wait(10)
        return "slow"

    async def get_quick() -> str:
        """Get something quickly."""
        return "quick"

    engine = engine_of(get_slow, get_quick)
    data: list[str] = []

    async def request(name: str) -> None:
        data.append((await ask(engine, name))["data"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(request, "get_slow")
        await request("get_quick")
        may_end.set()
    assert data == ["quick", "slow"]


async def test_a_handler_may_know_who_asks_and_in_which_session() -> None:
    async def get_context(ctx: Context, thing_id: int) -> list[object]:
        """Get the context."""
        ctx.session.state["seen"] = thing_id
        ctx.log.info("seen")
        return [ctx.operation, ctx.request_id, ctx.caller.subject, ctx.caller.authenticated, ctx.session.id]

    session = Session()
    engine = engine_of(get_context)
    reply = await engine.call(
        {"operation": "get_context", "thing_id": 5}, caller=Caller(subject="ada"), session=session
    )
    assert f'["get_context","{reply.request_id}","ada",true,"{session.id}"]' in reply.text
    assert session.state == {"seen": 5}


@pytest.mark.parametrize(
    ("caller", "authenticated"),
    [(Caller(), False), (Caller(label="x"), False), (Caller(subject="a"), True), (Caller(client_id="c"), True)],
    ids=["nobody", "a label", "a subject", "a client"],
)
def test_only_what_the_transport_proved_authenticates(caller: Caller, authenticated: bool) -> None:
    assert caller.authenticated is authenticated


async def test_requests_have_ids_of_their_own() -> None:
    async def get_thing() -> None:
        """Get a thing."""

    engine = engine_of(get_thing)
    ids = {(await engine.call({"operation": "get_thing"})).request_id for _ in range(50)}
    assert len(ids) == 50
    assert all(request_id.startswith("req_") for request_id in ids)


# Progress.


async def test_progress_reaches_whoever_asked_for_it() -> None:
    async def execute_work(ctx: Context) -> None:
        """Work."""
        await ctx.progress(1)
        await ctx.progress(2, 4, "half")

    told: list[object] = []

    async def progress(current: float, total: float | None, message: str | None) -> None:
        told.append((current, total, message))

    engine = engine_of(execute_work)
    await answer(engine, {"operation": "execute_work"}, progress=progress)
    assert told == [(1, None, None), (2, 4, "half")]
    assert (await ask(engine, "execute_work"))["success"] is True


# Warnings.


async def test_a_warning_of_the_handler_stands_in_the_answer() -> None:
    async def get_thing(ctx: Context) -> int:
        """Get a thing."""
        ctx.warn("LIBRARY_CLOSED_WARNING", "Closed soon", severity="high", minutes=5)
        ctx.warn("PLAIN_WARNING", "Plain")
        return 1

    assert await ask(engine_of(get_thing), "get_thing") == {
        "success": True,
        "data": 1,
        "warnings": [
            {"code": "LIBRARY_CLOSED_WARNING", "message": "Closed soon", "severity": "high", "details": {"minutes": 5}},
            {"code": "PLAIN_WARNING", "message": "Plain"},
        ],
    }


async def test_a_failure_has_no_warnings() -> None:
    async def get_thing(ctx: Context) -> None:
        """Get a thing."""
        ctx.warn("A_WARNING", "x")
        raise NotFound("thing", 1)

    assert "warnings" not in await ask(engine_of(get_thing), "get_thing")


@pytest.mark.parametrize("code", ["", "lower", "WITH SPACE", "1X", "X\n"], ids=repr)
async def test_a_warning_needs_a_code_of_the_right_form(code: str, caplog: pytest.LogCaptureFixture) -> None:
    async def get_thing(ctx: Context) -> None:
        """Get a thing."""
        ctx.warn(code, "x")

    assert (await error(engine_of(get_thing), "get_thing"))["code"] == "INTERNAL_ERROR"
    assert "is not a code of a warning" in caplog.text


async def test_a_deprecation_is_said_once_in_a_session() -> None:
    async def get_thing(old: Annotated[str, Param(deprecated=Deprecated(replacement="new"))] = "") -> None:
        """Get a thing."""

    engine, session = engine_of(get_thing), Session()
    said = [
        len((await answer(engine, {"operation": "get_thing", "old": "x"}, session=each)).get("warnings", []))
        for each in (session, session, Session())
    ]
    assert said == [1, 0, 1]
    assert "warnings" not in await ask(engine, "get_thing")


async def test_introspection_has_no_room_for_warnings() -> None:
    envelope = await answer(engine_of(), {"operation": "introspect", "params": '{"query": "operations"}'})
    assert set(envelope) == {"success", "data"}


async def test_a_default_that_the_author_wrote_reaches_the_handler() -> None:
    async def get_thing(when: date = date(2026, 1, 2), names: tuple[str, ...] = ()) -> list[object]:
        """Get a thing."""
        return [when, names]

    assert (await ask(engine_of(get_thing), "get_thing"))["data"] == ["2026-01-02", []]


async def test_a_handler_gets_a_binary_with_its_media_type() -> None:
    async def create_file(content: Binary) -> list[object]:
        """Keep a file."""
        return [len(content.data), content.mime_type]

    envelope = await ask(engine_of(create_file), "create_file", content="AAE=", content_mime_type="image/png")
    assert envelope["data"] == [2, "image/png"]


@pytest.mark.parametrize(
    "value", [b"x", Binary(b"x", "image/png"), bytearray(b"x")], ids=["bytes", "Binary", "bytearray"]
)
async def test_an_answer_that_is_only_binary_is_an_object_with_its_metadata(value: Any) -> None:
    async def get_file() -> Any:
        """Get a file."""
        return value

    mime_type = value.mime_type if isinstance(value, Binary) else "application/octet-stream"
    assert await ask(engine_of(get_file), "get_file") == {
        "success": True,
        "data": {"content": "eA==", "encoding": "base64", "mime_type": mime_type},
    }


async def test_an_engine_with_options_keeps_them() -> None:
    async def get_thing() -> None:
        """Get a thing."""

    options = EngineOptions(max_concurrent_requests=3)
    assert engine_of(get_thing, options=options).options is options


async def test_binary_data_that_is_the_whole_answer_says_what_it_is() -> None:
    async def get_picture() -> bytes:
        """Get a picture."""
        return b"\xff"

    envelope = await ask(engine_of(get_picture), "get_picture")
    assert envelope["data"] == {"content": "/w==", "encoding": "base64", "mime_type": "application/octet-stream"}
