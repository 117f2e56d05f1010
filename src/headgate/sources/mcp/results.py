"""What a tool of an MCP server answers, as data or as an error with a code.

==============================================  ====================================================================
a single text that is a JSON object or array    data: that object or array
a single other text                             data: the text
structured content                              data: it alone, where texts only repeat it
structured content and more                     data: ``{"structured": …, "content": [blocks]}``
several blocks, or one that is no text          data: ``{"content": [blocks]}``, each block in MCP's form
nothing                                         data: null
``isError``                                     a failure, whose details hold under ``upstream`` what data would be
==============================================  ====================================================================

Pictures and sounds go to MCP hosts as blocks of their own, and to all others inside the data.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import mcp_types as types
import orjson
from pydantic import BaseModel, ValidationError

from headgate.adapter.contents import Contents, Part
from headgate.protocol.errors import AqlError

__all__ = ["NoResult", "data_of", "failure_of"]

Raw: TypeAlias = Mapping[str, Any]
"""A result as it came over the wire."""

_LONG_NUMBER: Final = re.compile(r"\d{17}")
"""What may be a number that the fast reader would round."""
_LONGEST_MARKER: Final = 2000
_DEEPEST: Final = 150
"""Levels of a text that is read as data: deeper ones could not be written again."""
_KNOWN: Final[Mapping[str, type[BaseModel]]] = {
    "text": types.TextContent,
    "image": types.ImageContent,
    "audio": types.AudioContent,
    "resource": types.EmbeddedResource,
    "resource_link": types.ResourceLink,
}
_TEXT_KEYS: Final = frozenset({"type", "text"})
_CODES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (code, re.compile(pattern, re.IGNORECASE))
    for code, pattern in (
        ("RATE_LIMIT_EXCEEDED", r"\brate.?limit|too many requests|\b429\b"),
        ("VALIDATION_INVALID_VALUE", r"\binvalid (?:arguments?|params?|parameters?|input)\b|validation error|-32602"),
        ("CONFLICT_ALREADY_EXISTS", r"already exists|\bEEXIST\b|\b409\b"),
        ("NOT_FOUND_RESOURCE", r"\bnot found\b|\bENOENT\b|\bno such \w+|does not exist|\b404\b"),
        (
            "PERMISSION_DENIED",
            r"permission denied|access denied|\bEACCES\b|\bEPERM\b|unauthori[sz]ed|forbidden|not allowed|\b40[13]\b",
        ),
    )
)
"""What words of a tool's error stand for, the first that fits. All others are the tool's own failure."""
_MESSAGES: Final[Mapping[str, str]] = {
    "RATE_LIMIT_EXCEEDED": "API rate limit exceeded: '{source}' asks to slow down",
    "VALIDATION_INVALID_VALUE": "Parameters refused by '{source}': see the details",
    "CONFLICT_ALREADY_EXISTS": "Resource already exists in '{source}': see the details",
    "NOT_FOUND_RESOURCE": "Resource not found in '{source}': see the details",
    "PERMISSION_DENIED": "Permission denied: '{source} refuses this'",
}


class NoResult(Exception):
    """What a server answered is no result of a tool."""


def data_of(result: Raw) -> object:
    """What an operation answers for a result, with nothing lost. A NoResult if it is none."""
    blocks = _blocks(result)
    structured = result.get("structuredContent")
    if structured is not None:
        rest = [block for block in blocks if not _repeats(block, structured)]
        return Contents(tuple(_plain(blocks)), structured) if rest else structured
    if not blocks:
        return None
    if len(blocks) == 1 and _is_bare_text(blocks[0]):
        return _read(blocks[0]["text"])
    return Contents(tuple(_plain(blocks)))


def failure_of(result: Raw, source: str, tool: str) -> AqlError:
    """The failure that a result with ``isError`` is; what the tool said is kept whole in the details."""
    data = data_of(result)
    shown = data.inline() if isinstance(data, Contents) else data
    words = " ".join(block["text"] for block in _blocks(result) if block["type"] == "text")[:_LONGEST_MARKER]
    code = next((code for code, pattern in _CODES if pattern.search(words)), "INTERNAL_ERROR")
    message = _MESSAGES.get(code, "Internal error: 'a tool of {source} reports a failure: see the details'")
    details = {"source": source, "tool": tool, "upstream": shown}
    return AqlError(code, message.format(source=source), details)


def _blocks(result: Raw) -> Sequence[Part]:
    """The content. Kinds that are not known yet pass; those that a host shows must be as it expects them."""
    blocks = result.get("content")
    if blocks is None and "structuredContent" not in result:
        raise NoResult
    for block in blocks or ():
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise NoResult
        model = _KNOWN.get(block["type"])
        if model is not None and not _fits(block, model):
            raise NoResult
    return blocks or ()


def _fits(block: Part, model: type[BaseModel]) -> bool:
    if block.keys() == _TEXT_KEYS:
        return isinstance(block["text"], str)
    try:
        model.model_validate(block, by_name=False)
    except ValidationError:
        return False
    return True


def _is_bare_text(block: Part) -> bool:
    """Whether a block is text and nothing else: what is said of the text would be lost if only that were given."""
    return block["type"] == "text" and not block.get("annotations") and not block.get("_meta")


def _read(text: str) -> object:
    """A text as the object or array that it is, else as it stands: a bare number or word is no data."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        value = _exactly(text) if _LONG_NUMBER.search(text) else orjson.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if text.count("{") + text.count("[") <= _DEEPEST or _is_shallow(value) else text


def _exactly(text: str) -> object:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def _is_shallow(value: object) -> bool:
    """Whether a value can be written as JSON again."""
    level: list[object] = [value]
    for _ in range(_DEEPEST):
        level = [child for one in level for child in _children(one)]
        if not level:
            return True
    return False


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _repeats(block: Part, structured: object) -> bool:
    """Whether a block says nothing that the structured content does not say: as servers do for older clients."""
    if not _is_bare_text(block):
        return False
    return _read(block["text"]) == structured or block["text"] in _texts(structured)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for child in _children(value):
        yield from _texts(child)


def _plain(blocks: Sequence[Part]) -> Iterator[Part]:
    """The blocks without marks that say nothing."""
    for block in blocks:
        yield {key: value for key, value in block.items() if key != "_meta" or value}
