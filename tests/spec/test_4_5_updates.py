"""Specification 4.5: the fields to change stand in `input` and are merged into the resource."""

from typing import Any

import pytest

from headgate import Adapter, AdapterError
from tests.spec.wires import Aql, data_of, error_of

pytestmark = pytest.mark.anyio

EVERYTHING = {
    "title": "Old Title",
    "body": "Once upon a time",
    "pages": 3,
    "metadata": {
        "priority": "low",
        "tags": ["draft"],
        "author": "alice",
        "origin": {"place": "Athens", "year": 1999},
        "deprecated_field": "x",
    },
}


async def create(aql: Aql, note_id: str, **fields: Any) -> None:
    data_of(await aql.create("create_note", note_id=note_id, **{**EVERYTHING, **fields}))


async def state(aql: Aql, note_id: str) -> dict[str, Any]:
    """The note without what no update can change."""
    note = data_of(await aql.read("get_note", note_id=note_id))
    return {name: value for name, value in note.items() if name not in ("note_id", "created_at", "_etag")}


async def change(aql: Aql, note_id: str, fields: dict[str, Any]) -> dict[str, Any]:
    answer = data_of(await aql.update("update_note", note_id=note_id, input=fields))
    after = await state(aql, note_id)
    assert {**answer, **after} == answer
    return after


@pytest.mark.proves(
    "spec-4.5.1-merge-example-result-exact",
    "spec-4.5-update-fields-in-input",
    "spec-4.5-update-identifiers-beside-input",
    "ops-4.5-update-fields-in-input",
)
async def test_the_worked_example_ends_in_exactly_the_state_shown(aql: Aql, key: str) -> None:
    before = {"title": "Old Title", "metadata": {"priority": "low", "tags": ["draft"], "author": "alice"}}
    data_of(await aql.create("create_note", note_id=key, pages=1, **before))
    changes = {"title": "New Title", "metadata": {"priority": "high", "tags": ["published", "reviewed"]}}
    assert await change(aql, key, changes) == {
        "title": "New Title",
        "pages": 1,
        "metadata": {"priority": "high", "tags": ["published", "reviewed"], "author": "alice"},
    }


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        pytest.param(
            {"title": "New", "pages": 9},
            {"title": "New", "pages": 9},
            id="plain fields are replaced",
            marks=pytest.mark.proves("spec-4.5.1-merge-replaces-plain-fields"),
        ),
        pytest.param(
            {"metadata": {"author": "bob"}},
            {"metadata": {**EVERYTHING["metadata"], "author": "bob"}},  # type: ignore[dict-item]
            id="objects merge key by key",
            marks=pytest.mark.proves("spec-4.5.1-merge-recurses-into-objects", "spec-4.5.1-merge-keeps-absent-keys"),
        ),
        pytest.param(
            {"metadata": {"origin": {"year": 2000}}},
            {"metadata": {**EVERYTHING["metadata"], "origin": {"place": "Athens", "year": 2000}}},  # type: ignore[dict-item]
            id="objects merge at every depth",
            marks=pytest.mark.proves("spec-4.5.1-merge-recurses-into-objects", "spec-4.5.1-merge-keeps-absent-keys"),
        ),
        pytest.param(
            {"metadata": {"tags": ["a", "b"]}},
            {"metadata": {**EVERYTHING["metadata"], "tags": ["a", "b"]}},  # type: ignore[dict-item]
            id="arrays are replaced whole",
            marks=pytest.mark.proves("spec-4.5.1-merge-replaces-whole-arrays"),
        ),
        pytest.param(
            {"metadata": {"tags": []}},
            {"metadata": {**EVERYTHING["metadata"], "tags": []}},  # type: ignore[dict-item]
            id="an empty array replaces too",
            marks=pytest.mark.proves("spec-4.5.1-merge-replaces-whole-arrays"),
        ),
        pytest.param(
            {},
            {},
            id="nothing given, nothing changed",
            marks=pytest.mark.proves("spec-4.5.1-merge-keeps-absent-keys", "spec-4.5.2-null-is-the-removal"),
        ),
    ],
)
@pytest.mark.proves("spec-4.5-update-fields-in-input")
async def test_input_is_merged(aql: Aql, key: str, changes: dict[str, Any], result: dict[str, Any]) -> None:
    await create(aql, key)
    assert await change(aql, key, changes) == {**EVERYTHING, **result}


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"body": None}, ["body"]),
        ({"metadata": None}, ["metadata"]),
        ({"metadata": {"deprecated_field": None}}, ["metadata", "deprecated_field"]),
        ({"metadata": {"origin": {"place": None}}}, ["metadata", "origin", "place"]),
    ],
    ids=["field", "object", "nested", "deeper"],
)
@pytest.mark.proves("spec-4.5.1-merge-null-removes-field", "spec-4.5.2-null-is-the-removal")
async def test_null_removes_a_field_at_any_depth(aql: Aql, key: str, changes: dict[str, Any], path: list[str]) -> None:
    await create(aql, key)
    after = await change(aql, key, changes)
    holder, kept = after, dict(EVERYTHING)
    for step in path[:-1]:
        holder, kept = holder[step], kept[step]  # type: ignore[assignment]
    assert path[-1] not in holder
    assert set(holder) == set(kept) - {path[-1]}


@pytest.mark.proves("spec-4.5.2-null-is-the-removal")
async def test_null_for_a_field_that_was_not_there_is_no_mistake(aql: Aql, key: str) -> None:
    await create(aql, key)
    await change(aql, key, {"body": None})
    assert "body" not in await change(aql, key, {"body": None})


@pytest.mark.proves("spec-4.5.3-missing-input-refused")
async def test_an_update_without_input_is_refused(aql: Aql, key: str) -> None:
    await create(aql, key)
    error = error_of(await aql.update("update_note", note_id=key), "VALIDATION_MISSING_PARAM")
    assert error["details"]["param_name"] == "input"
    assert error["details"]["operation"] == "update_note"
    assert await state(aql, key) == EVERYTHING


@pytest.mark.proves("spec-4.5-update-fields-in-input", "ops-4.5-update-fields-in-input")
def test_an_update_that_takes_its_fields_elsewhere_cannot_be_registered() -> None:
    async def update_item(item_id: str, title: str) -> None:
        """Change an item."""

    async def update_thing(item_id: str, input: dict[str, str] | None = None) -> None:  # noqa: A002
        """Change a thing, perhaps."""

    for function in (update_item, update_thing):
        with pytest.raises(AdapterError, match="input"):
            Adapter("flat").update(function)


@pytest.mark.proves("spec-4.5-update-fields-in-input", "ops-4.5-update-fields-in-input")
async def test_fields_to_change_are_not_taken_from_beside_input(aql: Aql, key: str) -> None:
    await create(aql, key)
    answer = await aql.update("update_note", note_id=key, title="New", input={})
    assert error_of(answer, "VALIDATION_UNKNOWN_PARAM")["details"]["unknown_params"] == ["title"]
    assert await state(aql, key) == EVERYTHING


@pytest.mark.parametrize("value", [5, 1.5, True, [], [{"title": "New"}], "New", "title: New", None], ids=repr)
@pytest.mark.proves("spec-4.5.3-input-must-be-object")
async def test_input_that_is_no_object_is_refused(aql: Aql, key: str, value: object) -> None:
    await create(aql, key)
    error = error_of(await aql.update("update_note", note_id=key, input=value))
    assert error["code"].startswith("VALIDATION_")
    assert error["details"]["param_name"] == "input"
    assert await state(aql, key) == EVERYTHING


@pytest.mark.parametrize(
    ("fields", "code", "place"),
    [
        ({"title": 5}, "VALIDATION_INVALID_TYPE", "title"),
        ({"title": None}, "VALIDATION_INVALID_TYPE", "title"),
        ({"title": ""}, "VALIDATION_OUT_OF_RANGE", "title"),
        ({"title": "x" * 81}, "VALIDATION_OUT_OF_RANGE", "title"),
        ({"pages": "many"}, "VALIDATION_INVALID_TYPE", "pages"),
        ({"pages": 0}, "VALIDATION_OUT_OF_RANGE", "pages"),
        ({"pages": 501}, "VALIDATION_OUT_OF_RANGE", "pages"),
        ({"metadata": "text"}, "VALIDATION_INVALID_TYPE", "metadata"),
        ({"metadata": {"priority": "urgent"}}, "VALIDATION_INVALID_ENUM", "priority"),
        ({"metadata": {"tags": "one"}}, "VALIDATION_INVALID_TYPE", "tags"),
        ({"metadata": {"tags": [1]}}, "VALIDATION_INVALID_TYPE", "tags"),
        ({"metadata": {"tags": list("abcdef")}}, "VALIDATION_OUT_OF_RANGE", "tags"),
        ({"metadata": {"origin": {"year": 4000}}}, "VALIDATION_OUT_OF_RANGE", "year"),
    ],
    ids=str,
)
@pytest.mark.proves("spec-4.5.3-input-fields-schema-validated", "ops-5.1-requests-validated-before-execution")
async def test_a_field_that_does_not_fit_the_resource_is_refused_and_nothing_changes(
    aql: Aql, key: str, fields: dict[str, Any], code: str, place: str
) -> None:
    await create(aql, key)
    error = error_of(await aql.update("update_note", note_id=key, input={"body": "New", **fields}), code)
    assert place in error["details"]["param_name"]
    assert await state(aql, key) == EVERYTHING
    assert "update_note" not in await aql.runs(key)


@pytest.mark.parametrize(
    ("fields", "unknown"),
    [({"colour": "red"}, "colour"), ({"metadata": {"colour": "red"}}, "colour"), ({"Title": "New"}, "Title")],
    ids=["field", "nested", "letter-case"],
)
@pytest.mark.proves("spec-4.5.3-unknown-input-fields-rejected")
async def test_a_field_that_the_resource_does_not_have_is_refused(
    aql: Aql, key: str, fields: dict[str, Any], unknown: str
) -> None:
    await create(aql, key)
    error = error_of(await aql.update("update_note", note_id=key, input=fields), "VALIDATION_UNKNOWN_FIELD")
    assert error["details"]["operation"] == "update_note"
    assert error["details"]["unknown_fields"] == [unknown]
    assert unknown not in error["details"]["valid_fields"]
    assert await state(aql, key) == EVERYTHING


@pytest.mark.proves("spec-4.5.3-identifiers-inside-input-rejected", "spec-4.5-update-identifiers-beside-input")
async def test_an_identifier_inside_input_is_refused(aql: Aql, key: str) -> None:
    await create(aql, key)
    answer = await aql.update("update_note", note_id=key, input={"note_id": "other", "title": "New"})
    assert error_of(answer, "VALIDATION_UNKNOWN_FIELD")["details"]["unknown_fields"] == ["note_id"]
    assert await state(aql, key) == EVERYTHING


@pytest.mark.proves("spec-4.5-update-identifiers-beside-input")
async def test_the_identifier_of_an_update_is_declared_beside_input(aql: Aql) -> None:
    parameters = {p["name"]: p for p in (await aql.operation("update_note"))["parameters"]}
    assert parameters["note_id"]["required"]
    assert parameters["input"]["required"]
    patch = (await aql.introspect("types", parameters["input"]["type"]))["type"]
    assert "note_id" not in [field["name"] for field in patch["fields"]]
    assert "title" in [field["name"] for field in patch["fields"]]


@pytest.mark.proves("intro-8.2.2-read-only-fields-documented", "spec-4.5.3-input-fields-schema-validated")
async def test_a_read_only_field_is_shown_as_such_and_cannot_be_updated(aql: Aql, key: str) -> None:
    input_type = (await aql.parameter("update_note", "input"))["type"]
    patch = (await aql.introspect("types", input_type))["type"]
    created_at = next(field for field in patch["fields"] if field["name"] == "created_at")
    assert "read-only" in created_at["description"]
    await create(aql, key)
    before = data_of(await aql.read("get_note", note_id=key))
    answer = await aql.update("update_note", note_id=key, input={"created_at": "2020-01-01T00:00:00Z"})
    assert error_of(answer, "VALIDATION_READ_ONLY_FIELD")["details"]["field"] == "created_at"
    assert data_of(await aql.read("get_note", note_id=key)) == before
