"""Specification 4.7.5: how large requests and answers may be."""

from typing import Any

import pytest

from headgate import Limits
from tests.spec.conftest import Serve
from tests.spec.wires import Aql, data_of, error_of

pytestmark = pytest.mark.anyio

KB, MB = 1024, 1024 * 1024
DEFAULTS = {
    "max_request_size": 1 * MB,
    "max_response_size": 10 * MB,
    "max_string_length": 1 * MB,
    "max_array_elements": 10_000,
    "max_nesting_depth": 32,
}
RANGES = {
    "max_request_size": (64 * KB, 10 * MB),
    "max_response_size": (1 * MB, 100 * MB),
    "max_string_length": (64 * KB, 10 * MB),
    "max_array_elements": (100, 100_000),
    "max_nesting_depth": (8, 64),
}


def nested(depth: int, *, arrays: bool = False) -> Any:
    """Something that is `depth` levels deep by itself."""
    value: Any = [] if arrays else {}
    for _ in range(depth - 1):
        value = [value] if arrays else {"a": value}
    return value


def too_large(answer: dict[str, Any], limit_type: str, limit: int, unit: str) -> None:
    details = error_of(answer, "VALIDATION_PAYLOAD_TOO_LARGE")["details"]
    assert details["limit_type"] == limit_type
    assert details["limit_value"] == limit
    assert details["actual_value"] > limit
    assert details["unit"] == unit


@pytest.mark.proves("spec-4.7.5-request-size-limit-enforced", "spec-4.7.5-exceeded-limit-error-code")
async def test_a_request_over_one_megabyte_is_refused_before_anything_runs(aql: Aql, key: str) -> None:
    answer = await aql.read("get_sample", key=key, words=["x" * 100_000] * 11)
    too_large(answer, "request_size", 1 * MB, "bytes")
    assert await aql.runs(key) == []
    data_of(await aql.read("get_sample", key=key, words=["x" * 100_000] * 10))
    assert await aql.runs(key) == ["get_sample"]


@pytest.mark.proves("spec-4.7.5-request-size-limit-enforced")
async def test_the_size_of_a_request_is_counted_in_bytes_not_characters(aql: Aql, key: str) -> None:
    too_large(await aql.read("get_sample", key=key, words=["€" * 100_000] * 4), "request_size", 1 * MB, "bytes")


@pytest.mark.proves("spec-4.7.5-response-size-limit-enforced", "spec-4.7.5-exceeded-limit-error-code")
async def test_an_answer_over_ten_megabytes_is_not_sent(aql: Aql) -> None:
    too_large(await aql.read("get_blob", size=10 * MB), "response_size", 10 * MB, "bytes")
    assert len(data_of(await aql.read("get_blob", size=900 * KB))) == 900 * KB


@pytest.mark.proves("spec-4.7.5-string-length-limit-enforced", "spec-4.7.5-exceeded-limit-error-code")
async def test_a_string_over_the_limit_is_refused(serve: Serve) -> None:
    async with serve(limits=Limits(max_string_length=64 * KB)) as aql:
        assert len(data_of(await aql.read("get_text", text="x" * 64 * KB))) == 64 * KB
        too_large(await aql.read("get_text", text="x" * (64 * KB + 1)), "string_length", 64 * KB, "bytes")
        too_large(await aql.read("get_text", text="€" * 22_000), "string_length", 64 * KB, "bytes")
        too_large(await aql.read("get_text", **{"x" * (64 * KB + 1): 1}), "string_length", 64 * KB, "bytes")


@pytest.mark.proves("spec-4.7.5-string-length-limit-enforced")
async def test_a_string_may_be_one_megabyte_by_default(serve: Serve) -> None:
    async with serve(limits=Limits(max_request_size=4 * MB)) as aql:
        assert len(data_of(await aql.read("get_text", text="x" * MB))) == MB
        too_large(await aql.read("get_text", text="x" * (MB + 1)), "string_length", 1 * MB, "bytes")


@pytest.mark.proves("spec-4.7.5-array-elements-limit-enforced", "spec-4.7.5-exceeded-limit-error-code")
async def test_an_array_of_more_than_ten_thousand_elements_is_refused(aql: Aql, key: str) -> None:
    too_large(await aql.read("get_sample", key=key, words=["x"] * 10_001), "array_elements", 10_000, "elements")
    too_large(
        await aql.read("get_sample", key=key, options={"deep": [0] * 10_001}), "array_elements", 10_000, "elements"
    )
    assert await aql.runs(key) == []
    assert len(data_of(await aql.read("get_sample", key=key, words=["x"] * 10_000))["values"]["words"]) == 10_000


@pytest.mark.parametrize("arrays", [False, True], ids=["objects", "arrays"])
@pytest.mark.proves("spec-4.7.5-nesting-depth-limit-enforced", "spec-4.7.5-exceeded-limit-error-code")
async def test_a_request_deeper_than_thirty_two_levels_is_refused(aql: Aql, key: str, arrays: bool) -> None:
    # The request is level 1, params level 2, options level 3.
    data_of(await aql.read("get_sample", key=key, options={"a": nested(29, arrays=arrays)}))
    answer = await aql.read("get_sample", key=key, options={"a": nested(30, arrays=arrays)})
    too_large(answer, "nesting_depth", 32, "levels")
    assert error_of(answer)["details"]["actual_value"] == 33


@pytest.mark.parametrize("limit", DEFAULTS)
@pytest.mark.proves("spec-4.7.5-limits-configurable-within-range")
def test_a_limit_can_be_set_only_within_its_range(limit: str) -> None:
    lowest, highest = RANGES[limit]
    assert getattr(Limits(), limit) == DEFAULTS[limit]
    for allowed in (lowest, highest):
        assert getattr(Limits(**{limit: allowed}), limit) == allowed
    for refused in (lowest - 1, highest + 1, 0, -1):
        with pytest.raises(ValueError, match=limit):
            Limits(**{limit: refused})


@pytest.mark.proves("spec-4.7.5-configured-limits-documented", "spec-4.7.5-limits-in-protocol-metadata")
async def test_the_default_limits_are_in_introspection(aql: Aql) -> None:
    assert (await aql.introspect("operations"))["_protocol"]["limits"] == DEFAULTS


@pytest.mark.proves(
    "spec-4.7.5-configured-limits-documented",
    "spec-4.7.5-limits-in-protocol-metadata",
    "spec-4.7.5-limits-configurable-within-range",
)
async def test_the_limits_in_introspection_are_those_in_force(serve: Serve, key: str) -> None:
    chosen = {
        "max_request_size": 128 * KB,
        "max_response_size": 2 * MB,
        "max_string_length": 64 * KB,
        "max_array_elements": 100,
        "max_nesting_depth": 8,
    }
    async with serve(limits=Limits(**chosen)) as aql:
        assert (await aql.introspect("operations"))["_protocol"]["limits"] == chosen
        listed = (await aql.introspect("limits"))["limits"]
        assert {row["name"]: row["value"] for row in listed} == chosen
        words = ["x" * 50_000] * 3
        too_large(await aql.read("get_sample", key=key, words=words), "request_size", 128 * KB, "bytes")
        too_large(await aql.read("get_blob", size=2 * MB), "response_size", 2 * MB, "bytes")
        too_large(await aql.read("get_text", text="x" * 64 * KB + "x"), "string_length", 64 * KB, "bytes")
        too_large(await aql.read("get_sample", key=key, words=["x"] * 101), "array_elements", 100, "elements")
        too_large(await aql.read("get_sample", key=key, options=nested(7)), "nesting_depth", 8, "levels")
        data_of(await aql.read("get_sample", key=key, options=nested(6), words=["x"] * 100))
