"""Limits and quotas: counted before a call runs, right on the boundary, and with a way to go on where there is one."""

from typing import Any

import pytest

from headgate import Adapter, Caller
from headgate.protocol.tokens import estimate
from headgate.safety.approvals import approve
from headgate.store.sql import SqlStore
from tests.safety.guarding import Guarded, code_of

pytestmark = pytest.mark.anyio

ANN, BOB = Caller(subject="ann"), Caller(subject="bob")


class Service(Guarded):
    """A service that is paid by the call."""

    def __init__(self, store: SqlStore, rules: str, **more: Any) -> None:
        self.ran: list[str] = []
        adapter = Adapter("service")

        @adapter.read
        async def get_weather(town: str = "") -> str:
            """Get the weather."""
            self.ran.append("weather")
            return "sun " * 10

        @adapter.read
        async def search_images(town: str = "") -> str:
            """Search images."""
            self.ran.append("images")
            return "x"

        @adapter.create
        async def create_report(town: str = "") -> str:
            """Create a report."""
            self.ran.append("report")
            return "x"

        @adapter.delete
        async def delete_report(town: str = "") -> str:
            """Delete a report."""
            self.ran.append("deleted")
            return "x"

        super().__init__(adapter, store, rules, **more)

    async def many(self, count: int, operation: str = "get_weather", **more: Any) -> list[str]:
        return [await self.code(operation, **more) for _ in range(count)]


def limit(count: int, window: str = "minute", *more: str) -> str:
    scope = () if any(line.startswith("scope") for line in more) else ('scope = "global"',)
    return "\n".join(["[[api_limit]]", f"limit = {count}", f'window = "{window}"', *scope, *more, ""])


def quota(metric: str = "requests_per_minute", *more: str, **amounts: float) -> str:
    return "\n".join(
        ["[[quota]]", f'metric = "{metric}"', *(f"{key} = {value}" for key, value in amounts.items()), *more, ""]
    )


# Limits of an API.


@pytest.mark.parametrize(("window", "seconds"), [("second", 1), ("minute", 60), ("hour", 3600), ("day", 86400)])
async def test_a_limit_is_reached_exactly_and_over_exactly(store: SqlStore, window: str, seconds: float) -> None:
    service = Service(store, limit(3, window))
    assert await service.many(3) == ["", "", ""]
    error = (await service.call("get_weather"))["error"]
    assert error["code"] == "RATE_LIMIT_EXCEEDED"
    details = error["details"]
    assert (details["limit"], details["remaining"], details["window"]) == (3, 0, window)
    assert details["retry_after_seconds"] == seconds
    service.clock.move(seconds - 0.001)
    assert await service.code("get_weather") == "RATE_LIMIT_EXCEEDED"
    service.clock.move(0.001)
    assert await service.many(3) == ["", "", ""]
    assert len(service.ran) == 6


async def test_a_window_slides_with_the_clock(store: SqlStore) -> None:
    service = Service(store, limit(2))
    for moved, code in ((0, ""), (30, ""), (29, "RATE_LIMIT_EXCEEDED"), (1, ""), (29, "RATE_LIMIT_EXCEEDED"), (1, "")):
        service.clock.move(moved)
        assert await service.code("get_weather") == code


async def test_whoever_waits_as_long_as_is_said_is_let_in(store: SqlStore) -> None:
    service = Service(store, limit(1, "second"))
    for _ in range(20):
        await service.call("get_weather")
        service.clock.move(0.123456789)
        error = (await service.call("get_weather"))["error"]
        service.clock.move(error["details"]["retry_after_seconds"])
        assert await service.code("get_weather") == ""
        service.clock.move(2)


@pytest.mark.parametrize("window", ["second", "minute", "hour", "day"])
async def test_the_words_of_a_limit_name_the_very_seconds_of_its_details(store: SqlStore, window: str) -> None:
    service = Service(store, limit(1, window))
    await service.call("get_weather")
    service.clock.move(0.123456789)
    error = (await service.call("get_weather"))["error"]
    *_, told, unit = error["message"].split()
    assert (float(told), unit) == (error["details"]["retry_after_seconds"], "seconds")


async def test_limits_of_an_endpoint_and_of_a_category_count_only_theirs(store: SqlStore) -> None:
    service = Service(
        store,
        limit(1, "minute", 'scope = "endpoint"', 'endpoint = "get_*"')
        + limit(2, "minute", 'scope = "category"', 'category = "READ"'),
    )
    assert await service.many(2) == ["", "RATE_LIMIT_EXCEEDED"]
    assert await service.many(2, "search_images") == ["", "RATE_LIMIT_EXCEEDED"]
    assert await service.many(3, "create_report") == ["", "", ""]


async def test_a_limit_is_of_the_adapter_whoever_calls(store: SqlStore) -> None:
    service = Service(store, limit(1))
    assert await service.code("get_weather", caller=ANN) == ""
    assert await service.code("get_weather", caller=BOB) == "RATE_LIMIT_EXCEEDED"


# What is not counted.


async def test_what_is_refused_is_not_counted(store: SqlStore) -> None:
    denied = '[[rule]]\nname = "no"\ndecision = "deny"\noperations = "create_*"\n'
    service = Service(store, denied + limit(2) + "[confirmation]\nrefusals_per_minute = 3")
    assert await service.many(5, "create_report") == ["PERMISSION_DENIED"] * 5
    assert await service.many(5, "delete_report") == ["CONFIRMATION_REQUIRED"] * 5
    assert await service.many(5, "delete_report", token="conf_" + "x" * 59) == [
        *["TOKEN_INVALID"] * 3,
        *["RATE_LIMIT_EXCEEDED"] * 2,
    ]
    assert await service.many(2, params={"nonsense": 1}) == ["VALIDATION_UNKNOWN_PARAM"] * 2
    assert await service.many(3) == ["", "", "RATE_LIMIT_EXCEEDED"]


async def test_a_call_that_finds_no_room_in_one_quota_is_counted_in_none(store: SqlStore) -> None:
    service = Service(
        store, limit(1, "second") + quota("requests_per_hour", warn=3, hard_stop=3) + quota("requests_per_day", warn=9)
    )
    assert await service.many(10) == ["", *["RATE_LIMIT_EXCEEDED"] * 9]
    status = (await service.call("introspect", {"query": "quota_status"}))["data"]
    assert [one["current"] for one in status["quotas"]] == [1, 1]


async def test_no_room_leaves_the_token_unused_and_a_row_in_the_audit(store: SqlStore) -> None:
    service = Service(store, limit(1))
    token = await service.token("delete_report")
    await service.call("get_weather")
    assert await service.code("delete_report", token=token) == "RATE_LIMIT_EXCEEDED"
    last = (await service.audit())[-1]
    assert (last.event, last.code, last.operation) == ("refused", "RATE_LIMIT_EXCEEDED", "delete_report")
    service.clock.move(60)
    assert await service.code("delete_report", token=token) == ""


# Quotas.


async def test_a_quota_warns_pauses_and_stops_exactly_where_it_says(store: SqlStore) -> None:
    service = Service(store, quota(warn=2, pause=4, hard_stop=6))
    told = []
    for _ in range(4):
        envelope = await service.call("get_weather")
        told.append([(one["code"], one["severity"], one["details"]["current"]) for one in envelope.get("warnings", [])])
    assert told == [[], *[[("RATE_LIMIT_QUOTA_WARNING", "medium", count)] for count in (2, 3, 4)]]
    error = (await service.call("get_weather"))["error"]
    assert error["code"] == "RATE_LIMIT_QUOTA_PAUSE"
    details = error["details"]
    assert (details["metric"], details["current"]) == ("requests_per_minute", 4)
    assert (details["pause_threshold"], details["hard_stop_threshold"]) == (4, 6)
    assert details["confirmation_token"].startswith("quota_continue_")
    assert details["expires_at"] == "2026-02-04T10:18:20.000Z"
    assert len(service.ran) == 4
    token = details["confirmation_token"]
    assert await service.code("get_weather", _quota_continue=token) == ""
    assert await service.many(2) == ["", "RATE_LIMIT_QUOTA_EXHAUSTED"], "the pause is lifted, the stop is not"
    error = (await service.call("get_weather"))["error"]
    assert error["details"].items() >= {"metric": "requests_per_minute", "current": 6, "hard_stop_threshold": 6}.items()
    assert "confirmation_token" not in error["details"]
    service.clock.move(60)
    assert await service.code("get_weather") == ""


async def test_a_warning_is_high_past_nine_tenths_of_the_end(store: SqlStore) -> None:
    service = Service(store, quota(warn=8, hard_stop=20))
    severities = []
    for _ in range(20):
        envelope = await service.call("get_weather")
        severities.append(envelope["warnings"][0]["severity"] if "warnings" in envelope else "")
    assert severities == [""] * 7 + ["medium"] * 11 + ["high"] * 2


async def test_a_quota_without_an_end_only_warns(store: SqlStore) -> None:
    service = Service(store, quota(warn=1))
    for _ in range(20):
        envelope = await service.call("get_weather")
        assert envelope["warnings"][0]["severity"] == "medium"


async def test_the_pause_is_back_when_the_window_is_over(store: SqlStore) -> None:
    service = Service(store, quota(warn=1, pause=1))
    await service.call("get_weather")
    token = (await service.call("get_weather"))["error"]["details"]["confirmation_token"]
    assert await service.code("get_weather", _quota_continue=token) == ""
    service.clock.move(59)
    assert await service.many(3) == ["", "", ""]
    service.clock.move(1)
    assert await service.code("get_weather") == "RATE_LIMIT_QUOTA_PAUSE"


async def test_a_quota_of_each_caller_is_counted_for_each(store: SqlStore) -> None:
    service = Service(store, quota("requests_per_minute", 'per = "caller"', warn=1, pause=1))
    assert [await service.code("get_weather", caller=caller) for caller in (ANN, BOB, ANN, BOB)] == [
        "",
        "",
        "RATE_LIMIT_QUOTA_PAUSE",
        "RATE_LIMIT_QUOTA_PAUSE",
    ]
    paused = await service.call("get_weather", caller=ANN)
    token = paused["error"]["details"]["confirmation_token"]
    assert await service.code("get_weather", caller=BOB, _quota_continue=token) == "TOKEN_INVALID"
    assert await service.code("get_weather", caller=ANN, _quota_continue=token) == ""
    assert await service.code("get_weather", caller=BOB) == "RATE_LIMIT_QUOTA_PAUSE"


async def test_a_quota_of_some_operations_counts_only_these(store: SqlStore) -> None:
    service = Service(store, quota("requests_per_minute", 'operations = "get_*"', warn=1, hard_stop=1))
    assert await service.many(2) == ["", "RATE_LIMIT_QUOTA_EXHAUSTED"]
    assert await service.many(3, "search_images") == ["", "", ""]


async def test_a_person_lifts_the_pause_of_a_quota_that_wants_one(store: SqlStore) -> None:
    service = Service(store, quota("requests_per_minute", 'confirm = "person"', warn=1, pause=1))
    await service.call("get_weather")
    details = (await service.call("get_weather"))["error"]["details"]
    assert "confirmation_token" not in details
    approval = details["approval_id"]
    assert (await service.call("get_weather"))["error"]["details"]["approval_id"] == approval
    assert await service.code("get_weather", _quota_continue=approval) == "CONFIRMATION_REQUIRED"
    assert await approve(store, approval, "root", service.clock)
    assert await service.code("get_weather", _quota_continue=approval) == ""


async def test_the_token_of_one_quota_lifts_no_other(store: SqlStore) -> None:
    service = Service(
        store,
        quota("requests_per_minute", warn=1, pause=1)
        + quota("requests_per_day", 'confirm = "person"', warn=1, pause=2),
    )
    await service.call("get_weather")
    token = (await service.call("get_weather"))["error"]["details"]["confirmation_token"]
    assert await service.code("get_weather", _quota_continue=token) == ""
    paused = (await service.call("get_weather"))["error"]
    assert (paused["code"], paused["details"]["metric"]) == ("RATE_LIMIT_QUOTA_PAUSE", "requests_per_day")
    assert "confirmation_token" not in paused["details"], "a person must lift this one"


async def test_of_two_pauses_at_once_the_stricter_says_who_lifts_both(store: SqlStore) -> None:
    service = Service(
        store,
        quota("requests_per_day", warn=1, pause=1)
        + quota("requests_per_minute", 'confirm = "person"', warn=1, pause=1),
    )
    await service.call("get_weather")
    details = (await service.call("get_weather"))["error"]["details"]
    assert "confirmation_token" not in details
    assert await approve(store, details["approval_id"], "root", service.clock)
    assert await service.code("get_weather", _quota_continue=details["approval_id"]) == ""


async def test_what_is_exhausted_is_said_before_what_is_paused(store: SqlStore) -> None:
    service = Service(
        store, quota("requests_per_day", warn=1, pause=1) + quota("requests_per_minute", warn=1, hard_stop=1)
    )
    await service.call("get_weather")
    error = (await service.call("get_weather"))["error"]
    assert (error["code"], error["details"]["metric"]) == ("RATE_LIMIT_QUOTA_EXHAUSTED", "requests_per_minute")


COST = """
[cost]
currency = "EUR"
pricing = [
    {operations = "*", cost_per_call = 0.1},
    {operations = "search_images", cost_per_call = 0.25},
    {operations = "create_report", cost_per_call = 0},
]
"""


async def test_costs_are_counted_exactly(store: SqlStore) -> None:
    service = Service(store, COST + quota("cost_per_day", warn=0.3, hard_stop=0.8))
    assert await service.many(2) == ["", ""]
    warned = await service.call("get_weather")
    assert warned["warnings"][0]["details"]["current"] == 0.3, "three times 0.1"
    assert await service.many(2, "search_images") == ["", ""]
    error = (await service.call("get_weather"))["error"]
    assert error["code"] == "RATE_LIMIT_QUOTA_EXHAUSTED"
    assert error["details"].items() >= {"current": 0.8, "hard_stop_threshold": 0.8, "currency": "EUR"}.items()
    assert await service.many(3, "create_report") == ["", "", ""], "what costs nothing finds room"


async def test_a_call_that_costs_more_than_all_there_is_never_runs(store: SqlStore) -> None:
    service = Service(store, COST + quota("cost_per_day", warn=0.01, hard_stop=0.2))
    error = (await service.call("search_images"))["error"]
    assert error["code"] == "RATE_LIMIT_QUOTA_EXHAUSTED"
    assert "resets_at" not in error["details"]
    assert service.ran == []


async def test_tokens_are_those_of_the_call_and_of_the_answer(store: SqlStore) -> None:
    service = Service(store, quota("tokens_per_minute", warn=10_000))
    await service.call("get_weather", {"town": "Oslo"})
    reply = '{"success":true,"data":"' + "sun " * 10 + '"}'
    expected = estimate("get_weather") + estimate('{"town":"Oslo"}') + estimate(reply)
    status = (await service.call("introspect", {"query": "quota_status"}))["data"]
    assert status["quotas"][0]["current"] == expected


# What introspection tells of it.


async def test_the_status_tells_every_figure(store: SqlStore) -> None:
    service = Service(
        store,
        limit(5)
        + limit(3, "hour", 'scope = "category"', 'category = "READ"')
        + quota("requests_per_minute", 'per = "caller"', warn=1, pause=2, hard_stop=3)
        + COST
        + quota("cost_per_month", 'operations = "get_*"', warn=0.1),
    )

    async def status(caller: Caller) -> Any:
        return (await service.call("introspect", {"query": "quota_status"}, caller=caller))["data"]

    assert [one["status"] for one in (await status(ANN))["quotas"]] == ["ok", "ok"]
    await service.call("get_weather", caller=ANN)
    assert await status(ANN) == {
        "api_limits": [
            {"scope": "global", "limit": 5, "remaining": 4, "window": "minute"},
            {"scope": "category", "category": "READ", "limit": 3, "remaining": 2, "window": "hour"},
        ],
        "quotas": [
            {
                "metric": "requests_per_minute",
                "current": 1,
                "warn": 1,
                "pause": 2,
                "hard_stop": 3,
                "operations": ["*"],
                "per": "caller",
                "status": "warn",
            },
            {
                "metric": "cost_per_month",
                "current": 0.1,
                "warn": 0.1,
                "currency": "EUR",
                "operations": ["get_*"],
                "per": "adapter",
                "status": "warn",
            },
        ],
    }
    assert (await status(BOB))["quotas"][0]["current"] == 0
    await service.call("get_weather", caller=ANN)
    assert (await status(ANN))["quotas"][0]["status"] == "paused"
    token = (await service.call("get_weather", caller=ANN))["error"]["details"]["confirmation_token"]
    assert code_of(await service.call("get_weather", caller=ANN, _quota_continue=token)) == ""
    told = await status(ANN)
    assert told["quotas"][0]["status"] == "exhausted"
    assert told["api_limits"][1]["remaining"] == 0
    assert told["api_limits"][1]["resets_at"] == "2026-02-04T11:13:20.000Z"


async def test_asking_for_the_status_is_not_counted(store: SqlStore) -> None:
    service = Service(store, limit(1) + quota(warn=1, hard_stop=1))
    for _ in range(5):
        told = (await service.call("introspect", {"query": "quota_status"}))["data"]
        assert (told["api_limits"][0]["remaining"], told["quotas"][0]["current"]) == (1, 0)


async def test_an_adapter_without_operations_has_a_status_too(store: SqlStore) -> None:
    empty = Guarded(Adapter("empty"), store)
    assert (await empty.call("introspect", {"query": "quota_status"}))["data"] == {"api_limits": [], "quotas": []}
