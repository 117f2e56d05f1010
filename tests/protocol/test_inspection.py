"""What a payload may hold: every limit at its edge, characters, numbers and depth (Spec 4.7)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import AqlError, Limits
from headgate.protocol.inspection import MAX_SAFE_INTEGER, check_payload

KB = 1024
SMALL = Limits(
    max_request_size=64 * KB,
    max_response_size=1024 * KB,
    max_string_length=64 * KB,
    max_array_elements=100,
    max_nesting_depth=8,
)


def refusal(value: object, limits: Limits = SMALL) -> tuple[str, dict[str, Any]]:
    """The code and details with which a value is refused."""
    with pytest.raises(AqlError) as raised:
        check_payload(value, limits)
    error = raised.value.error
    return error.code, dict(error.details or {})


def too_large(limit_type: str, limit: int, actual: int, unit: str) -> tuple[str, dict[str, Any]]:
    details = {"limit_type": limit_type, "limit_value": limit, "actual_value": actual, "unit": unit}
    return "VALIDATION_PAYLOAD_TOO_LARGE", details


def nested(depth: int, step: Callable[[Any], Any]) -> Any:
    """A value of this depth, counted as the specification does: the outermost object or array is level 1."""
    value = step(None)
    for _ in range(depth - 1):
        value = step(value)
    return value


STEPS = [
    pytest.param(lambda inner: {} if inner is None else {"a": inner}, id="objects"),
    pytest.param(lambda inner: [] if inner is None else [inner], id="arrays"),
    pytest.param(lambda inner: [] if inner is None else ({"a": inner} if type(inner) is list else [inner]), id="both"),
    pytest.param(lambda inner: {"x": 1} if inner is None else {"b": [1], "a": inner, "c": "{[{["}, id="with siblings"),
]


# Each limit, exactly reached and one over.


def test_a_request_of_exactly_the_limit_passes_and_one_byte_more_is_refused() -> None:
    quotes = len('{"a":""}')
    limits = Limits(max_request_size=64 * KB, max_string_length=128 * KB)
    check_payload({"a": "x" * (64 * KB - quotes)}, limits)
    assert refusal({"a": "x" * (64 * KB - quotes + 1)}, limits) == too_large(
        "request_size", 64 * KB, 64 * KB + 1, "bytes"
    )


def test_a_request_is_measured_in_bytes_not_in_characters() -> None:
    limits = Limits(max_request_size=64 * KB)
    check_payload({"a": "é" * (32 * KB - 4)}, limits)
    assert refusal({"a": "é" * (32 * KB - 3)}, limits)[1]["actual_value"] == 64 * KB + 2


def test_a_string_of_exactly_the_limit_passes_and_one_byte_more_is_refused() -> None:
    limits = Limits(max_request_size=1024 * KB, max_string_length=64 * KB)
    check_payload({"a": "x" * (64 * KB)}, limits)
    assert refusal({"a": "x" * (64 * KB + 1)}, limits) == too_large("string_length", 64 * KB, 64 * KB + 1, "bytes")


@pytest.mark.parametrize("character", ["é", "€", "😀"], ids=["2 bytes", "3 bytes", "4 bytes"])
def test_a_string_is_measured_in_bytes(character: str) -> None:
    limits = Limits(max_request_size=1024 * KB, max_string_length=64 * KB)
    width = len(character.encode())
    fits = 64 * KB // width
    check_payload([character * fits], limits)
    assert refusal([character * (fits + 1)], limits)[1] == {
        "limit_type": "string_length",
        "limit_value": 64 * KB,
        "actual_value": width * (fits + 1),
        "unit": "bytes",
    }


def test_a_key_is_a_string_too() -> None:
    limits = Limits(max_request_size=1024 * KB, max_string_length=64 * KB)
    check_payload({"k" * (64 * KB): 1}, limits)
    assert refusal({"k" * (64 * KB + 1): 1}, limits)[1]["limit_type"] == "string_length"


@pytest.mark.parametrize("item", [0, "a,b", [], {"a": 1}], ids=["numbers", "texts", "arrays", "objects"])
def test_an_array_of_exactly_the_limit_passes_and_one_element_more_is_refused(item: object) -> None:
    check_payload({"a": [item] * 100}, SMALL)
    assert refusal({"a": [item] * 101}) == too_large("array_elements", 100, 101, "elements")


def test_many_short_arrays_are_not_one_long_array() -> None:
    check_payload([[1, 2, 3]] * 100, SMALL)


def test_the_keys_of_an_object_are_not_elements_of_an_array() -> None:
    check_payload({f"key_{number}": number for number in range(500)}, SMALL)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("limit", [8, 32, 64])
def test_a_depth_of_exactly_the_limit_passes_and_one_level_more_is_refused(
    step: Callable[[Any], Any], limit: int
) -> None:
    limits = Limits(max_nesting_depth=limit)
    check_payload(nested(limit, step), limits)
    code, details = refusal(nested(limit + 1, step), limits)
    assert (code, details) == too_large("nesting_depth", limit, details["actual_value"], "levels")
    assert details["actual_value"] == limit + 1


def test_depth_is_counted_as_the_specification_counts_its_example() -> None:
    example: dict[str, Any] = {"a": {"b": {"c": {}}}}
    for _ in range(4):
        example = {"wrapped": example}
    check_payload(example, SMALL)  # 4 levels of the example and 4 around it
    assert refusal([example])[1]["actual_value"] == 4 + 4 + 1


def test_brackets_inside_text_are_not_levels() -> None:
    check_payload({"a": "[[[[[[[[[[[[{{{{{{{{{{{{"}, SMALL)


@pytest.mark.parametrize("depth", [65, 1000, 100_000], ids=str)
@pytest.mark.parametrize("step", STEPS[:2])
def test_no_depth_can_exhaust_the_stack(depth: int, step: Callable[[Any], Any]) -> None:
    value = nested(depth, step)
    assert refusal(value, Limits()) == too_large("nesting_depth", 32, depth, "levels")
    while value:  # taken apart level by level, since freeing it at once would recurse
        value = value.pop() if isinstance(value, list) else value.pop("a")


def test_a_value_that_contains_itself_is_too_deep() -> None:
    ring: list[Any] = []
    ring.append(ring)
    assert refusal(ring)[1]["limit_type"] == "nesting_depth"


def test_a_value_that_is_shared_a_million_times_ends_with_the_request_limit() -> None:
    shared: list[Any] = ["\ud800"]
    for _ in range(6):
        shared = [*([shared] * 99)]
    assert refusal(shared)[1]["limit_type"] == "request_size"


def test_a_request_of_a_hundred_thousand_items_passes_where_they_are_allowed() -> None:
    limits = Limits(max_array_elements=100_000, max_request_size=10 * 1024 * KB)
    check_payload({"a": [{"b": None}] * 100_000}, limits)
    with pytest.raises(AqlError, match="array_elements"):
        check_payload({"a": [{"b": None}] * 100_001}, limits)


# Characters.

LONE = "\ud800"


@pytest.mark.parametrize(
    ("value", "location", "offset"),
    [
        pytest.param({"a": LONE}, "a", 0, id="a value"),
        pytest.param({"a": f"é{LONE}"}, "a", 2, id="after a character of two bytes"),
        pytest.param({"a": {"b": [1, f"ab\udfff{LONE}"]}}, "a.b[1]", 2, id="nested"),
        pytest.param({"a": {f"k{LONE}": 1}}, "a", 1, id="a key"),
        pytest.param({f"{LONE}": {"b": 1}}, "", 0, id="a key at the top"),
        pytest.param(["", "\udc80"], "[1]", 0, id="an element"),
        pytest.param("\ud83d", "", 0, id="half of a pair alone"),
    ],
)
def test_a_lone_surrogate_is_not_utf_8(value: object, location: str, offset: int) -> None:
    assert refusal(value) == ("VALIDATION_INVALID_ENCODING", {"location": location, "byte_offset": offset})


@pytest.mark.parametrize(
    ("value", "location", "offset"),
    [
        pytest.param({"a": "\0"}, "a", 0, id="alone"),
        pytest.param({"a": "€x\0"}, "a", 4, id="after characters of three bytes and one"),
        pytest.param({"a": {"b\0": 1}}, "a", 1, id="in a key"),
    ],
)
def test_a_null_character_is_refused_with_its_place(value: object, location: str, offset: int) -> None:
    assert refusal(value) == ("VALIDATION_INVALID_ENCODING", {"location": location, "byte_offset": offset})


def test_the_six_characters_that_only_look_like_an_escaped_null_character_pass() -> None:
    check_payload({"a": "\\u0000 and null"}, SMALL)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=50))
def test_every_other_text_passes(text: str) -> None:
    check_payload({text: [text]}, SMALL)


# Numbers and what is not JSON.


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")], ids=["NaN", "Infinity", "-Infinity"])
def test_what_json_has_no_number_for_is_refused_with_its_place(number: float) -> None:
    assert refusal({"a": [1.5, number]}) == ("VALIDATION_INVALID_VALUE", {"param_name": "a[1]"})


@pytest.mark.parametrize("sign", [1, -1], ids=["positive", "negative"])
def test_integers_are_safe_up_to_two_to_the_fifty_third(sign: int) -> None:
    check_payload({"a": sign * MAX_SAFE_INTEGER}, SMALL)
    for beyond in (2**53, 2**63, 2**64, 10**30, 10**1000):
        assert refusal({"a": {"b": sign * beyond}}) == (
            "VALIDATION_OUT_OF_RANGE",
            {"param_name": "a.b", "minimum": -MAX_SAFE_INTEGER, "maximum": MAX_SAFE_INTEGER},
        )


def test_digits_in_a_text_are_no_integer() -> None:
    check_payload({"a": "123456789012345678901234567890"}, SMALL)


@pytest.mark.parametrize(
    "value",
    [{1, 2}, b"bytes", 1j, object(), datetime(2026, 1, 1, tzinfo=UTC), SMALL, {1: "key"}, {("a",): 1}],
    ids=["set", "bytes", "complex", "object", "datetime", "dataclass", "number as key", "tuple as key"],
)
def test_what_is_not_json_is_refused(value: object) -> None:
    assert refusal({"a": value}) == ("VALIDATION_INVALID_VALUE", {"param_name": "a"})


def test_a_number_of_a_kind_that_no_writer_knows_is_refused() -> None:
    class Metres(float):
        pass

    assert refusal({"a": Metres(1.5)}) == ("VALIDATION_INVALID_VALUE", {"param_name": ""})


def test_a_tuple_counts_as_an_array() -> None:
    check_payload({"a": (1, None)}, SMALL)
    assert refusal({"a": (None,) * 101})[1]["limit_type"] == "array_elements"


def test_a_long_path_is_shortened_and_an_odd_one_can_be_sent() -> None:
    details = refusal({"k" * 1000: {"x": float("nan")}})[1]
    assert details["param_name"] == "k" * 200
    assert refusal({"a\ud800": 1, "b": float("nan")})[1]["location"] == ""


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-100, 100) | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=10,
    )
)
def test_a_value_is_refused_for_its_depth_exactly_if_it_is_too_deep(value: object) -> None:
    def depth(part: object) -> int:
        children = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        return (1 if isinstance(part, list | dict) else 0) + max((depth(child) for child in children), default=0)

    if depth(value) <= SMALL.max_nesting_depth:
        check_payload(value, SMALL)
    else:
        assert refusal(value)[1]["actual_value"] == depth(value)
