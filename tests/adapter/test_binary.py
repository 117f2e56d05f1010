"""Binary values and the metadata beside them (Spec 4.7.4)."""

import base64
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from headgate import Binary, Category, Limits, Operation
from headgate.engine.validation import validate
from tests.adapter.making import operation


async def create_file(file_content: Binary, thumb: Binary | None = None, note: bytes = b"") -> None:
    """Keep a file."""


def received(made: Operation | None = None, /, **params: object) -> dict[str, Any]:
    """What the handler gets; that it is only to be tried, it never learns."""
    made = made or operation(create_file, Category.CREATE)
    assert made.bind is not None
    values = validate(made, params, Limits(), strict=True).values
    del values["dry_run"]
    return dict(made.bind(values))


def test_every_binary_parameter_has_its_encoding_and_media_type_beside_it() -> None:
    names = [parameter.name for parameter in operation(create_file, Category.CREATE).parameters]
    assert names == [
        *("file_content", "thumb", "note"),
        *("file_encoding", "file_mime_type", "thumb_encoding", "thumb_mime_type", "note_encoding", "note_mime_type"),
        "dry_run",
    ]


def test_the_metadata_is_optional_and_base64_is_the_only_encoding() -> None:
    made = operation(create_file, Category.CREATE)
    encoding, mime_type = made.parameter("file_encoding"), made.parameter("file_mime_type")
    assert encoding is not None
    assert mime_type is not None
    assert (encoding.required, encoding.default, encoding.schema["enum"]) == (False, "base64", ["base64"])
    assert (mime_type.required, mime_type.default) == (False, None)


def test_a_binary_comes_with_its_media_type_and_the_metadata_is_no_argument() -> None:
    assert received(file_content="SGVsbG8=", file_mime_type="text/plain", file_encoding="base64") == {
        "file_content": Binary(b"Hello", "text/plain"),
        "thumb": None,
        "note": b"",
    }


def test_a_binary_without_a_media_type_is_plain_bytes() -> None:
    assert received(file_content="SGVsbG8=")["file_content"] == Binary(b"Hello", "application/octet-stream")


def test_an_optional_binary_has_its_media_type_too() -> None:
    assert received(file_content="", thumb="AAE=", thumb_mime_type="image/png")["thumb"] == Binary(
        b"\x00\x01", "image/png"
    )


def test_the_media_type_of_plain_bytes_is_dropped() -> None:
    assert received(file_content="", note="AAE=", note_mime_type="image/png")["note"] == b"\x00\x01"


def test_metadata_that_the_author_declares_is_left_to_the_author() -> None:
    async def create_image(image: Binary, image_mime_type: str = "image/png") -> None:
        """Keep an image."""

    made = operation(create_image, Category.CREATE)
    names = [parameter.name for parameter in made.parameters]
    assert names == ["image", "image_mime_type", "image_encoding", "dry_run"]
    assert received(made, image="", image_mime_type="image/gif") == {
        "image": Binary(b"", "image/gif"),
        "image_mime_type": "image/gif",
    }


def test_two_binaries_may_share_their_metadata() -> None:
    async def create_pair(page: bytes, page_content: bytes) -> None:
        """Keep two."""

    names = [parameter.name for parameter in operation(create_pair, Category.CREATE).parameters]
    assert names == ["page", "page_content", "page_encoding", "page_mime_type", "dry_run"]


def test_an_operation_without_binaries_has_nothing_to_bind() -> None:
    async def get_thing(thing_id: int) -> None:
        """Get a thing."""

    assert operation(get_thing).bind is None


class Document(BaseModel):
    scan: Binary


def test_a_binary_in_a_model_is_written_with_its_metadata_and_read_back() -> None:
    document = Document(scan=Binary(b"Hello", "text/plain"))
    wire = document.model_dump()
    assert wire == {
        "scan": {"content": base64.b64encode(b"Hello").decode(), "encoding": "base64", "mime_type": "text/plain"}
    }
    assert Document.model_validate(wire) == document


@pytest.mark.parametrize("value", [1, "SGVsbG8=", {"content": 1}, None, {}], ids=repr)
def test_nothing_else_is_a_binary(value: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Binary).validate_python(value)
