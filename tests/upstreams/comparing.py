"""Whether a call through headgate gives what the same call gives directly, as docs/upstreams.md promises it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.upstreams.calls import normal
from tests.upstreams.sessions import Answer

__all__ = ["difference"]

Block = Mapping[str, Any]


def difference(direct: Answer, through: Answer, loose: tuple[str, ...]) -> str | None:
    """What is not the same, in words; nothing if all is."""
    if direct.progress != through.progress:
        return f"the progress {direct.progress} became {through.progress}"
    if through.result is None:
        return f"headgate answers with an error of the protocol: {through.error}"
    blocks: Sequence[Block] = through.result["content"]
    envelope = json.loads(blocks[0]["text"])
    if direct.failed:
        return _failure(direct, envelope, loose)
    if not envelope["success"]:
        return f"headgate fails with {envelope['error']}"
    assert direct.result is not None
    return _content(direct.result, envelope["data"], blocks[1:], loose)


def _failure(direct: Answer, envelope: Mapping[str, Any], loose: tuple[str, ...]) -> str | None:
    if envelope["success"]:
        return f"headgate succeeds with {envelope['data']}"
    error = envelope["error"]
    details = error.get("details", {})
    if error["code"].startswith("VALIDATION_") and "source" not in details:
        return None  # headgate refused it before the server could
    if direct.result is not None:
        return _content(direct.result, details.get("upstream"), (), loose)
    words = normal(_words(str(direct.error)), loose)
    found = any(words in normal(_words(text), loose) for text in _texts(error))
    return None if found else f"the server's words '{direct.error}' are not in {error}"


def _words(text: str) -> str:
    """A text without its breaks and its length: errors are told on one line, and not at any length."""
    return " ".join(text.replace("'", " ").replace('"', " ").split())[:200]


def _content(result: Mapping[str, Any], data: Any, attached: Sequence[Block], loose: tuple[str, ...]) -> str | None:
    blocks: Sequence[Block] = result.get("content", ())
    structured = result.get("structuredContent")
    if isinstance(data, dict) and set(data) == {"structured", "content"} and structured is not None:
        return _same(structured, data["structured"], loose) or _blocks(blocks, data["content"], attached, loose)
    if structured is not None:
        return _same(structured, data, loose) or _repeated(blocks, structured)
    if not blocks:
        return _same(None, data, loose)
    if len(blocks) == 1 and blocks[0]["type"] == "text" and not blocks[0].get("annotations"):
        return _same(_parsed(blocks[0]["text"]), data, loose)
    if not isinstance(data, dict) or set(data) != {"content"}:
        return f"{len(blocks)} blocks became {data}"
    return _blocks(blocks, data["content"], attached, loose)


def _parsed(text: str) -> Any:
    """An object or array that is written in a text, else the text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict | list) else text


def _repeated(blocks: Sequence[Block], structured: Any) -> str | None:
    """Whether a block that was left out says something that the structured content does not."""
    known = list(_texts(structured))
    for block in blocks:
        if block["type"] != "text" or not (_parsed(block["text"]) == structured or block["text"] in known):
            return f"a block is lost: {block}"
    return None


def _blocks(
    wanted: Sequence[Block], found: Sequence[Block], attached: Sequence[Block], loose: tuple[str, ...]
) -> str | None:
    whole = [_whole(block, attached) for block in found]
    return _same(list(wanted), whole, loose)


def _whole(block: Block, attached: Sequence[Block]) -> Block:
    """A block with the bytes that follow it."""
    number = block.get("attachment")
    if number is None:
        return block
    rest = {key: value for key, value in block.items() if key != "attachment"}
    carrier = attached[number - 1]
    if "data" in carrier:
        return {**rest, "data": carrier["data"]}
    return {**rest, "resource": {**rest["resource"], "blob": carrier["resource"]["blob"]}}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for child in value.values():
            yield from _texts(child)
    elif isinstance(value, list):
        for child in value:
            yield from _texts(child)


def _same(wanted: Any, found: Any, loose: tuple[str, ...]) -> str | None:
    wanted, found = normal(wanted, loose), normal(found, loose)
    return None if wanted == found else f"{json.dumps(wanted)[:1500]} became {json.dumps(found)[:1500]}"
