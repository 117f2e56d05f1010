"""Answers of real servers, read in whatever form they come, and what is wrong with each form.

``read`` is a pure function: an answer of MCP in, a Reading out. Nothing odd is an error here; it is noted.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from headgate.client.requests import Request
from headgate.client.wires import Answer

__all__ = ["Caution", "Odd", "Oddity", "Reading", "Unreadable", "read", "read_envelope"]

_CODED: Final = re.compile(r"(?P<code>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+):\s*(?P<message>.+)", re.DOTALL)
_OURS: Final = frozenset({"success", "data", "error", "warnings", "confirmation", "_meta"})
_BATCH: Final = frozenset({"results", "summary", "halted_at", "pending_operations"})
_UNION: Final = "specification 5.1"
_ERRORS: Final = "specification 5.3"
_BINDING: Final = "MCP binding"


class Unreadable(Exception):
    """An answer with nothing in it that could be data or an error."""


@dataclass(frozen=True, slots=True)
class Odd:
    """One thing about an answer that the texts want otherwise."""

    section: str
    words: str


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something that a server did otherwise than the texts want, and the request that showed it."""

    section: str
    words: str
    request: Request


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning in an answer: something to know that stopped nothing."""

    code: str
    message: str
    severity: str | None = None
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer says."""

    succeeded: bool
    data: Any
    error: Mapping[str, Any]
    """Empty if it succeeded."""
    warnings: tuple[Caution, ...]
    envelope: Mapping[str, Any]
    """The JSON object that it was read from; empty if there was none."""
    oddities: tuple[Odd, ...]


class _Found(NamedTuple):
    """The value in an answer, before anybody asks what it means."""

    value: Any
    oddities: tuple[Odd, ...]


def read(answer: Answer) -> Reading:
    """What an answer says, whatever its form; Unreadable if it is empty."""
    found = _found(answer)
    if not isinstance(found.value, Mapping):
        return _bare(answer, found)
    reading = read_envelope(found.value, is_error=answer.is_error)
    oddities = [*found.oddities, *reading.oddities]
    if reading.succeeded and answer.is_error:
        oddities.append(Odd(_BINDING, "the answer is a success, and MCP is told that it is an error"))
    return _with(reading, oddities)


def read_envelope(envelope: Mapping[str, Any], *, is_error: bool = False) -> Reading:
    """What an envelope says; ``is_error`` is what MCP says of it."""
    succeeded = _succeeded(envelope, is_error=is_error)
    error = {} if succeeded else _error(envelope)
    oddities = tuple(_envelope_oddities(envelope, succeeded=succeeded, error=error))
    cautions = tuple(_cautions(envelope.get("warnings"))) if succeeded else ()
    return Reading(succeeded, _data(envelope) if succeeded else None, error, cautions, envelope, oddities)


def _with(reading: Reading, oddities: list[Odd]) -> Reading:
    return Reading(reading.succeeded, reading.data, reading.error, reading.warnings, reading.envelope, tuple(oddities))


def _found(answer: Answer) -> _Found:
    """The JSON object of an answer; else any JSON, else the text."""
    texts = [block["text"] for block in answer.blocks if isinstance(block.get("text"), str)]
    values = [_parsed(text) for text in texts]
    objects = [value for value in values if isinstance(value, Mapping)]
    if objects:
        several = len(texts) > 1
        return _Found(objects[0], (Odd(_BINDING, f"the answer has {len(texts)} texts, not one"),) if several else ())
    if isinstance(answer.structured, Mapping):
        return _Found(answer.structured, (Odd(_BINDING, "the envelope stands in structuredContent, not in a text"),))
    if not texts:
        raise Unreadable("its answer has no text")
    words = "the answer is no JSON object" if values[0] is not None else "the answer is no JSON"
    return _Found("\n".join(texts) if values[0] is None else values[0], (Odd(_UNION, words),))


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _bare(answer: Answer, found: _Found) -> Reading:
    """An answer without an envelope: the data itself, or the words of an error."""
    if answer.is_error:
        return Reading(False, None, _coded(str(found.value)), (), {}, found.oddities)
    return Reading(True, found.value, {}, (), {}, found.oddities)


def _succeeded(envelope: Mapping[str, Any], *, is_error: bool) -> bool:
    told = envelope.get("success")
    if isinstance(told, str):
        return told.strip().lower() == "true"
    if told is not None:
        return bool(told)
    return not is_error and not envelope.get("error")


def _data(envelope: Mapping[str, Any]) -> Any:
    """The data, or what stands in its place."""
    if "data" in envelope:
        return envelope["data"]
    if _BATCH & envelope.keys() and "success" in envelope:
        return None
    if "success" not in envelope:
        return dict(envelope)
    return {name: value for name, value in envelope.items() if name not in _OURS} or None


def _error(envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    error = envelope.get("error")
    if isinstance(error, Mapping):
        return error
    if isinstance(error, str):
        return _coded(error)
    return _coded(str(envelope.get("message") or ""))


def _coded(text: str) -> Mapping[str, Any]:
    """An error that is a text; a code in front of it is taken for one."""
    found = _CODED.fullmatch(text.strip())
    return {"code": found["code"], "message": found["message"]} if found else {"message": text}


def _envelope_oddities(envelope: Mapping[str, Any], *, succeeded: bool, error: Mapping[str, Any]) -> Iterator[Odd]:
    if not isinstance(envelope.get("success"), bool):
        was = "missing" if "success" not in envelope else "no boolean"
        yield Odd(_UNION, f"'success' is {was}")
    if succeeded:
        yield from _odd_success(envelope)
    else:
        yield from _odd_failure(envelope, error)


def _odd_success(envelope: Mapping[str, Any]) -> Iterator[Odd]:
    if "data" not in envelope:
        yield Odd(_UNION, "a success has no 'data'")
    if "error" in envelope:
        yield Odd(_UNION, "a success has an 'error'")
    if not _are_warnings(envelope.get("warnings", [])):
        yield Odd("companion, warnings", "'warnings' is no list of objects with a code and a message")


def _odd_failure(envelope: Mapping[str, Any], error: Mapping[str, Any]) -> Iterator[Odd]:
    if not isinstance(envelope.get("error"), Mapping):
        yield Odd(_ERRORS, "the error of a failure is no object with a code and a message")
        return
    yield from (Odd(_ERRORS, f"an error has no '{name}'") for name in ("code", "message") if not error.get(name))
    if envelope.get("data") is not None:
        yield Odd(_UNION, "a failure has 'data'")


def _are_warnings(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, Mapping) and isinstance(one.get("code"), str) and isinstance(one.get("message"), str)
        for one in value
    )


def _cautions(value: object) -> Iterator[Caution]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, str):
            yield Caution("", one)
        elif isinstance(one, Mapping) and isinstance(one.get("message"), str):
            details, severity = one.get("details"), one.get("severity")
            yield Caution(
                str(one.get("code") or ""),
                one["message"],
                severity if isinstance(severity, str) else None,
                details if isinstance(details, Mapping) else None,
            )
