"""Answers of real servers are read in every form that they come in, and what is odd about them is said."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.client.answers import Caution, Unreadable, read
from headgate.client.wires import Answer


def answer(*texts: object, error: bool = False, **more: Any) -> Answer:
    blocks = [{"type": "text", "text": one if isinstance(one, str) else orjson.dumps(one).decode()} for one in texts]
    return Answer({"content": blocks, "isError": error, **more})


FAILED = {"code": "NOT_FOUND_RESOURCE", "message": "no such book"}

FORMS = {
    "as it should be": (answer({"success": True, "data": 1}), 1, []),
    "nothing but null": (answer({"success": True, "data": None}), None, []),
    "with metadata": (answer({"success": True, "data": 1, "_meta": {"x": 1}}), 1, []),
    "success is missing": (answer({"data": [1]}), [1], ["'success' is missing"]),
    "success is a text": (answer({"success": "True", "data": 1}), 1, ["'success' is no boolean"]),
    "success is a number": (answer({"success": 1, "data": 1}), 1, ["'success' is no boolean"]),
    "no envelope": (answer({"id": 1}), {"id": 1}, ["'success' is missing", "a success has no 'data'"]),
    "a bare list": (answer([1, 2]), [1, 2], ["the answer is no JSON object"]),
    "a bare number": (answer(7), 7, ["the answer is no JSON object"]),
    "plain words": (answer("done, thanks"), "done, thanks", ["the answer is no JSON"]),
    "words in two texts": (answer("one", "two"), "one\ntwo", ["the answer is no JSON"]),
    "data beside the envelope": (
        answer({"success": True, "items": [1], "total": 1}),
        {"items": [1], "total": 1},
        ["a success has no 'data'"],
    ),
    "nothing beside success": (answer({"success": True}), None, ["a success has no 'data'"]),
    "an error beside data": (answer({"success": True, "data": 1, "error": "x"}), 1, ["a success has an 'error'"]),
    "null as the error": (answer({"success": True, "data": 1, "error": None}), 1, ["a success has an 'error'"]),
    "words before the JSON": (
        answer("Here it is:", {"success": True, "data": 1}),
        1,
        ["the answer has 2 texts, not one"],
    ),
    "structured content alone": (
        answer(structuredContent={"success": True, "data": 1}),
        1,
        ["the envelope stands in structuredContent, not in a text"],
    ),
    "structured content beside words": (
        answer("see the other", structuredContent={"success": True, "data": 1}),
        1,
        ["the envelope stands in structuredContent, not in a text"],
    ),
    "a success that MCP takes for an error": (
        answer({"success": True, "data": 1}, error=True),
        1,
        ["the answer is a success, and MCP is told that it is an error"],
    ),
    "warnings that are texts": (
        answer({"success": True, "data": 1, "warnings": ["old"]}),
        1,
        ["'warnings' is no list of objects with a code and a message"],
    ),
    "a warning that is none": (
        answer({"success": True, "data": 1, "warnings": {"old": True}}),
        1,
        ["'warnings' is no list of objects with a code and a message"],
    ),
}


@pytest.mark.parametrize(("came", "data", "oddities"), FORMS.values(), ids=FORMS)
def test_a_success_is_read(came: Answer, data: object, oddities: list[str]) -> None:
    reading = read(came)
    assert (reading.succeeded, reading.data, reading.error) == (True, data, {})
    assert [odd.words for odd in reading.oddities] == oddities


NO_OBJECT = "the error of a failure is no object with a code and a message"
FAILURES = {
    "as it should be": (answer({"success": False, "error": FAILED}), FAILED, []),
    "success is missing": (answer({"error": FAILED}), FAILED, ["'success' is missing"]),
    "success is null": (answer({"success": None, "error": FAILED}), FAILED, ["'success' is no boolean"]),
    "a text": (answer({"success": False, "error": "it broke"}), {"message": "it broke"}, [NO_OBJECT]),
    "a text with a code": (
        answer({"success": False, "error": "NOT_FOUND_RESOURCE: no such book"}),
        FAILED,
        [NO_OBJECT],
    ),
    "a message beside": (answer({"success": False, "message": "it broke"}), {"message": "it broke"}, [NO_OBJECT]),
    "no reason": (answer({"success": False}), {"message": ""}, [NO_OBJECT]),
    "no code": (answer({"success": False, "error": {"message": "x"}}), {"message": "x"}, ["an error has no 'code'"]),
    "nothing in it": (
        answer({"success": False, "error": {}}),
        {},
        ["an error has no 'code'", "an error has no 'message'"],
    ),
    "data too": (answer({"success": False, "error": FAILED, "data": 1}), FAILED, ["a failure has 'data'"]),
    "words that MCP takes for an error": (
        answer("Error executing tool", error=True),
        {"message": "Error executing tool"},
        ["the answer is no JSON"],
    ),
    "an object that MCP takes for an error": (
        answer({"message": "it broke"}, error=True),
        {"message": "it broke"},
        ["'success' is missing", NO_OBJECT],
    ),
}


@pytest.mark.parametrize(("came", "error", "oddities"), FAILURES.values(), ids=FAILURES)
def test_a_failure_is_read(came: Answer, error: object, oddities: list[str]) -> None:
    reading = read(came)
    assert (reading.succeeded, reading.data, reading.error) == (False, None, error)
    assert [odd.words for odd in reading.oddities] == oddities


@pytest.mark.parametrize("came", [Answer({}), Answer({"content": []}), Answer({"content": [{"type": "image"}]})])
def test_an_answer_without_any_text_cannot_be_read(came: Answer) -> None:
    with pytest.raises(Unreadable, match="its answer has no text"):
        read(came)


def test_warnings_are_values() -> None:
    told = [{"code": "OLD", "message": "use another", "severity": "low", "details": {"x": 1}}, {"message": "so"}, 7]
    reading = read(answer({"success": True, "data": 1, "warnings": told}))
    assert reading.warnings == (Caution("OLD", "use another", "low", {"x": 1}), Caution("", "so"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["success", "data", "error", "warnings", "code", "message", "results", "x"])


@given(st.dictionaries(KEYS, JSON, max_size=5) | JSON, st.booleans())
def test_whatever_comes_is_a_success_or_a_failure(value: object, error: bool) -> None:
    reading = read(answer(orjson.dumps(value).decode(), error=error))
    assert reading.succeeded is (not reading.error) or reading.error == {}
    if not reading.succeeded:
        assert reading.data is None


@given(st.text())
def test_whatever_text_comes_is_read(text: str) -> None:
    assert read(Answer({"content": [{"type": "text", "text": text}]})) is not None
