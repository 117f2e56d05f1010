"""What an author says of a parameter beyond its type, and what the caller hears of it."""

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel

from headgate import AdapterError, Deprecated, Param, Parameter
from tests.adapter.making import operation, operation_of, read, refusal

CONSTRAINTS = [
    pytest.param(Annotated[int, Param(minimum=3)], 3, 2, "VALIDATION_OUT_OF_RANGE", {"minimum": 3}, id="minimum"),
    pytest.param(Annotated[int, Param(maximum=3)], 3, 4, "VALIDATION_OUT_OF_RANGE", {"maximum": 3}, id="maximum"),
    pytest.param(
        Annotated[float, Param(minimum=0.5)], 0.5, 0.49, "VALIDATION_OUT_OF_RANGE", {"minimum": 0.5}, id="fraction"
    ),
    pytest.param(
        Annotated[str, Param(min_length=2)], "ab", "a", "VALIDATION_OUT_OF_RANGE", {"min_length": 2}, id="shortest text"
    ),
    pytest.param(
        Annotated[str, Param(max_length=2)],
        "éé",
        "abc",
        "VALIDATION_OUT_OF_RANGE",
        {"max_length": 2},
        id="longest text",
    ),
    pytest.param(
        Annotated[list[int], Param(min_length=1)],
        [1],
        [],
        "VALIDATION_OUT_OF_RANGE",
        {"min_items": 1},
        id="fewest items",
    ),
    pytest.param(
        Annotated[list[int] | None, Param(max_length=1)],
        [1],
        [1, 2],
        "VALIDATION_OUT_OF_RANGE",
        {"max_items": 1},
        id="most items of an optional list",
    ),
    pytest.param(
        Annotated[dict[str, int], Param(min_length=1)],
        {"a": 1},
        {},
        "VALIDATION_OUT_OF_RANGE",
        {"min_properties": 1},
        id="fewest keys",
    ),
    pytest.param(
        Annotated[str, Param(pattern="^[a-z]+$")],
        "abc",
        "ABC",
        "VALIDATION_PATTERN_MISMATCH",
        {"pattern": "^[a-z]+$"},
        id="pattern",
    ),
    pytest.param(
        Annotated[str, Param(format="email")],
        "a@b.org",
        "nobody",
        "VALIDATION_INVALID_VALUE",
        {"expected_form": "email"},
        id="format",
    ),
    pytest.param(
        Annotated[str, Param(format="ipv4")],
        "127.0.0.1",
        "1.2.3",
        "VALIDATION_INVALID_VALUE",
        {"expected_form": "ipv4"},
        id="another format",
    ),
    pytest.param(
        Annotated[str, Param(enum=("a", "b"))],
        "a",
        "c",
        "VALIDATION_INVALID_ENUM",
        {"allowed_values": ["a", "b"]},
        id="enum",
    ),
    pytest.param(
        Annotated[str | None, Param(enum=("a",))],
        None,
        "c",
        "VALIDATION_INVALID_ENUM",
        {"allowed_values": ["a", None]},
        id="enum or null",
    ),
]


@pytest.mark.parametrize(("annotation", "good", "bad", "code", "said"), CONSTRAINTS)
def test_a_constraint_is_kept_and_its_bound_is_told(
    annotation: object, good: object, bad: object, code: str, said: dict[str, object]
) -> None:
    assert read(annotation, good) == good
    error = refusal(annotation, bad)
    assert error.code == code
    assert error.details == {"param_name": "x", "operation": "get_thing", **said}


MESSAGES = [
    (Annotated[int, Param(minimum=3)], 2, "Parameter 'x' must be 3 or more"),
    (Annotated[int, Param(maximum=3)], 4, "Parameter 'x' must be 3 or less"),
    (Annotated[str, Param(min_length=2)], "a", "Parameter 'x' must have 2 or more characters"),
    (Annotated[str, Param(pattern="^a")], "b", "Parameter 'x' must match the pattern '^a'"),
    (Annotated[str, Param(pattern="^cat [0-9]$")], "b", "Parameter 'x' must match its pattern, see details"),
    (Annotated[str, Param(format="email")], "b", "Parameter 'x' must be an e-mail address"),
    (Annotated[str, Param(format="ipv4")], "b", "Parameter 'x' must be of the form 'ipv4'"),
    (Literal["open", "done"], "opne", "Parameter 'x' must be one of: 'open', 'done'. Did you mean 'open'?"),
    (Literal["Not Started", 1, True, None], "x", "Parameter 'x' must be one of: 'Not Started', 1, true, null"),  # noqa: PYI061
    (Literal["look at me", "b"], "look at mee", "Parameter 'x' must be one of: (see details), 'b'"),
]


@pytest.mark.parametrize(("annotation", "bad", "message"), MESSAGES, ids=[row[2] for row in MESSAGES])
def test_a_broken_constraint_is_told_in_a_users_words(annotation: object, bad: object, message: str) -> None:
    assert refusal(annotation, bad).message == message


def test_a_long_list_of_choices_is_shortened_in_the_message_and_whole_in_the_details() -> None:
    choices = [f"choice_{number}" for number in range(25)]
    error = refusal(Annotated[str, Param(enum=choices)], "nothing like it")
    assert error.message.endswith("'choice_19' and 5 more")
    assert (error.details or {})["allowed_values"] == choices


def test_constraints_hold_inside_models_too() -> None:
    class Shelf(BaseModel):
        height: Annotated[int, Param(minimum=1, description="In centimetres")]

    error = refusal(Shelf, {"height": 0})
    assert (error.code, error.message) == ("VALIDATION_OUT_OF_RANGE", "Parameter 'x.height' must be 1 or more")
    assert refusal(Shelf, {}).message == "Missing required parameter 'x.height'. Expected: integer (In centimetres)"


@pytest.mark.parametrize("pattern", ["(", "[a-", "(?P<x>a)(?P<x>b)"], ids=["a bracket", "a class", "a name twice"])
def test_a_bad_pattern_is_refused_when_it_is_written(pattern: str) -> None:
    with pytest.raises(AdapterError, match="is not a regular expression as JSON Schema knows them"):
        Param(pattern=pattern)


# Deprecation.


@pytest.mark.parametrize(
    ("deprecated", "sentence"),
    [
        (Deprecated(), "Deprecated."),
        (Deprecated("Too slow."), "Deprecated: Too slow."),
        (Deprecated(replacement="list_books"), "Deprecated: use 'list_books' instead."),
        (Deprecated("Too slow", "list_books"), "Deprecated: use 'list_books' instead; Too slow."),
        (Deprecated(removal_date=date(2030, 1, 2)), "Deprecated, to be removed on 2030-01-02."),
        (
            Deprecated("Slow", "x", date(2030, 1, 2)),
            "Deprecated, to be removed on 2030-01-02: use 'x' instead; Slow.",
        ),
    ],
    ids=["bare", "a note", "a replacement", "both", "a date", "all"],
)
def test_a_deprecation_is_one_sentence(deprecated: Deprecated, sentence: str) -> None:
    assert deprecated.sentence == sentence


def test_a_deprecation_can_be_given_as_a_plain_note() -> None:
    made = operation_of(Annotated[str, Param(deprecated="Use y")])
    assert made.parameters[0].deprecated == Deprecated("Use y")
    assert dict(made.deprecated_parameters) == {"x": Deprecated("Use y")}


def test_a_deprecation_inside_a_union_counts() -> None:
    made = operation_of(Annotated[str, Param(deprecated="Use y")] | None)
    assert made.parameters[0].deprecated == Deprecated("Use y")


def test_another_annotation_is_no_deprecation() -> None:
    assert operation_of(Annotated[str, "a note for people"]).parameters[0].deprecated is None
    assert operation_of(Annotated[str, Param(description="x")]).parameters[0].deprecated is None


# Parameters.


@pytest.mark.parametrize("name", ["", "Name", "my-name", "_x", "1st", "größe", "a b", "x\n"])
def test_a_parameter_is_named_in_snake_case(name: str) -> None:
    with pytest.raises(AdapterError, match="is not snake_case"):
        Parameter(name, {})


@pytest.mark.parametrize("name", ["operation", "params", "operations"])
def test_a_parameter_cannot_be_named_like_a_field_of_every_request(name: str) -> None:
    with pytest.raises(AdapterError, match="is a field of every request"):
        Parameter(name, {})


@pytest.mark.parametrize("declared", ["text", [], ["string", "text"]], ids=repr)
def test_a_parameter_is_of_a_type_that_json_knows(declared: object) -> None:
    with pytest.raises(AdapterError, match="'key' has no data type: it must be one of array, boolean, integer"):
        Parameter("key", {"type": declared})


def test_a_parameter_tells_what_its_schema_says() -> None:
    parameter = Parameter("key", {"type": "string", "description": "The key", "x-sensitive": True})
    assert (parameter.description, parameter.sensitive) == ("The key", True)
    assert not Parameter("key", {}).sensitive


# Defaults.


class Strange:
    """Something with no JSON form."""


def test_a_default_is_given_to_the_handler_as_the_author_wrote_it_and_shown_as_json() -> None:
    strange = Strange()

    async def get_thing(when: date = date(2026, 1, 2), other: Any = strange) -> None:
        """Get a thing."""

    made = operation(get_thing)
    assert dict(made.defaults) == {"when": date(2026, 1, 2), "other": strange}
    assert made.parameters[0].schema["default"] == "2026-01-02"
    assert "default" not in made.parameters[1].schema
    assert made.schema["required"] == []
