"""XML as data, and data as XML, each in one way only.

An element is a mapping: ``@name`` is an attribute, ``#text`` its text, and every child stands under its name, as a list
where there are several of a name. An element with nothing but text is that text, and an empty one is null. The whole is
a mapping with the root's name. Namespaces, comments and processing instructions are left out, and the order of children
with different names is not kept. What is written follows the same rules.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from headgate.protocol.errors import AqlError
from headgate.sources.files.plugins.formats import circular, plain_text
from headgate.sources.files.values import Target
from headgate.sources.http.decoding import data_of, media_type_of, text_of
from headgate.sources.http.messages import Answer

__all__ = ["XML", "Xml", "xml_data", "xml_text"]

_SPACE: Final = " \t\r\n"
"""What XML itself takes for space; other characters that look empty are text."""
_ATTRIBUTE: Final = "@"
_TEXT: Final = "#text"
_ROOT_KEY: Final = "xml_root"
_DEFAULT_ROOT: Final = "request"
_ITEM: Final = "item"
_DEEPEST: Final = 100
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_DECLARATION: Final = re.compile(r"\s*<\?xml[^>]*\?>")


@dataclass(frozen=True, slots=True)
class Xml:
    """Bodies and answers in XML. ``xml_root`` in the target names the root of what is sent."""

    name: str = "xml"
    description: str = "XML"
    keys: tuple[str, ...] = (_ROOT_KEY,)
    content_type: str = "application/xml"

    def serialize(self, data: object, target: Target) -> bytes:
        """The data below the root that the target names."""
        return xml_text(data, str(target.options.get(_ROOT_KEY, _DEFAULT_ROOT)))

    def deserialize(self, answer: Answer) -> object:
        """XML as data; an answer that says to be something else is read as that."""
        media = media_type_of(answer)
        is_xml = media in ("application/xml", "text/xml") or media.endswith("+xml")
        return xml_data(text_of(answer)) if is_xml and answer.content.strip() else data_of(answer)


def xml_data(text: str) -> object:
    """The data of an XML text. One with a document type, which could grow or reach out, is refused."""
    try:
        root = fromstring(_DECLARATION.sub("", text, count=1), forbid_dtd=True)
    except DefusedXmlException:
        raise _unreadable("it has a document type, which is not allowed") from None
    except (ParseError, ValueError):
        raise _unreadable("it is not valid XML") from None
    return {_local(root.tag): _data(root, 0)}


def _data(element: Element, depth: int) -> object:
    if depth > _DEEPEST:
        raise _unreadable(f"it is nested deeper than {_DEEPEST} levels")
    found: dict[str, Any] = {f"{_ATTRIBUTE}{_local(name)}": value for name, value in element.attrib.items()}
    children: dict[str, list[object]] = {}
    for child in element:
        children.setdefault(_local(child.tag), []).append(_data(child, depth + 1))
    found |= {name: values[0] if len(values) == 1 else values for name, values in children.items()}
    text = "".join([element.text or "", *(child.tail or "" for child in element)]).strip(_SPACE)
    if not found:
        return text or None
    return {**found, _TEXT: text} if text else found


def _local(name: object) -> str:
    """A name without its namespace."""
    return str(name).rpartition("}")[2]


def xml_text(data: object, root: str) -> bytes:
    """The XML of data. A list where an element must stand is its items, each in an element 'item'."""
    element = Element(_checked_name(root))
    _fill(element, _itemized(data), 0)
    return bytes(tostring(element, encoding="utf-8", xml_declaration=True))


def _fill(element: Element, value: object, depth: int) -> None:
    if depth > _DEEPEST:
        raise circular()
    if not isinstance(value, Mapping):
        element.text = None if value is None else _checked(plain_text(value))
        return
    for key, child in value.items():
        name = str(key)
        if name == _TEXT:
            element.text = _checked(plain_text(child))
        elif name.startswith(_ATTRIBUTE):
            element.set(_checked_name(name.removeprefix(_ATTRIBUTE)), _checked(plain_text(child)))
        else:
            for one in child if isinstance(child, list | tuple) else [child]:
                _fill(
                    SubElement(element, _checked_name(name)), {"item": one} if isinstance(one, list) else one, depth + 1
                )


def _itemized(value: object) -> object:
    return {_ITEM: value} if isinstance(value, list | tuple) else value


def _checked(text: str) -> str:
    if _NOT_XML.search(text):
        raise _unwritable("a text holds characters that XML cannot carry")
    return text


def _checked_name(name: str) -> str:
    if not _NAME.match(name):
        raise _unwritable("a field has a name which no element of XML can have")
    return name


def _unreadable(why: str) -> AqlError:
    return AqlError("SERIALIZATION_PARSE_ERROR", f"The answer of the upstream cannot be read: {why}")


def _unwritable(why: str) -> AqlError:
    return AqlError("VALIDATION_INVALID_VALUE", f"The request cannot be written as XML: {why}")


XML: Final = Xml()
