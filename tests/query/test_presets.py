"""What a list shows unless it is asked for more: what is short, and not too much of it."""

import pytest

from headgate.adapter.collections.words import describe_listing, listing_in_short
from headgate.query.collections import Collection, Field, Relationship
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


def test_of_many_fields_those_stay_that_say_most_in_the_order_of_the_table() -> None:
    loose = [Field(name=f"note_{one}_mark", kind=Kind.TEXT, nullable=True) for one in range(20)]
    due = Field(name="due", kind=Kind.DATE, nullable=True)
    done = Field(name="done", kind=Kind.BOOLEAN, nullable=True)
    grade = Field(name="grade", kind=Kind.TEXT, choices=("a", "b"), nullable=True)
    priority = Field(name="priority", kind=Kind.INTEGER, nullable=True)
    shown = collection(*loose, due, done, text("title"), grade, text("status"), priority).presets["standard"]
    assert shown[0] == "id"
    assert shown[-6:] == ("due", "done", "title", "grade", "status", "priority")
    assert shown[1:-6] == tuple(f"note_{one}_mark" for one in range(9))


def test_a_reference_stays_before_a_number() -> None:
    numbers = [Field(name=f"number_{one}", kind=Kind.INTEGER, nullable=True) for one in range(20)]
    owner = Field(name="owner_id", kind=Kind.INTEGER, nullable=True)
    fields = {one.name: one for one in (Field(name="id", kind=Kind.INTEGER), *numbers, owner)}
    leads = {"owner": Relationship(name="owner", target="people", local=("owner_id",), remote=("id",))}
    made = Collection("things", "thing", fields, key=("id",), relationships=leads)
    assert made.presets["standard"] == ("id", *(f"number_{one}" for one in range(14)), "owner_id")


def test_a_text_that_ends_in_the_word_for_a_name_is_the_name() -> None:
    assert collection(text("created_by"), text("ticket_subject")).presets["minimal"] == ("id", "ticket_subject")


def test_a_list_says_what_its_standard_fields_leave_out() -> None:
    def told(many: int) -> str:
        numbers = [Field(name=f"number_{one}", kind=Kind.INTEGER) for one in range(many)]
        return describe_listing(collection(*numbers), "standard") + listing_in_short(collection(*numbers), "standard")

    assert told(60).count("full gives the 45 others.") == 2
    assert "all but number_15, number_16" in told(17)
    blobs = [Field(name=name, kind=Kind.JSON) for name in ("one", "two")]
    assert "full gives the 2 others: one, two." in describe_listing(collection(*blobs), "standard")
    assert "Without fields: standard; full gives one too." in describe_listing(collection(blobs[0]), "standard")
    assert "full gives" not in describe_listing(collection(*blobs), "minimal")


def test_a_long_text_is_nobodys_name() -> None:
    assert collection(text("note"), text("town")).presets["minimal"] == ("id", "town")
    assert collection(text("note")).presets["minimal"] == ("id",)


def test_what_has_nothing_short_and_no_key_is_known_by_its_first_fields() -> None:
    parts = {name: Field(name=name, kind=Kind.JSON) for name in "abcd"}
    made = Collection("blobs", "blob", parts)
    assert made.presets["standard"] == made.presets["minimal"] == ("a", "b", "c")
