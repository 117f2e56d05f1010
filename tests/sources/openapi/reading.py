"""A reader of requests, written from the text of the OpenAPI specification alone.

It shares nothing with what writes them: it takes a raw request apart as a server would that knows only the document.
"""

import json
import re
from typing import Any, Final
from urllib.parse import unquote

from tests.sources.http.upstream import Received

__all__ = ["ABSENT", "read_form", "read_json", "read_multipart", "read_parameter"]

Node = dict[str, Any]
ABSENT: Final = object()
_DELIMITERS: Final = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}


def read_parameter(parameter: Node, received: Received) -> Any:
    """The value of a parameter in a request, as its document says that it is written."""
    where = parameter["in"]
    if "content" in parameter:
        return _document(parameter, received)
    style, explode, schema, name = (parameter[key] for key in ("style", "explode", "schema", "name"))
    if where == "path":
        return _path(received.target.partition("?")[0].rpartition("/")[2], style, explode, schema, name)
    if where == "header":
        line = received.headers.get(name.lower())
        return ABSENT if line is None else _simple(line, explode, schema, decode=str)
    if where == "cookie":
        pairs = _pairs(received.headers.get("cookie", ""), "; ")
    else:
        pairs = _pairs(received.target.partition("?")[2], "&")
    return _query(pairs, style, explode, schema, name)


def _document(parameter: Node, received: Received) -> Any:
    name = parameter["name"]
    if parameter["in"] == "path":
        text = unquote(received.target.rpartition("/")[2])
    elif parameter["in"] == "header":
        text = received.headers[name.lower()]
    else:
        cookies = parameter["in"] == "cookie"
        raw = received.headers.get("cookie", "") if cookies else received.target.partition("?")[2]
        found = [value for key, value in _pairs(raw, "; " if cookies else "&") if key == name]
        if not found:
            return ABSENT
        text = unquote(found[0])
    return json.loads(text)


def _pairs(raw: str, between: str) -> list[tuple[str, str]]:
    """Names, decoded, with their values as they are written."""
    parts = (part.partition("=") for part in raw.split(between) if part)
    return [(unquote(name), value) for name, _, value in parts]


def _typed(text: str, schema: Node) -> Any:
    match schema.get("type"):
        case "integer":
            return int(text)
        case "number":
            return float(text)
        case "boolean":
            return {"true": True, "false": False}[text]
        case _:
            return text


def _items(raw: str, between: str, schema: Node, decode: Any) -> list[Any]:
    return [_typed(decode(part), schema["items"]) for part in raw.split(between)]


def _fields(parts: list[tuple[str, str]], schema: Node, decode: Any) -> Node:
    named = [(decode(name), decode(value)) for name, value in parts]
    return {name: _typed(value, schema["properties"][name]) for name, value in named}


def _by_twos(parts: list[str]) -> list[tuple[str, str]]:
    return list(zip(parts[::2], parts[1::2], strict=True))


def _equals(parts: list[str]) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (part.partition("=") for part in parts)]


def _simple(raw: str, explode: bool, schema: Node, between: str = ",", decode: Any = unquote) -> Any:
    if schema["type"] == "array":
        return _items(raw, between, schema, decode)
    if schema["type"] == "object":
        parts = raw.split(between)
        return _fields(_equals(parts) if explode else _by_twos(parts), schema, decode)
    return _typed(decode(raw), schema)


def _path(raw: str, style: str, explode: bool, schema: Node, name: str) -> Any:
    match style:
        case "simple":
            return _simple(raw, explode, schema)
        case "label":
            assert raw[0] == "."
            return _simple(raw[1:], explode, schema, "." if explode else ",")
        case _:
            return _matrix(raw, explode, schema, name)


def _matrix(raw: str, explode: bool, schema: Node, name: str) -> Any:
    assert raw[0] == ";"
    pairs = _equals(raw[1:].split(";"))
    if explode and schema["type"] == "array":
        assert {key for key, _ in pairs} == {name}
        return [_typed(unquote(value), schema["items"]) for _, value in pairs]
    if explode and schema["type"] == "object":
        return _fields(pairs, schema, unquote)
    [(key, value)] = pairs
    assert key == name
    return _simple(value, False, schema)


def _query(pairs: list[tuple[str, str]], style: str, explode: bool, schema: Node, name: str) -> Any:
    if style == "deepObject":
        inner = re.compile(re.escape(name) + r"\[(.+)\]\Z")
        found = [(match[1], value) for key, value in pairs if (match := inner.match(key))]
        return {key: _typed(unquote(value), schema["properties"][key]) for key, value in found} if found else ABSENT
    if explode and schema["type"] == "object":
        return {key: _typed(unquote(value), schema["properties"][key]) for key, value in pairs} if pairs else ABSENT
    values = [value for key, value in pairs if key == name]
    if not values:
        return ABSENT
    if explode and schema["type"] == "array":
        return [_typed(unquote(value), schema["items"]) for value in values]
    [value] = values
    return _simple(value, False, schema, _DELIMITERS[style])


# bodies


def read_json(received: Received, media: str) -> Any:
    """The value of a body that is JSON."""
    assert received.headers["content-type"] == media
    return json.loads(received.body)


def read_form(received: Received, described: Node) -> Node:
    """The fields of a form."""
    assert received.headers["content-type"] == "application/x-www-form-urlencoded"
    pairs = [(name.replace("+", " "), value) for name, value in _pairs(received.body.decode("ascii"), "&")]
    found: Node = {}
    for name, schema in described["schema"]["properties"].items():
        said = described.get("encoding", {}).get(name, {})
        value = _form_field(pairs, name, schema, said)
        if value is not ABSENT:
            found[name] = value
    return found


def _form_field(pairs: list[tuple[str, str]], name: str, schema: Node, said: Node) -> Any:
    if "style" in said:
        return _query(pairs, said["style"], said["explode"], schema, name)
    texts = [unquote(value.replace("+", " ")) for key, value in pairs if key == name]
    if not texts:
        return ABSENT
    if said.get("contentType") == "application/json" or schema["type"] == "object":
        return json.loads(texts[0])
    return [_typed(text, schema["items"]) for text in texts] if schema["type"] == "array" else _typed(texts[0], schema)


def read_multipart(received: Received, described: Node) -> tuple[Node, dict[str, Node]]:
    """The fields of parts, and of each what its headers say."""
    kind, _, boundary = received.headers["content-type"].partition("; boundary=")
    assert kind == "multipart/form-data"
    first, *parts, last = received.body.split(f"--{boundary}".encode())
    assert (first, last) == (b"", b"--\r\n")
    found: Node = {}
    headers: dict[str, Node] = {}
    for part in parts:
        about, _, content = part.removeprefix(b"\r\n").removesuffix(b"\r\n").partition(b"\r\n\r\n")
        name, told = _part_headers(about.decode())
        schema = described["schema"]["properties"][name]
        value = _part(content, schema.get("items", schema), told)
        headers[name] = told
        if schema["type"] == "array":
            found.setdefault(name, []).append(value)
        else:
            assert name not in found
            found[name] = value
    return found, headers


def _part_headers(about: str) -> tuple[str, Node]:
    told = {key.lower(): value for key, _, value in (line.partition(": ") for line in about.split("\r\n"))}
    match = re.match(r'form-data; name="([^"]*)"(?:; filename="([^"]*)")?\Z', told["content-disposition"])
    assert match is not None
    return match[1], {"filename": match[2], "content-type": told.get("content-type")}


def _part(content: bytes, schema: Node, told: Node) -> Any:
    if schema.get("format") == "binary":
        return content
    if schema["type"] == "object":
        assert told["content-type"] == "application/json"
        return json.loads(content)
    return _typed(content.decode(), schema)
