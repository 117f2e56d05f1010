"""From the bytes of an answer to data: JSON, text in its charset, or binary with its media type."""

import codecs
import json
import re
from email.message import Message
from typing import Any, Final, NoReturn

import orjson

from headgate.adapter.binary import DEFAULT_MIME_TYPE, Binary
from headgate.adapter.masking import scrubbed
from headgate.protocol.errors import AqlError
from headgate.sources.http.messages import Answer

__all__ = ["DEEPEST", "data_of", "media_type_of", "text_of"]

DEEPEST: Final = 128
"""How many levels an answer may be nested."""

_EMPTY: Final = frozenset({204, 205, 304})
_TEXTS: Final = frozenset(
    f"application/{name}"
    for name in (
        *("ecmascript", "graphql", "javascript", "json-seq", "jsonl", "sql", "toml", "x-javascript", "x-ndjson"),
        *("x-www-form-urlencoded", "x-yaml", "xml", "yaml"),
    )
)
_CHARSETS: Final = re.compile(
    r"(utf-(8|8-sig|16|32)(-[bl]e)?|ascii|iso8859|iso2022|cp\d|koi8|mac-|shift_jis|euc_|gb|big5|tis-620|hz|johab|kz1048|ptcp)"
)
"""Charsets of texts. Python knows other codecs by name too, some of which are no charset and some of which are slow."""
_DECLARED: Final = re.compile(rb"""<\?xml[^>]{0,100}\sencoding=["']([A-Za-z0-9._-]{1,40})["']""")
_LONG_NUMBER: Final = re.compile(rb"\d{19}")
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def data_of(answer: Answer, max_depth: int = DEEPEST) -> object:
    """The data of an answer: JSON as what it stands for, text as text, nothing as None, and the rest as Binary.

    What should be JSON and is not, or is nested too deeply, is SERIALIZATION_PARSE_ERROR.
    """
    if answer.status in _EMPTY:
        return None
    media = media_type_of(answer)
    if not media:
        return _without_a_type(answer, max_depth)
    if _is_json(media):
        return _json(answer, max_depth) if answer.content.strip() else None
    if _is_text(media):
        return _shown(text_of(answer), answer)
    return Binary(answer.content, media)


def media_type_of(answer: Answer) -> str:
    """The media type of an answer in small letters, without its parameters; empty if it has none."""
    return str(answer.headers.get("content-type", "")).partition(";")[0].strip().lower()


def text_of(answer: Answer) -> str:
    """The text of an answer in its charset. What cannot be read in it is replaced, never refused."""
    return answer.content.decode(_charset(answer), "replace")


def _is_json(media: str) -> bool:
    return media in ("application/json", "text/json", "application/x-json") or media.endswith("+json")


def _is_text(media: str) -> bool:
    return media.startswith("text/") or media in _TEXTS or media.endswith(("+xml", "+yaml"))


def _without_a_type(answer: Answer, max_depth: int) -> object:
    """What an answer seems to be that does not say it."""
    if not answer.content:
        return None
    try:
        return _json(answer, max_depth)
    except AqlError:
        pass
    try:
        return _shown(answer.content.decode(), answer)
    except UnicodeDecodeError:
        return Binary(answer.content, DEFAULT_MIME_TYPE)


def _charset(answer: Answer) -> str:
    """The charset that is told by a mark, in the header, or in XML itself; else UTF-8."""
    header = Message()
    header["content-type"] = str(answer.headers.get("content-type", ""))
    declared = _DECLARED.match(answer.content[:200])
    candidates = (
        *(name for mark, name in _MARKS if answer.content.startswith(mark)),
        header.get_content_charset(),
        declared[1].decode() if declared else None,
    )
    return next((name for one in candidates if one and (name := _known(one))), "utf-8")


def _known(charset: str) -> str | None:
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        return None
    return name if _CHARSETS.match(name) else None


def _json(answer: Answer, max_depth: int) -> object:
    text = answer.content if _charset(answer) == "utf-8" else text_of(answer).encode(errors="replace")
    try:
        # Only the slower reader keeps every digit of a long number.
        data = _exact(text) if _LONG_NUMBER.search(text) else orjson.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable("is not valid JSON", position=getattr(error, "pos", None)) from None
    if _is_deeper(data, text, max_depth):
        raise _unreadable(f"is nested deeper than {max_depth} levels")
    return _shown(data, answer)


def _exact(text: bytes) -> object:
    return json.loads(text, parse_constant=_no_number)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _is_deeper(data: object, text: bytes, depth: int) -> bool:
    if text.count(b"[") + text.count(b"{") <= depth:
        return False
    level: list[Any] = [data]
    for _ in range(depth):
        level = [child for value in level for child in _children(value)]
    return bool(level)


def _children(value: object) -> list[object]:
    """What is nested inside a value."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [child for child in inside if isinstance(child, dict | list)]


def _shown(data: object, answer: Answer) -> object:
    """The data without the credentials that it was asked for with, should the upstream repeat them."""
    return scrubbed(data, answer.secrets) if answer.secrets and _may_hold(data, answer.secrets) else data


def _may_hold(data: object, secrets: frozenset[str]) -> bool:
    """Whether a secret may stand in the data. One search of their text is much faster than a walk through them."""
    try:
        text = orjson.dumps(data)
    except orjson.JSONEncodeError:
        return True
    return any(orjson.dumps(secret)[1:-1] in text for secret in secrets)


def _unreadable(what: str, position: int | None = None) -> AqlError:
    details = {} if position is None else {"position": position}
    return AqlError("SERIALIZATION_PARSE_ERROR", f"The answer of the upstream cannot be read: it {what}", details)
