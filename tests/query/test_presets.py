"""What a list shows unless it is asked for more: what is short, and not too much of it."""

import pytest

from headgate.query.collections import Collection, Field
from headgate.query.kinds import Kind


def collection(*fields: Field, version: str | None = None) -> Collection:
    known = (Field(name="id", kind=Kind.INTEGER), *fields)
    return Collection("things", "thing", {one.name: one for one in known}, key=("id",), version=version)


def text(name: str, longest: int | None = None, choices: tuple[str, ...] = ()) -> Field:
    return Field(name=name, kind=Kind.TEXT, max_length=longest, choices=choices)


@pytest.mark.parametrize(
    ("field", "is_shown"),
    [
        (text("city"), True),
        (text("summary"), False),
        (text("cover_text"), False),
        (text("text_size"), True),
        (text("description", 255), True),
        (text("city", 256), False),
        (text("note", choices=("a", "b")), True),
        (Field(name="photo", kind=Kind.BYTES), False),
        (Field(name="settings", kind=Kind.JSON), False),
        (Field(name="body", kind=Kind.INTEGER), True),
    ],
    ids=lambda given: given.name + str(given.max_length or "") if isinstance(given, Field) else None,
)
def test_the_standard_fields_are_the_short_ones(field: Field, is_shown: bool) -> None:
    made = collection(text("name"), field)
    assert made.presets["standard"] == (("id", "name", field.name) if is_shown else ("id", "name"))
    assert made.presets["full"] == ("id", "name", field.name)


def test_the_count_of_versions_is_not_standard() -> None:
    version = Field(name="version", kind=Kind.INTEGER)
    assert collection(text("name"), version, version="version").presets["standard"] == ("id", "name")
    assert collection(text("name"), version).presets["standard"] == ("id", "name", "version")


def test_of_many_fields_the_first_are_standard_and_the_name_wherever_it_stands() -> None:
    many = [Field(name=f"number_{one}", kind=Kind.INTEGER) for one in range(40)]
    shown = collection(*many, text("title")).presets["standard"]
    assert shown == ("id", *(f"number_{one}" for one in range(14)), "title")


def test_a_long_text_is_nobodys_name() -> None:
    assert collection(text("note"), text("town")).presets["minimal"] == ("id", "town")
    assert collection(text("note")).presets["minimal"] == ("id",)


def test_what_has_nothing_short_and_no_key_is_known_by_its_first_fields() -> None:
    parts = {name: Field(name=name, kind=Kind.JSON) for name in "abcd"}
    made = Collection("blobs", "blob", parts)
    assert made.presets["standard"] == made.presets["minimal"] == ("a", "b", "c")
