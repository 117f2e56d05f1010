"""Links between answers: the ``Link`` headers of RFC 8288."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import httpx2

from headgate.adapter.masking import scrubbed
from headgate.protocol.errors import AqlError
from headgate.sources.http.messages import Answer
from headgate.sources.http.origins import parsed

__all__ = ["links_of"]

_VALUE: Final = r"\s*+=\s*+(?:\"((?:[^\"\\]|\\.)*+)\"|([^\s;,\"]++))"
_NAME: Final = r";[\s;]*+([^\s;,=]++)"
_LINK: Final = re.compile(rf"[\s,]*+<([^>]*+)>((?:\s*+{_NAME}(?:{_VALUE})?+)*+)[\s;]*+(?:,|\Z)")
_PARAMETER: Final = re.compile(rf"{_NAME}(?:{_VALUE})?+")
"""None of these ever goes back over what it has read, so that no header takes long."""
_LONGEST: Final = 20_000


def links_of(answer: Answer) -> Mapping[str, str]:
    """The absolute URLs that an answer links to, by relation in small letters; the first of each relation counts.

    A link that speaks of another page than the answer's own is none of it.
    """
    links: dict[str, str] = {}
    base = httpx2.URL(answer.url)
    for target, parameters in _parsed(", ".join(answer.headers.get_list("link"))[:_LONGEST]):
        url = _absolute(base, target)
        if url is None or "anchor" in parameters:
            continue
        for relation in parameters.get("rel", "").lower().split():
            links.setdefault(relation, scrubbed(url, answer.secrets))
    return links


def _parsed(header: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each link with its parameters; what cannot be read ends the list."""
    position = 0
    while found := _LINK.match(header, position):
        parameters: dict[str, str] = {}
        for name, in_quotes, plain in _PARAMETER.findall(found[2]):
            parameters.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", in_quotes) or plain)
        yield found[1], parameters
        position = found.end()


def _absolute(base: httpx2.URL, target: str) -> str | None:
    try:
        return str(parsed(str(base.join(target))))
    except (httpx2.InvalidURL, ValueError, AqlError):
        return None
