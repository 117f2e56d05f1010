"""From bytes to data: JSON, text in its charset, nothing, or binary."""

import json

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.adapter.binary import Binary
from headgate.protocol.errors import AqlError
from headgate.sources.http.decoding import data_of, media_type_of
from headgate.sources.http.messages import Answer


def answer(
    content: bytes,
    content_type: str | None = "application/json",
    status: int = 200,
    secrets: frozenset[str] = frozenset(),
) -> Answer:
    headers = {} if content_type is None else {"content-type": content_type}
    return Answer(status, httpx2.Headers(headers), content, "https://api.example/x", secrets)


READ: tuple[tuple[str | None, bytes, object], ...] = (
    ("application/json", b'{"a": [1, null, true, 1.5]}', {"a": [1, None, True, 1.5]}),
    ("application/json; charset=utf-8", '"é"'.encode(), "é"),
    ("application/json; charset=iso-8859-1", '"é"'.encode("latin-1"), "é"),
    ("application/json; charset=utf-16", '{"é": 1}'.encode("utf-16"), {"é": 1}),
    ("application/json", b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
    ("APPLICATION/JSON", b"7", 7),
    ("text/json", b"[]", []),
    ("application/problem+json", b'{"title": "no"}', {"title": "no"}),
    ("application/vnd.api+json; version=1", b"{}", {}),
    ("application/json", b"", None),
    ("application/json", b" \n", None),
    ("application/json", b"123456789012345678901234567890", 123456789012345678901234567890),
    ("application/json", b'{"id": 18446744073709551616}', {"id": 18446744073709551616}),
    ("application/json", b'{"id": 9007199254740993}', {"id": 9007199254740993}),
    ("text/plain", b"plain", "plain"),
    ("text/plain; charset=iso-8859-1", b"\xe9", "é"),
    ("text/plain; charset=windows-1252", b"\x80", "€"),
    ('text/plain; charset="Shift_JIS"', "日本".encode("shift_jis"), "日本"),
    ("text/plain; charset=no-such", "é".encode(), "é"),
    ("text/plain; charset=zlib", b"x", "x"),
    ("text/plain; charset=unicode_escape", b"\\x41", "\\x41"),
    ("text/plain; charset=punycode", b"abc-", "abc-"),
    ("text/plain", b"\xff\xfea\x00", "a"),
    ("text/plain", b"\xff!", "�!"),
    ("text/html; charset=utf-8", b"<p>", "<p>"),
    ("text/csv", b"a,b\n", "a,b\n"),
    ("application/xml", b"<a>\xc3\xa9</a>", "<a>é</a>"),
    ("application/xml", b'<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', None),
    ("application/atom+xml", b"<feed/>", "<feed/>"),
    ("application/yaml", b"a: 1", "a: 1"),
    ("application/x-ndjson", b"{}\n{}\n", "{}\n{}\n"),
    ("application/x-www-form-urlencoded", b"a=1", "a=1"),
    ("image/svg+xml", b"<svg/>", "<svg/>"),
    ("image/png", b"\x89PNG", Binary(b"\x89PNG", "image/png")),
    ("application/octet-stream", b"text", Binary(b"text")),
    ("application/pdf; x=y", b"%PDF", Binary(b"%PDF", "application/pdf")),
    ("nonsense", b"x", Binary(b"x", "nonsense")),
    (None, b'{"a": 1}', {"a": 1}),
    (None, b"just text", "just text"),
    (None, b"\xff\x00", Binary(b"\xff\x00")),
    (None, b"", None),
    ("", b"1", 1),
)


@pytest.mark.parametrize(("content_type", "content", "data"), READ, ids=[f"{a} {b[:12]!r}" for a, b, _ in READ])
def test_an_answer_is_read_as_what_it_says_it_is(content_type: str | None, content: bytes, data: object) -> None:
    found = data_of(answer(content, content_type))
    expected = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>' if b"ISO" in content else data
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("status", [204, 205, 304])
def test_an_answer_without_content_is_nothing(status: int) -> None:
    assert data_of(answer(b"", status=status)) is None


BROKEN = (
    b"{",
    b'{"a": }',
    b"<html>",
    b"\xff",
    b"NaN",
    b"[1,]",
    b'{"a": 1} trailing',
    b"12345678901234567890 x",
    b"'a'",
)


@pytest.mark.parametrize("content", [*BROKEN, b"[NaN, 12345678901234567890]", b"1" * 5_000, b"[" * 100_000])
def test_broken_json_is_told_without_words_of_the_program(content: bytes) -> None:
    with pytest.raises(AqlError) as caught:
        data_of(answer(content))
    error = caught.value.error
    assert error.code == "SERIALIZATION_PARSE_ERROR"
    assert error.message == "The answer of the upstream cannot be read: it is not valid JSON"


@pytest.mark.parametrize("depth", [1, 2, 50])
def test_what_is_nested_deeper_than_allowed_is_refused(depth: int) -> None:
    for opening, closing in ((b"[", b"]"), (b'{"a":[', b"]}")):
        levels = depth if opening == b"[" else depth // 2
        right = opening * levels + closing * levels
        if levels:
            assert data_of(answer(right), max_depth=depth) == json.loads(right)
        with pytest.raises(AqlError, match=f"deeper than {depth} levels"):
            data_of(answer(b"[" * (depth + 1) + b"]" * (depth + 1)), max_depth=depth)


def test_breadth_is_not_depth() -> None:
    wide = json.dumps([[] for _ in range(1_000)]).encode()
    assert data_of(answer(wide), max_depth=2) == [[]] * 1_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_whatever_is_json_is_read_as_what_was_written(value: object) -> None:
    assert data_of(answer(json.dumps(value).encode())) == (value if value != "" else "")


@given(
    st.binary(max_size=100),
    st.sampled_from(["application/json", "text/plain; charset=utf-16", "text/html", "x/y", None]),
)
def test_no_bytes_make_anything_but_data_or_an_error(content: bytes, content_type: str | None) -> None:
    try:
        data_of(answer(content, content_type))
    except AqlError as error:
        code = error.error.code
    else:
        code = "SERIALIZATION_PARSE_ERROR"
    assert code == "SERIALIZATION_PARSE_ERROR"


SECRETS = frozenset({"the/secret", 'with "quotes"', "77777777"})
MASKED: tuple[tuple[bytes, object], ...] = (
    (b'{"a": "see the/secret here"}', {"a": "see *** here"}),
    (b'{"a": "the\\/secret"}', {"a": "***"}),
    (b'{"a": "\\u0074he/secret"}', {"a": "***"}),
    (b'["with \\"quotes\\""]', ["***"]),
    (b'{"the/secret": 1}', {"***": 1}),
    (b"[77777777]", ["***"]),
    (b'[123456789012345678901234567890, "the/secret"]', [123456789012345678901234567890, "***"]),
    (b'["innocent", 7]', ["innocent", 7]),
)


@pytest.mark.parametrize(("content", "data"), MASKED, ids=[repr(content) for content, _ in MASKED])
def test_a_secret_is_found_however_it_is_written(content: bytes, data: object) -> None:
    assert data_of(answer(content, secrets=SECRETS)) == data


def test_the_media_type_stands_without_its_parameters() -> None:
    assert media_type_of(answer(b"", " Text/HTML ; charset=x")) == "text/html"
    assert media_type_of(answer(b"", None)) == ""
