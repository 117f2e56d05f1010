"""A server that knows only the document reads from each request exactly the values that were given."""

import asyncio
import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.adapter.operations import Operation
from headgate.protocol.errors import AqlError
from tests.sources.http.upstream import Received, Upstream, always, reply, running
from tests.sources.openapi.everything import BODIES, SHAPES, STYLED, document_with
from tests.sources.openapi.making import Node, adapter_of, call
from tests.sources.openapi.reading import ABSENT, read_form, read_json, read_multipart, read_parameter

OWN = {"full_name": "fullName", "dash_ed": "dash-ed", "plain_text": "plainText"}
"""How the document spells what headgate has in snake_case."""
EXAMPLES = 8

_texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.text("a.,/\\%&=+;:?#[]@ |~é\u2028\"'<>{}", max_size=6),
    st.sampled_from(["", ".", "..", "a/../b", "%2e%2e", "..\\x", "a b", "1,2", "null", "true", "%20", "&x=1", "ünï"]),
)
_lines = st.one_of(st.text('ab ,=;"é', max_size=6), st.sampled_from(["", "a, b", "é", "x=1"]))
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)


def values_of(schema: Node, texts: st.SearchStrategy[str] = _texts) -> st.SearchStrategy[Any]:
    """Values that a schema allows, with headgate's names of fields."""
    kind = schema.get("type")
    if schema.get("format") == "binary":
        return st.binary(max_size=40).map(lambda raw: base64.b64encode(raw).decode())
    if isinstance(kind, list):
        return st.one_of(*(values_of({"type": one}, texts) for one in kind))
    if kind == "array":
        return st.lists(values_of(schema["items"], texts), max_size=3)
    if kind == "object" and "properties" in schema:
        fields = {snake(name): values_of(child, texts) for name, child in schema["properties"].items()}
        needed = {snake(name) for name in schema.get("required", ())}
        return st.fixed_dictionaries(
            {name: fields[name] for name in fields if name in needed},
            optional={name: fields[name] for name in fields if name not in needed},
        )
    simple: Mapping[Any, st.SearchStrategy[Any]] = {
        "string": texts,
        "integer": st.integers(-(2**53), 2**53),
        "number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-1000, 1000),
        "boolean": st.booleans(),
        "null": st.none(),
        "object": st.dictionaries(texts, _JSON, max_size=3),
        None: _JSON,
    }
    return simple[kind]


def snake(own: str) -> str:
    return next((name for name, spelt in OWN.items() if spelt == own), own)


def own(value: Any) -> Any:
    """The same value as the document spells it."""
    if isinstance(value, dict):
        return {OWN.get(name, name): own(child) for name, child in value.items()}
    return [own(item) for item in value] if isinstance(value, list) else value


def flat(value: Any) -> list[str]:
    """The texts of a value's parts, as they stand outside of JSON."""
    if isinstance(value, dict):
        return [text for name, child in value.items() for text in (name, *flat(child))]
    if isinstance(value, list):
        return [text for item in value for text in flat(item)]
    return [value if isinstance(value, str) else str(value).lower()]


def is_unwritable(parameter: Node, value: Any) -> bool:
    """Whether the place or the style has no way of writing a value, by the specifications of URLs and headers."""
    where, style = parameter["in"], parameter.get("style", "simple")
    parts = flat(own(value))
    if where == "path":
        return _is_no_segment(parameter, value)
    if style in ("spaceDelimited", "pipeDelimited") and not (parameter["explode"] and isinstance(value, list)):
        return any({"spaceDelimited": " ", "pipeDelimited": "|"}[style] in part for part in parts)
    if where == "header" and "content" not in parameter:
        if not isinstance(value, list | dict):
            return value != value.strip() if isinstance(value, str) else False
        texts = parts[1::2] if isinstance(value, dict) else parts
        return any("," in text or text != text.strip() for text in texts)
    return False


def _is_no_segment(parameter: Node, value: Any) -> bool:
    """Whether a value would make a path that leads elsewhere: nothing, or a step up, encoded or not."""
    if "content" in parameter:
        text = json.dumps(own(value), separators=(",", ":"))
        return not {".", ".."}.isdisjoint(re.split(r"[/\\]", text))
    if isinstance(value, list | dict) and not value:
        return True
    explode, style = parameter["explode"], parameter["style"]
    if isinstance(value, dict):
        pairs = [f"{name}{'=' if explode else ','}{flat(child)[0]}" for name, child in own(value).items()]
    else:
        pairs = flat(value)
    between = {"simple": ",", "label": "." if explode else ",", "matrix": ";"}[style]
    text = between.join(pairs)
    if style == "label":
        text = f".{text}"
    elif style == "matrix":
        inner = ",".join(flat(own(value)))
        whole = [f";someValue={part}" for part in pairs] if isinstance(value, list) else [f";{part}" for part in pairs]
        text = "".join(whole) if explode and isinstance(value, list | dict) else f";someValue={inner}"
    return not text or not {".", ".."}.isdisjoint(re.split(r"[/\\]", text))


@dataclass
class Everything:
    """The whole document, served by a real server in a loop of its own, and called."""

    runner: asyncio.Runner
    upstream: Upstream
    operations: Mapping[str, Operation]

    def received(self, own_name: str, params: Mapping[str, Any]) -> Received:
        """The one request that a call becomes, as it arrives."""
        self.upstream.requests.clear()
        self.runner.run(call(self.operations[own_name], **params))
        [received] = self.upstream.requests
        return received


@pytest.fixture(scope="module")
def everything() -> Iterator[Everything]:
    serving = running(always(reply(204)))
    with asyncio.Runner() as runner:
        upstream = runner.run(serving.__aenter__())
        adapter = adapter_of(document_with(upstream.url))
        named = {operation.origin.own_name: operation for operation in adapter.operations.values() if operation.origin}
        yield Everything(runner, upstream, named)
        runner.run(adapter.close())
        runner.run(serving.__aexit__(None, None, None))


@pytest.mark.parametrize("name", STYLED)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_parameter_is_read_back_as_it_was_given(everything: Everything, name: str, data: st.DataObject) -> None:
    parameter = STYLED[name]
    in_header = parameter["in"] == "header" and "content" not in parameter
    schema = parameter.get("schema") or SHAPES["thing"]
    value = data.draw(values_of(schema, _lines if in_header else _texts))
    if is_unwritable(parameter, value):
        with pytest.raises(AqlError) as caught:
            everything.received(f"get_{name}", {"some_value": value})
        assert caught.value.error.code == "VALIDATION_INVALID_VALUE"
        return
    found = read_parameter(parameter, everything.received(f"get_{name}", {"some_value": value}))
    expected = ABSENT if value == [] and "content" not in parameter else own(value)
    if parameter.get("allowReserved"):
        expected = _decoded_triples(expected)
    assert found == expected


def _decoded_triples(value: Any) -> Any:
    """Where reserved characters pass, so do triples such as %20, which then stand for what they mean."""
    if isinstance(value, list):
        return [_decoded_triples(item) for item in value]
    if isinstance(value, dict):
        return {name: _decoded_triples(child) for name, child in value.items()}
    if not isinstance(value, str):
        return value
    raw = re.sub(r"%([0-9A-Fa-f]{2})", lambda found: chr(0xE000 + int(found[1], 16)), value)
    octets = b"".join(bytes([ord(sign) - 0xE000]) if 0xE000 <= ord(sign) < 0xE100 else sign.encode() for sign in raw)
    return octets.decode("utf-8", "replace")


@pytest.mark.parametrize("verb", ["create", "update"])
@pytest.mark.parametrize("name", BODIES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_body_is_read_back_as_it_was_given(everything: Everything, name: str, verb: str, data: st.DataObject) -> None:
    [(media, described)] = BODIES[name]["content"].items()
    given_body = data.draw(_bodies(name, described))
    params = _placed(name, verb, given_body)
    if name == "form_pipe" and any("|" in tag for tag in given_body.get("tags", ())):
        with pytest.raises(AqlError):
            everything.received(f"{verb}_{name}", {"id": "7", **params})
        return
    received = everything.received(f"{verb}_{name}", {"id": "7", **params})
    assert received.target == f"/{name}/7"
    assert _read(name, media, described, received) == _expected(name, given_body)


def _bodies(name: str, described: Node) -> st.SearchStrategy[Any]:
    if name in ("text", "xml"):
        return _texts
    if name in ("bytes", "image"):
        return values_of({"format": "binary"})
    return values_of(described["schema"])


def _is_whole(name: str) -> bool:
    return name in ("json_array", "json_scalar", "text", "xml", "bytes", "image")


def _placed(name: str, verb: str, body: Any) -> Node:
    """The body where a caller gives it: its fields, one parameter, or the input of an UPDATE."""
    placed = {"body": body} if _is_whole(name) or (name == "json_free" and verb == "create") else body
    return {"input": placed} if verb == "update" else placed


def _expected(name: str, body: Any) -> Any:
    if name.startswith("form"):
        gone = {key for key, value in body.items() if value == [] and name != "form_json"}
        return own({key: value for key, value in body.items() if key not in gone})
    if name.startswith("multipart"):
        spelt = own({key: value for key, value in body.items() if value != []})
        if "upload" in spelt:
            files = spelt["upload"]
            spelt["upload"] = [_raw(one) for one in files] if isinstance(files, list) else _raw(files)
        return spelt
    if name in ("bytes", "image"):
        return _raw(body)
    return body if name == "json_free" else own(body)


def _raw(text: str) -> bytes:
    return base64.b64decode(text)


def _read(name: str, media: str, described: Node, received: Received) -> Any:
    if name.startswith("json"):
        return read_json(received, media)
    if name.startswith("form"):
        return read_form(received, described)
    if name.startswith("multipart"):
        return read_multipart(received, described)[0]
    if name in ("text", "xml"):
        assert received.headers["content-type"] == f"{media}; charset=utf-8"
        return received.body.decode()
    assert received.headers["content-type"] == media
    return received.body
