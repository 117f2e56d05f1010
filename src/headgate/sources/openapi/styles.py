"""How a parameter's value is written where it stands: every style, exploded or not (OpenAPI 3.1, 4.8.12).

What a style cannot tell apart from something else, such as a comma inside one of several items of a header, is refused:
the upstream would read other values than were given.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from headgate.protocol.errors import Invalid
from headgate.sources.http.paths import segment
from headgate.sources.openapi.escaping import escaped, escaped_reserved, json_text, text_of

__all__ = ["DEFAULT_STYLES", "STYLES", "Style", "as_cookies", "as_header", "as_path", "as_query"]

Pairs: TypeAlias = Iterator[tuple[str, str]]
_Write: TypeAlias = Callable[[str], str]

DEFAULT_STYLES: Final[Mapping[str, str]] = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
STYLES: Final[Mapping[str, tuple[str, ...]]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
_DELIMITERS: Final = {"spaceDelimited": " ", "pipeDelimited": "|"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a value is written. ``media`` is there where it is written as a document of that type instead."""

    name: str = "form"
    explode: bool = False
    reserved: bool = False
    empty: bool = False
    """Whether a parameter without a value may be sent."""
    media: str | None = None

    def flat(self, value: Any) -> Any:
        """A value that is a document is one text."""
        if self.media is None:
            return value
        return value if isinstance(value, str) and "json" not in self.media else json_text(value)


# in a path


def as_path(name: str, style: Style, value: Any) -> str:
    """The text that takes the place of ``{name}`` in a path. It never leaves its segment."""
    flat = style.flat(value)
    if not isinstance(flat, list | dict) and style.name == "simple":
        return segment(text_of(flat), name)
    if isinstance(flat, list | dict) and not flat:
        raise Invalid(name, "it stands in a path, so it must not be empty")
    write = partial(escaped, name=name)
    match style.name:
        case "label":
            return _label(style, flat, lambda text: write(text).replace(".", "%2E"))
        case "matrix":
            return _matrix(name, style, flat, write)
        case _:
            return _joined(style, flat, write, ",")


def _label(style: Style, value: Any, write: _Write) -> str:
    return "." + _joined(style, value, write, "." if style.explode else ",")


def _matrix(name: str, style: Style, value: Any, write: _Write) -> str:
    if isinstance(value, dict) and style.explode:
        pairs: list[tuple[str, str]] = [(write(key), write(text_of(child))) for key, child in value.items()]
    elif isinstance(value, list) and style.explode:
        pairs = [(write(name), write(text_of(item))) for item in value]
    else:
        pairs = [(write(name), _joined(style, value, write, ","))]
    return "".join(f";{key}={text}" if text else f";{key}" for key, text in pairs)


def _joined(style: Style, value: Any, write: _Write, between: str) -> str:
    """A value in one text: items one after the other, and fields as ``key,value`` or, exploded, ``key=value``."""
    if isinstance(value, list):
        return between.join(write(text_of(item)) for item in value)
    if isinstance(value, dict):
        inside = "=" if style.explode else ","
        return between.join(f"{write(key)}{inside}{write(text_of(child))}" for key, child in value.items())
    return write(text_of(value))


# in a query, and in forms, which are written alike


def as_query(name: str, style: Style, value: Any) -> Pairs:
    """The pairs that a query gets of it, all percent-encoded. No value gives none, unless it may be sent empty."""
    flat = style.flat(value)
    write: _Write = partial(escaped_reserved if style.reserved else escaped, name=name)
    key = escaped(name, name)
    if flat is None or (isinstance(flat, list | dict) and not flat):
        if style.empty:
            yield key, ""
        return
    if style.name == "deepObject" and isinstance(flat, list | dict):
        yield from _deep(name, flat, write)
    elif style.explode and isinstance(flat, list):
        yield from ((key, write(text_of(item))) for item in flat)
    elif style.explode and isinstance(flat, dict) and style.name == "form":
        yield from ((escaped(inner, name), write(text_of(child))) for inner, child in flat.items())
    elif style.name in _DELIMITERS and isinstance(flat, list | dict):
        yield key, _delimited(name, flat, _DELIMITERS[style.name], write)
    else:
        comma = _without_commas(name, write) if style.reserved and isinstance(flat, list | dict) else write
        yield key, _joined(Style(), flat, comma, ",")


def _delimited(name: str, value: list[Any] | dict[str, Any], between: str, write: _Write) -> str:
    items = value if isinstance(value, list) else [part for pair in value.items() for part in pair]
    texts = [text_of(item) for item in items]
    if any(between in text for text in texts):
        raise Invalid(name, f"its items are told apart by '{between}', so none of them may hold that character")
    return escaped(between, name).join(write(text) for text in texts)


def _without_commas(name: str, write: _Write) -> _Write:
    """Items that are told apart by commas, where reserved characters stay as they are."""

    def checked(text: str) -> str:
        return write(text).replace(",", "%2C")

    return checked


def _deep(name: str, value: Any, write: _Write) -> Pairs:
    """``name[key]=value``, and so on into what is nested; items by their number."""
    children = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in children:
        inner = f"{name}[{key}]"
        if isinstance(child, dict | list) and child:
            yield from _deep(inner, child, write)
        elif not isinstance(child, dict | list):
            yield escaped(inner, name), write(text_of(child))


# in headers and cookies


def as_header(name: str, style: Style, value: Any) -> str | None:
    """The line of a header. Headers are not percent-encoded, so what would end an item early is refused."""
    flat = style.flat(value)
    if flat is None or (isinstance(flat, list | dict) and not flat):
        return None
    if not isinstance(flat, list | dict):
        return text_of(flat)
    forbidden = ",=" if style.explode and isinstance(flat, dict) else ","
    keys = list(flat) if isinstance(flat, dict) else []
    texts = [text_of(item) for item in (flat.values() if isinstance(flat, dict) else flat)]
    unfit = any("," in text or text != text.strip() for text in texts) or any(
        sign in key for key in keys for sign in forbidden
    )
    if unfit:
        raise Invalid(name, "its items stand in one header, so none of them may hold a comma or have spaces around it")
    return _joined(style, flat, str, ",")


def as_cookies(name: str, style: Style, value: Any) -> Pairs:
    """The cookies that a parameter becomes: one, or exploded one for each item or field."""
    yield from as_query(name, Style(name="form", explode=style.explode, media=style.media), value)
