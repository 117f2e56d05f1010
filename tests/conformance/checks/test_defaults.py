"""What introspection says of parameters is true: what the checks hold against a server, and what not."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.conformance.checks.defaults import difference
from headgate.conformance.values import Outcome, Verdict
from tests.conformance.checks.stall import ITEMS, OPERATIONS, Arguments, Twist, failure, looked_at, params_in, success

pytestmark = pytest.mark.anyio

DEFAULTS, COMPLETE = "parameters.defaults-applied", "parameters.complete"
VALID, EDGES = "parameters.valid-accepted", "parameters.edges-accepted"
ANSWERED = "parameters.valid-answered"


def at(operation: str, instead: Any, **wanted: Any) -> Twist:
    """Another answer to requests of an operation that have some parameters."""

    def twist(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
        params = params_in(arguments)
        meant = arguments.get("operation") == operation and wanted.items() <= params.items()
        return instead if meant else answer

    return twist


def _three_by_default(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    plain = arguments.get("operation") == "list_items" and not params_in(arguments)
    return success({"items": ITEMS[:3], "state": None}) if plain else answer


def _with_a_clock() -> Twist:
    clock = itertools.count()

    def twist(_tool: str, _arguments: Arguments, answer: Arguments) -> Any:
        timed = answer["success"] and isinstance(answer["data"], dict)
        return success({**answer["data"], "now": next(clock), "_took": next(clock)}) if timed else answer

    return twist


def _secretly_limited(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
    return success({"items": []}) if "limit" in params_in(arguments) else answer


def _naming(code: str, name: str, only: str = "") -> Twist:
    def twist(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
        meant = name in params_in(arguments) and arguments.get("operation") != only
        return failure(code, f"'{name}' is refused") if meant else answer

    return twist


@pytest.mark.parametrize("check", [DEFAULTS, COMPLETE, VALID, EDGES, ANSWERED])
async def test_a_server_whose_introspection_is_true_passes(check: str) -> None:
    assert (await looked_at(check)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("check", "twist"),
    [
        pytest.param(DEFAULTS, _three_by_default, id="another default than the documented one"),
        pytest.param(COMPLETE, _secretly_limited, id="a parameter that is not documented"),
        pytest.param(VALID, at("list_items", failure("VALIDATION_MISSING_PARAM")), id="more is required than is told"),
        pytest.param(VALID, _naming("VALIDATION_UNKNOWN_PARAM", "state"), id="a documented name is not known"),
        pytest.param(VALID, _naming("VALIDATION_INVALID_TYPE", "first"), id="a documented type is refused"),
        pytest.param(EDGES, at("list_items", failure("VALIDATION_OUT_OF_RANGE"), first=4), id="the maximum is refused"),
        pytest.param(EDGES, at("list_items", failure("VALIDATION_INVALID_ENUM"), state="old"), id="the last choice"),
        pytest.param(EDGES, at("list_items", failure("VALIDATION_INVALID_ENUM"), state="new"), id="the first choice"),
    ],
)
async def test_a_fault_is_found(check: str, twist: Twist) -> None:
    result = await looked_at(check, twist)

    assert result.verdict is Verdict.FAIL
    assert result.broken[0].exchanges


@pytest.mark.parametrize(
    ("check", "twist"),
    [
        pytest.param(DEFAULTS, _with_a_clock(), id="what changes by itself is left aside"),
        pytest.param(DEFAULTS, at("list_items", failure("VALIDATION_INVALID_VALUE"), first=2), id="it is refused"),
        pytest.param(DEFAULTS, at("list_items", failure("INTERNAL_ERROR")), id="nothing works"),
        pytest.param(COMPLETE, _naming("NONE", "nothing"), id="nothing is hidden"),
        pytest.param(VALID, at("find_items", failure("VALIDATION_INVALID_VALUE")), id="a made text means nothing"),
        pytest.param(VALID, at("find_items", failure("INTERNAL_ERROR")), id="it breaks down"),
        pytest.param(VALID, at("get_item", failure("NOT_FOUND_RESOURCE")), id="nothing is there"),
        pytest.param(
            VALID,
            at("find_items", failure("VALIDATION_INVALID_TYPE", http_status=400)),
            id="a system behind the server refuses",
        ),
        pytest.param(EDGES, _naming("VALIDATION_INVALID_VALUE", "first"), id="whatever is given is refused"),
        pytest.param(EDGES, at("find_items", failure("VALIDATION_INVALID_VALUE")), id="a text that means nothing"),
    ],
)
async def test_what_shows_nothing_fails_nothing(check: str, twist: Twist) -> None:
    assert not (await looked_at(check, twist)).broken


async def test_where_any_name_is_taken_nothing_is_called_hidden() -> None:
    def lenient(_tool: str, _arguments: Arguments, answer: Arguments) -> Any:
        return success([]) if "VALIDATION_UNKNOWN_PARAM" in str(answer) else answer

    assert (await looked_at(COMPLETE, lenient)).verdict is Verdict.SKIP


async def test_what_waits_is_not_asked_to_wait_for_its_maximum() -> None:
    waiting = [{"name": "wait_seconds", "type": "integer", "required": False, "minimum": 0, "maximum": 60}]
    waited: list[Any] = []

    def noting(_tool: str, arguments: Arguments, answer: Arguments) -> Any:
        waited.append(params_in(arguments).get("wait_seconds"))
        return answer if "wait_seconds" not in params_in(arguments) else success([])

    await looked_at(EDGES, noting, details={"list_items": waiting})

    assert 0 in waited
    assert 60 not in waited


# what is documented can be called


@pytest.mark.parametrize("fixtures", [{}, {"operations": {"find_items": {"query": "Item"}}}], ids=["made", "given"])
async def test_an_operation_that_only_breaks_down_is_told_once(fixtures: Any) -> None:
    result = await looked_at(ANSWERED, at("find_items", failure("INTERNAL_ERROR")), fixtures=fixtures)

    assert result.verdict is Verdict.WARN
    assert [finding.subject for finding in result.broken] == ["find_items"]


@pytest.mark.parametrize(
    "answer",
    [
        *(failure(code) for code in ("RATE_LIMIT_EXCEEDED", "PERMISSION_DENIED", "NOT_FOUND_RESOURCE")),
        *(failure(code) for code in ("CONFIRMATION_REQUIRED", "VALIDATION_INVALID_VALUE")),
        failure("INTERNAL_ERROR", http_status=502),
        "no answer that can be read",
    ],
    ids=str,
)
async def test_whatever_says_why_is_no_breakdown(answer: Any) -> None:
    assert not (await looked_at(ANSWERED, at("find_items", answer))).broken


# how valid parameters are found


@pytest.mark.parametrize(
    ("details", "fixtures", "wanted"),
    [
        pytest.param({}, {}, "i1", id="from what is listed"),
        pytest.param({}, {"values": {"item_id": "i4"}}, "i4", id="from the fixtures, by name"),
        pytest.param({}, {"operations": {"get_item": {"item_id": "i5"}}}, "i5", id="from the fixtures, by operation"),
    ],
)
async def test_the_values_of_existing_things_are_found(details: Any, fixtures: Any, wanted: str) -> None:
    result = await looked_at(VALID, details=details, fixtures=fixtures)
    asked = [finding.exchanges[-1] for finding in result.findings if finding.subject == "get_item"]

    assert result.verdict is Verdict.PASS
    assert asked[0].data["item_id"] == wanted


async def test_a_parameter_that_cannot_be_made_is_told() -> None:
    secret = [{"name": "query", "type": "Secret", "required": True}]
    result = await looked_at(VALID, details={"find_items": secret})
    told = [finding for finding in result.findings if finding.subject == "find_items"]

    assert [finding.outcome for finding in told] == [Outcome.UNSEEN]
    assert "'query'" in told[0].words
    assert "--fixtures" in told[0].words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param({"item_id": 5}, "'item_id' a value which", id="another type"),
        pytest.param({"item_id": "much too long"}, "'item_id' a value which", id="beyond a constraint"),
        pytest.param({"item_id": "i1", "colour": "red"}, "'colour', which is no parameter", id="an unknown name"),
        pytest.param({}, "no 'item_id', which 'get_item' requires", id="one is missing"),
        pytest.param({"item_id": "i1"}, "parameters that are refused with VALIDATION_INVALID_VALUE", id="refused"),
    ],
)
async def test_fixtures_that_do_not_suit_the_server_are_told(given: Arguments, words: str) -> None:
    refusing = at("get_item", failure("VALIDATION_INVALID_VALUE"))
    result = await looked_at(VALID, refusing, fixtures={"operations": {"get_item": given}})
    told = [finding for finding in result.findings if finding.subject == "get_item"]

    assert [finding.outcome for finding in told] == [Outcome.UNSEEN]
    assert told[0].words.startswith(f"the fixtures give {words}")


async def test_fixtures_for_what_changes_something_are_held_against_its_declaration_too() -> None:
    result = await looked_at(VALID, fixtures={"operations": {"create_item": {"title": 7}}})

    assert [finding.words[:33] for finding in result.findings if finding.subject == "create_item"] == [
        "the fixtures give 'title' a value"
    ]


async def test_an_optional_parameter_that_cannot_be_made_is_left_out() -> None:
    odd = [*OPERATIONS["list_items"], {"name": "odd", "type": "Secret", "required": False}]

    assert (await looked_at(VALID, details={"list_items": odd})).verdict is Verdict.PASS


# comparing

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_what_is_equal_does_not_differ(value: object) -> None:
    assert difference(value, value, value) is None


@given(values, values)
def test_what_is_steady_and_another_differs(value: object, other: object) -> None:
    assert (difference(value, value, other) is None) is (value == other)


@pytest.mark.parametrize(
    ("once", "again", "other", "where"),
    [
        pytest.param({"a": 1, "t": 1}, {"a": 1, "t": 2}, {"a": 1, "t": 3}, None, id="a clock"),
        pytest.param({"a": [1, 2]}, {"a": [1, 2]}, {"a": [1]}, "data.a", id="another length"),
        pytest.param({"a": [1, 2]}, {"a": [1, 2]}, {"a": [1, 3]}, "data.a[1]", id="another element"),
        pytest.param({"a": {"b": 1}}, {"a": {"b": 1}}, {"a": {}}, "data.a.b", id="something is missing"),
        pytest.param({"endCursor": "x"}, {"endCursor": "x"}, {"endCursor": "y"}, None, id="cursors tell how they came"),
        pytest.param([1], [1, 2], [1, 2, 3], None, id="a list that grows"),
    ],
)
def test_a_difference_is_found_where_it_is(once: object, again: object, other: object, where: str | None) -> None:
    assert difference(once, again, other) == where


async def test_a_default_that_is_refused_is_told() -> None:
    result = await looked_at(DEFAULTS, at("list_items", failure("VALIDATION_INVALID_VALUE"), first=2))

    assert [finding.outcome for finding in result.findings] == [Outcome.UNSEEN]
