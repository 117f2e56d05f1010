"""Whatever is sent, one valid envelope comes back: never an exception, never Python's words, never too much.

The normal suite tries 10,000 requests. ``HEADGATE_CASES=1000000 pytest tests/engine/test_properties.py -s`` tries as
many as are wanted, in all processors, and says how many went through a second.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate import Engine
from tests.engine.fuzzing import LIMITS, complaints, engine, run_everywhere, run_here, silent_log
from tests.engine.playground import REQUESTS

Ask: TypeAlias = Callable[[object], dict[str, Any]]

CASES = int(os.environ.get("HEADGATE_CASES", "0"))

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20) | st.sampled_from(
    [
        "",
        "\0",
        "\ud800",
        "look at me",
        "{",
        '{"title": "T"}',
        "[1]",
        "9007199254740993",
        "2026-02-30",
        "AAE=",
        "KeyError",
    ]
)
NUMBERS = st.integers() | st.integers(min_value=2**53 - 2) | st.integers(max_value=-(2**53) + 2) | st.floats()
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=8
)
NAMES = sorted({name for name, _ in REQUESTS})
PARAMETERS = sorted({name for _, params in REQUESTS for name in params})
OPERATIONS = st.sampled_from(NAMES) | TEXTS | st.sampled_from(NAMES).map(lambda name: name[:-1])


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Ask an engine, and look at the answer whatever it is."""
    served: Engine = engine()
    with asyncio.Runner() as runner, silent_log():

        def answer(arguments: object) -> dict[str, Any]:
            text = runner.run(served.call(arguments)).text
            assert list(complaints(arguments, text)) == []
            envelope: dict[str, Any] = json.loads(text)
            return envelope

        yield answer


@settings(max_examples=600)
@given(VALUES)
def test_any_value_at_all_is_answered(ask: Ask, arguments: object) -> None:
    ask(arguments)


@settings(max_examples=600)
@given(OPERATIONS, st.dictionaries(st.sampled_from(PARAMETERS) | TEXTS, VALUES, max_size=4), st.booleans())
def test_any_parameters_of_any_operation_are_answered(
    ask: Ask, operation: str, params: dict[str, object], beside: bool
) -> None:
    ask({"operation": operation, **params} if beside else {"operation": operation, "params": params})


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place inside a value."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from places(child, (*path, step))


def replaced(value: Any, path: tuple[str | int, ...], new: object) -> Any:
    """The value with something else in one place."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@st.composite
def nearly_right(draw: st.DrawFn) -> dict[str, object]:
    """A right request with anything in one place."""
    name, params = draw(st.sampled_from(REQUESTS))
    path = draw(st.sampled_from(list(places(params))))
    return {"operation": name, "params": replaced(params, path, draw(VALUES))}


@settings(max_examples=600)
@given(nearly_right())
def test_a_request_that_is_nearly_right_is_answered(ask: Ask, arguments: dict[str, object]) -> None:
    ask(arguments)


@settings(max_examples=200)
@given(st.lists(nearly_right() | VALUES, max_size=4))
def test_a_batch_of_anything_is_answered(ask: Ask, items: list[object]) -> None:
    envelope = ask({"operations": items})
    assert len(envelope.get("results", items)) == len(items)


def test_thousands_of_spoilt_requests_are_answered() -> None:
    assert run_here(8000, seed=1) == []


@pytest.mark.skipif(not CASES, reason="set HEADGATE_CASES to how many requests are wanted")
def test_as_many_requests_as_wanted_are_answered() -> None:
    started = time.perf_counter()
    found = run_everywhere(CASES, seed=1000)
    sys.stderr.write(f"\n{CASES} cases, {CASES / (time.perf_counter() - started):.0f} a second\n")
    assert found == []


# What the properties rest on.


@pytest.mark.parametrize(("operation", "params"), REQUESTS, ids=[name for name, _ in REQUESTS])
def test_the_requests_that_are_spoilt_are_right_before(ask: Ask, operation: str, params: dict[str, Any]) -> None:
    envelope = ask({"operation": operation, "params": params})
    on_purpose = ("INTERNAL_ERROR", "PERMISSION_DENIED", "NOT_FOUND_RESOURCE")
    assert envelope["success"] or envelope["error"]["code"] in on_purpose


def failure(message: str, **details: object) -> dict[str, object]:
    return {"success": False, "error": {"code": "INTERNAL_ERROR", "message": message, "details": details}}


@pytest.mark.parametrize(
    "envelope",
    [
        pytest.param(failure("it broke at line 5"), id="a trace"),
        pytest.param(failure("a KeyError was raised"), id="an exception"),
        pytest.param(failure("expected 'str', got 'int'"), id="a type"),
        pytest.param(failure("the secret is K3Y-hunter"), id="a secret"),
        pytest.param(failure("x", problems=[{"message": "it was None"}]), id="one of several problems"),
        pytest.param({"success": True, "data": "x" * LIMITS.max_response_size}, id="too much"),
        pytest.param(
            {
                "success": True,
                "data": None,
                "results": [{"index": 0, "operation": "x", "result": failure("see main.py")}],
                "summary": {"total": 1, "succeeded": 0, "failed": 1},
            },
            id="inside a batch",
        ),
    ],
)
def test_a_bad_answer_would_be_noticed(envelope: dict[str, object]) -> None:
    assert list(complaints({}, json.dumps(envelope))) != []


def test_an_answer_of_another_form_would_be_noticed() -> None:
    from tests.support import spec_schemas

    spec_schemas()
    for text in ('{"success":true}', '{"success":false,"error":{"code":"x"}}', '{"success":true,"data":1,"more":2}'):
        assert list(complaints({}, text)) != []


# Too much of something.


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


EXTREMES: list[tuple[str, Callable[[], object], str]] = [
    ("a hundred thousand levels", lambda: {"operation": "get_scalars", "text": nested(100_000)}, "PAYLOAD_TOO_LARGE"),
    ("ten megabytes", lambda: {"operation": "get_scalars", "text": "x" * 10_000_000}, "PAYLOAD_TOO_LARGE"),
    ("a million items", lambda: {"operation": "get_scalars", "text": [0] * 1_000_000}, "PAYLOAD_TOO_LARGE"),
    ("a batch of a million", lambda: {"operations": [{}] * 1_000_000}, "PAYLOAD_TOO_LARGE"),
    ("a name of ten megabytes", lambda: {"operation": "x" * 10_000_000}, "PAYLOAD_TOO_LARGE"),
    ("an integer of many digits", lambda: {"operation": "get_scalars", "text": 10**5000}, "OUT_OF_RANGE"),
    ("levels inside a text", lambda: {"operation": "get_scalars", "params": "[" * 50_000}, "INVALID_TYPE"),
    ("digits inside a text", lambda: {"operation": "delete_book", "book_id": "9" * 60_000}, "INVALID_TYPE"),
    ("a lone surrogate in much else", lambda: ["\ud800", *[["x"] * 5_000] * 1_000], "INVALID_ENCODING"),
]


@pytest.mark.parametrize(("make", "code"), [row[1:] for row in EXTREMES], ids=[row[0] for row in EXTREMES])
def test_too_much_of_anything_is_refused_in_a_moment(ask: Ask, make: Callable[[], object], code: str) -> None:
    arguments = make()
    started = time.process_time()
    assert ask(arguments)["error"]["code"] == f"VALIDATION_{code}"
    assert time.process_time() - started < 5
    while isinstance(arguments, dict | list) and arguments:  # taken apart level by level: freeing it at once recurses
        arguments = arguments.popitem()[1] if isinstance(arguments, dict) else arguments.pop()
