"""Serializations: JSON, forms and XML."""

import json
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.errors import AqlError
from headgate.sources.files.plugins.formats import FORM, JSON, NOTHING
from headgate.sources.files.plugins.xml_format import XML, xml_data, xml_text
from headgate.sources.files.values import Target
from headgate.sources.http.messages import Answer
from tests.sources.files.test_requests import served
from tests.sources.files.texts import called
from tests.sources.http.upstream import always, reply

TARGET = Target(transport="http", protocol="rest", serialization="xml", base_url="https://x.example")


def answer(content: bytes, media: str) -> Answer:
    return Answer(200, httpx2.Headers({"content-type": media}), content, "https://x.example")


RING: list[Any] = []
RING.append(RING)


def test_json_keeps_numbers_of_any_size() -> None:
    assert JSON.serialize({"n": 2**80}, TARGET) == b'{"n":1208925819614629174706176}'


@pytest.mark.parametrize("serialize", [JSON.serialize, FORM.serialize, XML.serialize], ids=["json", "form", "xml"])
def test_what_holds_itself_cannot_be_written(serialize: Any) -> None:
    with pytest.raises(AqlError) as caught:
        serialize({"a": RING}, TARGET)
    assert caught.value.error.code == "SERIALIZATION_CIRCULAR_REF"


def test_values_of_this_machine_are_never_bytes() -> None:
    assert NOTHING.serialize({"a": 1}, TARGET) == b""
    assert NOTHING.deserialize(answer(b"5", "application/json")) == 5


@pytest.mark.parametrize(
    ("data", "form"),
    [
        ({"a": "x y", "b": 1, "c": True}, b"a=x+y&b=1&c=true"),
        ({"a": ["x", "y"]}, b"a=x&a=y"),
        ({"a": {"b": {"c": 1}}}, b"a%5Bb%5D%5Bc%5D=1"),
        ({"a": [{"b": 1}, {"b": 2}]}, b"a%5B%5D%5Bb%5D=1&a%5B%5D%5Bb%5D=2"),
        ({"a": None, "b": ""}, b"b="),
        ("x", b"value=x"),
        ({"a&b": "c=d"}, b"a%26b=c%3Dd"),
    ],
)
def test_a_form_is_written_as_browsers_do(data: object, form: bytes) -> None:
    assert FORM.serialize(data, TARGET) == form


def test_a_form_is_read_and_anything_else_as_what_it_is() -> None:
    media = "application/x-www-form-urlencoded"
    assert FORM.deserialize(answer(b"a=1&b=x+y&a=2&c=", media)) == {"a": ["1", "2"], "b": "x y", "c": ""}
    assert FORM.deserialize(answer(b'{"a":1}', "application/json")) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("<a/>", {"a": None}),
        ("<a> x </a>", {"a": "x"}),
        ("<a><b>1</b><c/></a>", {"a": {"b": "1", "c": None}}),
        ("<a><b>1</b><b>2</b></a>", {"a": {"b": ["1", "2"]}}),
        ('<a k="v">x</a>', {"a": {"@k": "v", "#text": "x"}}),
        ('<a xmlns="urn:x" xmlns:n="urn:y"><n:b n:k="v"/></a>', {"a": {"b": {"@k": "v"}}}),
        ("<a>x<b>1</b>y</a>", {"a": {"b": "1", "#text": "xy"}}),
        ("<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>", {"a": "é"}),
        ("<a><!-- c --><?pi x?><![CDATA[<x>]]></a>", {"a": "<x>"}),
    ],
)
def test_xml_is_read_in_one_way_only(text: str, data: object) -> None:
    assert xml_data(text) == data


@pytest.mark.parametrize(
    ("data", "xml"),
    [
        ({"a": 1, "b": True, "c": None}, "<r><a>1</a><b>true</b><c /></r>"),
        ({"a": ["x", "y"]}, "<r><a>x</a><a>y</a></r>"),
        ({"@k": "v", "#text": "x"}, '<r k="v">x</r>'),
        ({"a": [[1, 2], 3]}, "<r><a><item>1</item><item>2</item></a><a>3</a></r>"),
        ([1, 2], "<r><item>1</item><item>2</item></r>"),
        ("a < b & c", "<r>a &lt; b &amp; c</r>"),
    ],
)
def test_xml_is_written_by_the_same_rules(data: object, xml: str) -> None:
    assert xml_text(data, "r").decode() == f"<?xml version='1.0' encoding='utf-8'?>\n{xml}"


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
TEXTS = st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=0xD7FF), min_size=1, max_size=20)
LEAVES = st.one_of(st.none(), TEXTS)
ELEMENTS = st.recursive(
    LEAVES,
    lambda inner: st.dictionaries(
        NAMES, st.one_of(inner, st.lists(inner, min_size=2, max_size=3)), min_size=1, max_size=3
    ),
    max_leaves=8,
)


@given(ELEMENTS)
def test_what_was_written_is_read_again(data: object) -> None:
    readable = "".join(str(data).split())
    if any(not character.isprintable() for character in readable):
        return  # line ends of other alphabets are made one kind by XML itself
    assert xml_data(xml_text(data, "r").decode()) == {"r": data}


LAUGHS = """<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "lol"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<a>", "not valid XML"),
        ("", "not valid XML"),
        ("{}", "not valid XML"),
        ("<a>\x00</a>", "not valid XML"),
        (LAUGHS, "document type"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "document type"),
        ("<a>" * 500 + "</a>" * 500, "nested deeper"),
    ],
    ids=["open", "nothing", "json", "control", "laughs", "outside", "deep"],
)
def test_hostile_xml_is_refused(text: str, words: str) -> None:
    with pytest.raises(AqlError, match=words) as caught:
        xml_data(text)
    assert caught.value.error.code == "SERIALIZATION_PARSE_ERROR"


@pytest.mark.parametrize("data", [{"a b": 1}, {"1": 1}, {"<x>": 1}, {"a": "\x00"}, {"@": 1}, {"a": "\ud800"}])
def test_what_no_xml_can_carry_is_refused(data: object) -> None:
    with pytest.raises(AqlError, match="cannot be written as XML"):
        xml_text(data, "r")


@pytest.mark.anyio
async def test_a_file_may_speak_xml() -> None:
    create = {
        "name": "create_order",
        "maps_to": "POST /orders",
        "params": {"isbn": {"type": "string", "required": True}},
    }
    target = {"serialization": "xml", "xml_root": "order"}
    script = always(reply(200, b"<order><id>7</id></order>", content_type="application/xml"))
    async with served({"create": [create]}, script, target) as (adapter, upstream):
        assert await called(adapter, "create_order", isbn="1") == {"order": {"id": "7"}}
    (request,) = upstream.requests
    assert request.headers["content-type"] == "application/xml"
    assert xml_data(request.body.decode()) == {"order": {"isbn": "1"}}


@pytest.mark.anyio
async def test_an_empty_answer_of_xml_is_nothing() -> None:
    script = always(reply(204))
    async with served({"read": [{"name": "get_x", "maps_to": "GET /x"}]}, script, {"serialization": "xml"}) as (
        adapter,
        _,
    ):
        assert await called(adapter, "get_x") is None


@pytest.mark.anyio
async def test_a_file_may_send_forms() -> None:
    create = {
        "name": "create_charge",
        "maps_to": "POST /charges",
        "params": {"amount": {"type": "integer"}, "card": {"type": "object"}},
    }
    script = always(reply(200, json.dumps({"id": 1}).encode(), content_type="application/json"))
    async with served({"create": [create]}, script, {"serialization": "form"}) as (adapter, upstream):
        assert await called(adapter, "create_charge", amount=5, card={"number": "1"}) == {"id": 1}
    (request,) = upstream.requests
    assert request.body == b"amount=5&card%5Bnumber%5D=1"
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
