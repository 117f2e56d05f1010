"""Sensitive values: found wherever the schema marks them, and never shown."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from headgate import Category, Operation, Param, Parameter
from headgate.adapter.masking import MASK, masked, scrubbed, secrets_of
from tests.adapter.making import operation, operation_of

Secret = Annotated[str, Param(sensitive=True)]


class Login(BaseModel):
    user: str
    password: Secret
    backup: "Login | None" = None


class ByToken(BaseModel):
    kind: str
    token: Secret


@dataclass
class Keys:
    public: str
    private: Secret


PLACES = [
    pytest.param(Secret, "hunter2", MASK, {"hunter2"}, id="a parameter"),
    pytest.param(Secret | None, "hunter2", MASK, {"hunter2"}, id="an optional parameter"),
    pytest.param(Annotated[int, Param(sensitive=True)], 1234, MASK, {"1234"}, id="a number"),
    pytest.param(Annotated[bool, Param(sensitive=True)], True, MASK, set(), id="a boolean"),
    pytest.param(Annotated[list[str], Param(sensitive=True)], ["a1", "b2"], MASK, {"a1", "b2"}, id="a whole list"),
    pytest.param(
        Annotated[dict[str, Any], Param(sensitive=True)],
        {"k": {"n": ["v1", 7]}},
        MASK,
        {"v1", "7"},
        id="a whole object",
    ),
    pytest.param(list[Secret], ["a1", "b2"], [MASK, MASK], {"a1", "b2"}, id="the items of a list"),
    pytest.param(dict[str, Secret], {"k": "v1"}, {"k": MASK}, {"v1"}, id="the values of a dict"),
    pytest.param(tuple[str, Secret], ["a1", "b2"], ["a1", MASK], {"b2"}, id="one of a tuple"),
    pytest.param(
        Login,
        {"user": "u", "password": "p1", "backup": {"user": "u", "password": "p2"}},
        {"user": "u", "password": MASK, "backup": {"user": "u", "password": MASK}},
        {"p1", "p2"},
        id="a field, nested in itself",
    ),
    pytest.param(
        Login | None,
        {"user": "u", "password": "p1"},
        {"user": "u", "password": MASK},
        {"p1"},
        id="in an optional model",
    ),
    pytest.param(
        Login | ByToken, {"kind": "k", "token": "t1"}, {"kind": "k", "token": MASK}, {"t1"}, id="in one of several"
    ),
    pytest.param(
        list[Keys],
        [{"public": "a", "private": "b1"}],
        [{"public": "a", "private": MASK}],
        {"b1"},
        id="a field of a dataclass in a list",
    ),
    pytest.param(
        dict[str, Login],
        {"k": {"user": "u", "password": "p1"}},
        {"k": {"user": "u", "password": MASK}},
        {"p1"},
        id="in a dict",
    ),
]


@pytest.mark.parametrize(("annotation", "value", "shown", "secrets"), PLACES)
def test_a_sensitive_value_is_found_wherever_it_stands(
    annotation: object, value: object, shown: object, secrets: set[str]
) -> None:
    made = operation_of(annotation)
    assert masked(made, {"x": value}) == {"x": shown}
    assert secrets_of(made, {"x": value}) == secrets


def test_parameters_without_secrets_are_shown_as_they_are() -> None:
    params = {"x": "hunter2"}
    assert masked(operation_of(str), params) is params
    assert secrets_of(operation_of(str), params) == frozenset()


def login() -> Operation:
    async def create_session(user_name: str, api_key: Secret, keys: Keys | None = None) -> None:
        """Log in."""

    return operation(create_session)


def test_only_the_sensitive_parameters_are_masked() -> None:
    params = {"user_name": "ada", "api_key": "k1", "unknown": 5}
    assert masked(login(), params) == {"user_name": "ada", "api_key": MASK, "unknown": 5}


def test_secrets_are_found_under_a_camel_case_name_too() -> None:
    assert secrets_of(login(), {"apiKey": "k1"}) == {"k1"}


def test_secrets_are_found_inside_a_json_text_too() -> None:
    assert secrets_of(login(), {"keys": '{"public": "a", "private": "b1"}'}) == {"b1"}


@pytest.mark.parametrize(
    ("value", "secrets", "clean"),
    [
        pytest.param("the key k123 is bad", {"k123"}, "the key *** is bad", id="in a text"),
        pytest.param({"a": ["k123", {"b": "xk123x"}]}, {"k123"}, {"a": [MASK, {"b": "x***x"}]}, id="nested"),
        pytest.param({"k123": 1}, {"k123"}, {MASK: 1}, id="as a key"),
        pytest.param(("k123",), {"k123"}, [MASK], id="in a tuple"),
        pytest.param({"pin": 1234, "other": 12345}, {"1234"}, {"pin": MASK, "other": 12345}, id="as a number"),
        pytest.param("abcdef abc", {"abcd", "abcdef"}, "*** abc", id="the longest first"),
        pytest.param("a cat and a", {"a"}, "*** cat and ***", id="a short one only as a word"),
        pytest.param("line\\nbreak", {"line\nbreak"}, MASK, id="escaped, as a trace writes it"),
        pytest.param("nothing", set(), "nothing", id="no secrets"),
        pytest.param(None, {"k123"}, None, id="nothing to scrub"),
    ],
)
def test_secrets_are_replaced(value: object, secrets: set[str], clean: object) -> None:
    assert scrubbed(value, frozenset(secrets)) == clean


@given(st.text(min_size=4, max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_secret_of_some_length_survives(secret: str, before: str, after: str) -> None:
    shown = scrubbed({"message": f"{before}{secret}{after}", "repr": f"{secret!r}"}, frozenset({secret}))
    if secret not in f"{before}{MASK}{after}":
        assert secret not in shown["message"]
    assert repr(secret)[1:-1] not in shown["repr"] or secret in MASK


def test_a_type_that_is_a_union_of_itself_ends() -> None:
    ring = {"anyOf": [{"$ref": "#/$defs/Ring"}, {"type": "string", "x-sensitive": True}]}
    made = Operation(
        "get_thing",
        Category.READ,
        operation_of,
        (Parameter("x", {"$ref": "#/$defs/Ring"}),),
        "Get a thing.",
        definitions={"Ring": ring},
    )
    assert masked(made, {"x": "k1"}) == {"x": MASK}


def test_the_mask_says_nothing_of_the_length() -> None:
    made = operation_of(Secret)
    assert masked(made, {"x": "a"}) == masked(made, {"x": "a" * 100})


def test_a_field_with_a_field_of_pydantic_is_found_too() -> None:
    class Model(BaseModel):
        key: Annotated[str, Field(min_length=1), Param(sensitive=True)]

    assert secrets_of(operation_of(Model), {"x": {"key": "k1"}}) == {"k1"}
