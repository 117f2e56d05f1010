"""Path parameters stay in their segment, whatever they hold."""

from urllib.parse import unquote

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headgate.protocol.errors import Invalid
from headgate.sources.http.messages import OutRequest
from headgate.sources.http.paths import segment

ENCODED = (
    ("plain", "plain"),
    ("a/b", "a%2Fb"),
    ("a\\b", "a%5Cb"),
    ("a?b=c#d", "a%3Fb%3Dc%23d"),
    ("100%", "100%25"),
    ("%2e%2e", "%252e%252e"),
    ("%2F", "%252F"),
    ("...", "..."),
    (".hidden", ".hidden"),
    ("a..b", "a..b"),
    ("a/..b", "a%2F..b"),
    ("\r\nX: y", "%0D%0AX%3A%20y"),
    ("\x00", "%00"),
    ("é 你", "%C3%A9%20%E4%BD%A0"),
    ("a;b=c:d@e", "a%3Bb%3Dc%3Ad%40e"),
    ("~user-1_2", "~user-1_2"),
)


@pytest.mark.parametrize(("value", "encoded"), ENCODED)
def test_a_value_is_encoded_so_that_it_means_itself(value: str, encoded: str) -> None:
    assert segment(value) == encoded


@pytest.mark.parametrize("value", ["", ".", "..", "../x", "x/..", "a/../b", "..\\x", "a\\..", "./x", "x/.", "\ud800"])
def test_a_value_that_no_encoding_can_keep_in_its_segment_is_refused(value: str) -> None:
    with pytest.raises(Invalid) as caught:
        segment(value, "book_id")
    assert caught.value.error.details == {"param_name": "book_id"}
    assert "'book_id'" in caught.value.error.message


def normalized(path: str) -> list[str]:
    """The segments of a path as a careless server sees them: decoded first, then cleared of dots."""
    kept: list[str] = []
    for piece in unquote(path).replace("\\", "/").split("/"):
        if piece == "..":
            kept = kept[:-1]
        elif piece != ".":
            kept.append(piece)
    return kept


@given(st.text())
@example("..")
@example("a/../../b")
@example("%2e%2e/")
@example("..%2f")
def test_no_value_leaves_its_segment(value: str) -> None:
    try:
        encoded = segment(value)
    except Invalid:
        return
    url = httpx2.URL(OutRequest("GET", f"https://api.example/books/{encoded}/pages?x=1").url)
    assert url.raw_path == f"/books/{encoded}/pages?x=1".encode()
    assert url.host == "api.example"
    assert not set(encoded) & set("/?#\\ \r\n")
    assert encoded not in (".", "..")
    assert unquote(encoded) == value
    assert normalized(url.raw_path.decode().partition("?")[0])[:2] == ["", "books"]
    assert normalized(url.raw_path.decode().partition("?")[0])[-1] == "pages"
