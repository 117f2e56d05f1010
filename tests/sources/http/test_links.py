"""Link headers: whatever is written in them, only absolute web addresses come out, and in time."""

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.sources.http.links import links_of
from headgate.sources.http.messages import Answer


def links(*headers: str, url: str = "https://api.example/v1/books?page=1", secret: str = "") -> dict[str, str]:
    lines = httpx2.Headers([(b"Link", header.encode()) for header in headers])
    return dict(links_of(Answer(200, lines, b"", url, frozenset({secret} if secret else ()))))


NEXT = "https://api.example/v1/books?page=2"
READ: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    (('<https://api.example/v1/books?page=2>; rel="next"',), {"next": NEXT}),
    (("<?page=2>;rel=next",), {"next": NEXT}),
    (("</v1/books?page=2> ; rel = next",), {"next": NEXT}),
    (("<books?page=2>; rel=NEXT",), {"next": NEXT}),
    (('<?page=2>; rel="next last"',), {"next": NEXT, "last": NEXT}),
    (('<?page=2>; rel="next", <?page=9>; rel="last"',), {"next": NEXT, "last": NEXT.replace("2", "9")}),
    (('<?page=2>; rel="next"', '<?page=9>; rel="next"'), {"next": NEXT}),
    (('<?page=2>; title="a, b; c=\\"d\\" <x>"; rel="next"',), {"next": NEXT}),
    (("<https://api.example/v1/books?page=2>; rel=next; rel=prev",), {"next": NEXT}),
    (('<https://other.example/a,b;c>; rel="next"',), {"next": "https://other.example/a,b;c"}),
    (("//other.example/x",), {}),
    (("<//other.example/x>; rel=next",), {"next": "https://other.example/x"}),
    (('<?page=2>; rel="next"; anchor="#part"',), {}),
    (("<javascript:alert(1)>; rel=next",), {}),
    (("<file:///etc/passwd>; rel=next",), {}),
    (("<https://[>; rel=next, <?page=2>; rel=next",), {"next": NEXT}),
    (("<?page=2>",), {}),
    (("<?page=2>; rel",), {}),
    (("",), {}),
    ((), {}),
    (("<?page=2; rel=next",), {}),
    (('<?page=2>; rel="next',), {}),
    ((", , <?page=2>; rel=next;,",), {"next": NEXT}),
)


@pytest.mark.parametrize(("headers", "expected"), READ, ids=range(len(READ)))
def test_links_are_read_by_their_relation(headers: tuple[str, ...], expected: dict[str, str]) -> None:
    assert links(*headers) == expected


def test_a_key_that_the_upstream_repeats_is_masked() -> None:
    assert links("<?page=2&key=hidden-key>; rel=next", secret="hidden-key") == {"next": f"{NEXT}&key=***"}  # noqa: S106


@given(st.text(alphabet='<>;,="\\ arel?/:', max_size=60))
def test_no_header_makes_anything_but_absolute_addresses(header: str) -> None:
    for url in links(header).values():
        assert httpx2.URL(url).scheme in ("http", "https")


@pytest.mark.parametrize("piece", ["; a= ", ";a", '<x>; rel="', "<x>;", " ", ",", '\\"', "<", "; a=b "])
def test_no_header_takes_long(piece: str) -> None:
    links(f"<x>{piece * 20_000}!")
