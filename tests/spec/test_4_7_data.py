"""Specification 4.7.1 to 4.7.4 and 4.7.6: text, dates, numbers, binary data and null."""

import base64
import json
from datetime import datetime
from typing import Any

import pytest

from headgate import Adapter
from tests.spec.conftest import Serve
from tests.spec.wires import Aql, data_of, error_of

pytestmark = pytest.mark.anyio

TEXTS = {
    "latin": "Größe, cœur, año",
    "greek": "Ἐν ἀρχῇ ἦν ὁ λόγος",
    "cyrillic": "Всё хорошо",
    "hebrew": "שלום עולם",
    "arabic": "السلام عليكم",
    "devanagari": "नमस्ते दुनिया",
    "han": "天地玄黃",
    "kana": "いろはにほへと",
    "hangul": "안녕하세요",
    "emoji": "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "beyond-bmp": "𐍈𐌿𐍄 𒀀𒁀",
    "combining": "e\u0301 is not é",
    "bidi": "\u202eabc\u202c",
    "separators": "a\u2028b\u2029c\r\n\td",
    "quotes": "\"'\\/<>&\x7f",
    "bom": "\ufeffabc",
    "noncharacter": "\uffff \ufffe",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.proves("spec-4.7.1-text-is-utf8")
async def test_text_of_any_script_comes_back_unchanged(aql: Aql, key: str, text: str) -> None:
    assert data_of(await aql.read("get_text", text=text)) == text
    data_of(await aql.create("create_note", note_id=key, title=text, metadata={"author": text, "tags": [text]}))
    note = data_of(await aql.read("get_note", note_id=key))
    assert (note["title"], note["metadata"]) == (text, {"author": text, "tags": [text]})


@pytest.mark.parametrize(
    "params",
    [
        {"text": "a\0b"},
        {"text": "\0"},
        {"text": "x", "_meta": {"a": ["\0"]}},
        {"te\0xt": "x"},
    ],
    ids=["inside", "alone", "metadata", "name"],
)
@pytest.mark.proves("spec-4.7.1-null-bytes-rejected")
async def test_a_null_character_is_refused(aql: Aql, params: dict[str, Any]) -> None:
    answer = await aql.call("mcp_aql_read", {"operation": "get_text", "params": params})
    error = error_of(answer, "VALIDATION_INVALID_ENCODING")
    assert "U+0000" in error["message"]


DATES = ["04.02.2026", "02/04/2026", "2026-2-4", "20260204", "2026-02-30", "2026-02-04T10:30:00Z", "today", ""]
MOMENTS = ["2026-02-04 10:30", "2026-02-04", "10:30", "1770200000", "2026-02-04T25:00:00Z", "2026-02-04T10:30:00", ""]


@pytest.mark.parametrize(
    ("name", "value"),
    [*(("day", text) for text in DATES), *(("moment", text) for text in MOMENTS), ("day", 5), ("moment", 5)],
)
@pytest.mark.proves("spec-4.7.2-dates-are-iso-8601")
async def test_a_date_in_another_form_is_refused(aql: Aql, key: str, name: str, value: object) -> None:
    error = error_of(await aql.read("get_sample", key=key, **{name: value}))
    assert error["code"].startswith("VALIDATION_")
    assert error["details"]["param_name"] == name
    assert await aql.runs(key) == []


@pytest.mark.parametrize(
    ("name", "value", "answered"),
    [
        ("day", "2026-02-04", "2026-02-04"),
        ("moment", "2026-02-04T10:30:00Z", "2026-02-04T10:30:00Z"),
        ("moment", "2026-02-04T10:30:00+05:30", "2026-02-04T05:00:00Z"),
        ("moment", "2026-02-04T10:30:00.123Z", "2026-02-04T10:30:00.123000Z"),
    ],
)
@pytest.mark.proves("spec-4.7.2-dates-are-iso-8601", "spec-4.7.2-response-timestamps-in-utc")
async def test_dates_and_times_in_iso_8601_are_taken_and_answered_in_utc(
    aql: Aql, key: str, name: str, value: str, answered: str
) -> None:
    sample = data_of(await aql.read("get_sample", key=key, **{name: value}))
    assert sample["values"][name] == answered
    assert sample["kinds"][name] == {"day": "date", "moment": "datetime"}[name]


@pytest.mark.proves("spec-4.7.2-response-timestamps-in-utc", "spec-4.7.2-dates-are-iso-8601")
async def test_every_timestamp_in_an_answer_is_in_utc_with_z(aql: Aql) -> None:
    times = data_of(await aql.read("get_times"))
    stamps = [times["utc"], times["offset"], times["without_zone"], times["nested"][0]["at"]]
    assert all(stamp.endswith("Z") for stamp in stamps)
    assert {datetime.fromisoformat(stamp) for stamp in stamps} == {datetime.fromisoformat("2026-02-04T10:30:00+00:00")}
    assert times["day"] == "2026-02-04"


@pytest.mark.proves("spec-4.7.2-date-only-timezone-documented")
async def test_introspection_says_in_which_zone_a_date_alone_is(aql: Aql) -> None:
    assert "zone" in (await aql.parameter("get_sample", "day"))["description"]
    assert "zone" in (await aql.introspect("adapter_info"))["conventions"]["dates"]


@pytest.mark.proves("spec-4.7.3-precise-numbers-as-strings")
async def test_numbers_that_a_double_cannot_hold_are_strings_in_answers(aql: Aql) -> None:
    assert data_of(await aql.read("get_numbers")) == {
        "largest_safe": 9007199254740991,
        "smallest_safe": -9007199254740991,
        "beyond": "9007199254740992",
        "below": "-9007199254740992",
        "huge": "12345678901234567890",
        "money": "12.50",
        "nested": [{"beyond": "1152921504606846976"}],
    }


@pytest.mark.proves("spec-4.7.3-precise-numbers-as-strings", "spec-4.7.3-string-number-parameters-documented")
async def test_numbers_that_a_double_cannot_hold_are_sent_as_strings(aql: Aql, key: str) -> None:
    serial, amount = "12345678901234567890", "0.1000000000000000000001"
    sample = data_of(await aql.read("get_sample", key=key, serial=serial, amount=amount))
    assert (sample["values"]["serial"], sample["kinds"]["serial"]) == (serial, "int")
    assert (sample["values"]["amount"], sample["kinds"]["amount"]) == (amount, "Decimal")
    error_of(await aql.read("get_sample", key=key, serial="many"), "VALIDATION_INVALID_TYPE")


@pytest.mark.proves("spec-4.7.3-string-number-convention-documented")
async def test_introspection_says_how_numbers_are_written_as_strings(aql: Aql) -> None:
    words = (await aql.introspect("adapter_info"))["conventions"]["numbers"]
    assert "string" in words
    assert "2^53-1" in words
    assert "decimal" in words


@pytest.mark.parametrize("name", ["serial", "amount"])
@pytest.mark.proves("spec-4.7.3-string-number-parameters-documented", "spec-4.7.3-string-number-convention-documented")
async def test_a_number_that_may_have_to_be_a_string_says_so(aql: Aql, name: str) -> None:
    assert "string" in (await aql.parameter("get_sample", name))["description"]


@pytest.mark.proves("spec-4.7.3-string-number-parameters-documented")
async def test_a_number_that_fits_a_double_says_nothing_of_strings(aql: Aql) -> None:
    assert "string" not in (await aql.parameter("get_sample", "count"))["description"]


CONTENT = bytes(range(256))


@pytest.mark.proves("spec-4.7.4-binary-is-padded-base64", "spec-4.7.4-binary-carries-encoding-metadata")
async def test_binary_data_is_padded_base64_with_its_encoding_and_type_beside_it(aql: Aql, key: str) -> None:
    text = base64.b64encode(CONTENT).decode()
    assert text.endswith("=")
    stored = await aql.create(
        "upload_file", file_id=key, file_content=text, file_encoding="base64", file_mime_type="image/png"
    )
    assert data_of(stored)["size"] == len(CONTENT)
    assert data_of(await aql.read("get_file", file_id=key)) == {
        "file_id": key,
        "file_content": text,
        "file_encoding": "base64",
        "file_mime_type": "image/png",
    }


@pytest.mark.proves("spec-4.7.4-binary-carries-encoding-metadata")
async def test_binary_data_without_a_type_is_answered_with_the_general_one(aql: Aql, key: str) -> None:
    data_of(await aql.create("upload_file", file_id=key, file_content="SGVsbG8gV29ybGQ="))
    file = data_of(await aql.read("get_file", file_id=key))
    assert base64.b64decode(file["file_content"]) == b"Hello World"
    assert (file["file_encoding"], file["file_mime_type"]) == ("base64", "application/octet-stream")


@pytest.mark.parametrize(
    "content",
    ["SGVsbG8gV29ybGQ", "SGVs bG8=", "SGVsbG8*", "____", "Zm9vYmE-", "=", 5, ["SGVsbG8="], {"base64": "SGVsbG8="}],
    ids=str,
)
@pytest.mark.proves("spec-4.7.4-binary-is-padded-base64")
async def test_binary_data_in_another_form_is_refused(aql: Aql, key: str, content: object) -> None:
    error = error_of(await aql.create("upload_file", file_id=key, file_content=content))
    assert error["code"].startswith("VALIDATION_")
    assert error["details"]["param_name"] == "file_content"
    assert await aql.runs(key) == []


@pytest.mark.proves("spec-4.7.4-binary-is-padded-base64")
async def test_another_encoding_than_base64_is_refused(aql: Aql, key: str) -> None:
    answer = await aql.create("upload_file", file_id=key, file_content="SGVsbG8=", file_encoding="hex")
    assert error_of(answer, "VALIDATION_INVALID_ENUM")["details"]["allowed_values"] == ["base64"]


@pytest.mark.proves("spec-4.7.4-binary-carries-encoding-metadata", "intro-8.1.2-every-accepted-parameter-listed")
async def test_the_metadata_of_a_binary_parameter_is_in_introspection(aql: Aql) -> None:
    parameters = {p["name"]: p for p in (await aql.operation("upload_file"))["parameters"]}
    assert set(parameters) == {"file_id", "file_content", "file_encoding", "file_mime_type", "dry_run"}
    assert parameters["file_content"]["type"] == "string"
    assert "base64" in parameters["file_content"]["description"]
    assert parameters["file_encoding"]["enum"] == ["base64"]


@pytest.mark.proves("spec-4.7.4-alternative-binary-documented")
async def test_an_operation_that_takes_binary_data_by_reference_says_so(aql: Aql, key: str) -> None:
    details = await aql.operation("import_file")
    assert "URL" in details["description"]
    source = next(parameter for parameter in details["parameters"] if parameter["name"] == "source")
    assert source["format"] == "uri"
    assert "in place of base64" in source["description"]
    data_of(await aql.create("import_file", file_id=key, source="https://example.org/file"))


@pytest.mark.proves("spec-4.7.6-null-semantics-documented")
async def test_a_parameter_for_which_null_is_not_absence_says_what_each_does(aql: Aql, key: str) -> None:
    data_of(await aql.create("create_note", note_id=f"{key}-1", title="Signed", metadata={"author": "ada"}))
    data_of(await aql.create("create_note", note_id=f"{key}-2", title="Unsigned"))

    async def titles(**params: Any) -> list[str]:
        return [note["title"] for note in data_of(await aql.read("list_notes", prefix=key, **params))]

    assert await titles() == ["Signed", "Unsigned"]
    assert await titles(author=None) == ["Unsigned"]
    description = (await aql.parameter("list_notes", "author"))["description"]
    assert "null for" in description
    assert "left out" in description


@pytest.mark.proves("spec-4.7.6-null-semantics-documented")
async def test_the_input_of_an_update_says_what_null_and_leaving_out_do(serve: Serve) -> None:
    async with serve() as aql:
        description = (await aql.parameter("update_note", "input"))["description"]
        assert "null removes" in description
        assert "left out" in description
        assert "removes the field" in (await aql.introspect("adapter_info"))["conventions"]["null"]


@pytest.mark.proves("spec-4.7.1-text-is-utf8")
async def test_a_handler_cannot_make_an_answer_that_is_not_utf8(serve: Serve) -> None:
    adapter = Adapter("odd")

    @adapter.read
    async def get_odd() -> dict[str, str]:
        """A text that UTF-8 cannot carry."""
        return {"text": "a\ud800b"}

    async with serve(adapter) as aql:
        text = data_of(await aql.read("get_odd"))["text"]
        assert json.dumps(text, ensure_ascii=False).encode()
        assert text[0] + text[-1] == "ab"
