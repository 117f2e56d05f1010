"""Data and Limits: encoding, dates, numbers, sizes."""

import base64
import binascii
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

import orjson

from headgate.conformance.listing import listings
from headgate.conformance.members import Member, members_of, moments_of
from headgate.conformance.moments import is_date_time, is_iso
from headgate.conformance.payloads import (
    LIMITS,
    Limit,
    Oversized,
    allowed_of,
    misencoded,
    oversized,
    padding_of,
    padding_place,
)
from headgate.conformance.probe import Probe
from headgate.conformance.registry import broken, check, holds, unseen
from headgate.conformance.survey import INTROSPECT
from headgate.conformance.values import Area, Demand, Exchange, Finding

__all__: list[str] = []

_TOO_LARGE: Final = "VALIDATION_PAYLOAD_TOO_LARGE"
_BAD_ENCODING: Final = "VALIDATION_INVALID_ENCODING"
_CARRIED: Final = 2 * 1024 * 1024
"""Bytes of a request that every library of MCP carries to the server's own code."""
_SAFE: Final = 2**53 - 1
_MOST_TOLD: Final = 5
_ENCODING: Final = re.compile(r"(?:^|_)encoding$")
_TYPE: Final = re.compile(r"mime|media_?type|content_?type", re.IGNORECASE)
_UNITS: Final[Mapping[Limit, str]] = {
    "max_nesting_depth": "levels",
    "max_array_elements": "elements of an array",
    "max_string_length": "bytes of one text",
    "max_request_size": "bytes of a request",
}


# encoding


@check(
    "data.encoding-refused",
    "Text that is no valid Unicode is refused.",
    section="specification 4.7.1",
    demand=Demand.MUST,
    area=Area.DATA,
    level=1,
    how="Asks 'introspect' for a name with half of a surrogate pair in it (the JSON escape \\ud800 alone).",
    proves=("spec-4.7.1-invalid-utf8-rejected", "spec-4.7.1-text-is-utf8"),
)
async def encoding_refused(probe: Probe) -> AsyncIterator[Finding]:
    """It is not taken for a name that nothing has."""
    exchange = await misencoded(probe)
    if exchange.succeeded:
        words = "'introspect' was answered although its 'name' had half of a surrogate pair, which is no valid text"
        yield broken(INTROSPECT, words, exchange)
    elif exchange.failed or exchange.kind == "refused":
        yield holds(INTROSPECT, exchange)
    else:
        yield unseen(INTROSPECT, f"such a text could not be sent, or was not answered: {exchange.problem}", exchange)


@check(
    "data.encoding-code",
    "Text that is no valid Unicode is refused with VALIDATION_INVALID_ENCODING.",
    section="specification 4.7.1",
    demand=Demand.MUST,
    area=Area.DATA,
    level=2,
    how="Looks at the code with which half of a surrogate pair was refused, where it was.",
    proves=("spec-4.7.1-invalid-utf8-rejected",),
)
async def encoding_code(probe: Probe) -> AsyncIterator[Finding]:
    """The code says what is wrong."""
    exchange = await misencoded(probe)
    for finding in _coded(INTROSPECT, exchange, _BAD_ENCODING):
        yield finding


def _coded(subject: str, exchange: Exchange, code: str) -> Iterator[Finding]:
    if exchange.failed and exchange.code == code:
        yield holds(subject, exchange)
    elif exchange.failed and exchange.code:
        yield broken(subject, f"refused with '{exchange.code}'; '{code}' is expected", exchange)


@check(
    "data.null-bytes",
    "Text with a null character in it is refused.",
    section="specification 4.7.1",
    demand=Demand.SHOULD,
    area=Area.DATA,
    level=2,
    how="Asks 'introspect' for a name with the character U+0000 in it.",
    proves=("spec-4.7.1-null-bytes-rejected",),
)
async def null_bytes(probe: Probe) -> AsyncIterator[Finding]:
    """It does not get through to where it ends a text."""
    exchange = await probe.introspect("operations", "a\0b")
    if exchange.succeeded:
        yield broken(INTROSPECT, "'introspect' was answered although its 'name' had a null character in it", exchange)
    elif exchange.failed:
        yield holds(INTROSPECT, exchange)


# limits


async def _bounded(probe: Probe, limit: Limit) -> AsyncIterator[Finding]:
    tried = await oversized(probe, limit)
    if tried is None:
        yield unseen("server", f"{allowed_of(probe, limit)} {_UNITS[limit]} are too many to be tried")
    elif tried.exchange.succeeded:
        words = f"a request beyond {tried.allowed} {_UNITS[limit]} was taken; it is to be refused"
        yield broken("server", words, tried.exchange)
    elif tried.exchange.kind == "silent":
        yield unseen("server", f"a request beyond {tried.allowed} {_UNITS[limit]} was not answered", tried.exchange)
    elif tried.exchange.kind == "lost":
        yield _cut_off(tried, limit)
    else:
        yield holds("server", tried.exchange)


def _cut_off(tried: Oversized, limit: Limit) -> Finding:
    """To end, or to hang up, is no refusal; but what is very large may never reach the server's own code."""
    request = f"a request beyond {tried.allowed} {_UNITS[limit]}"
    size = len(orjson.dumps(tried.exchange.arguments))
    if size <= _CARRIED:
        words = f"the server ended, or hung up, in place of an answer to {request}; expected {_TOO_LARGE}"
        return broken("server", words, tried.exchange)
    why = f"the connection ended on {request}, which had {size} bytes: what carries it may have limits of its own"
    return unseen("server", why, tried.exchange)


_HOW: Final = (
    "Sends one beyond what '_protocol.limits' says, or else beyond the widest that 4.7.5 allows; in metadata that "
    "every server passes over, if it is seen that it arrives."
)


@check(
    "data.depth-limit",
    "A request that is nested too deep is refused.",
    section="specification 4.7.5",
    demand=Demand.MUST,
    area=Area.DATA,
    level=1,
    how=_HOW,
    proves=("spec-4.7.5-nesting-depth-limit-enforced",),
)
async def depth_limit(probe: Probe) -> AsyncIterator[Finding]:
    """Depth has an end."""
    async for finding in _bounded(probe, "max_nesting_depth"):
        yield finding


@check(
    "data.array-limit",
    "A request with too long an array is refused.",
    section="specification 4.7.5",
    demand=Demand.MUST,
    area=Area.DATA,
    level=1,
    how=_HOW,
    proves=("spec-4.7.5-array-elements-limit-enforced",),
)
async def array_limit(probe: Probe) -> AsyncIterator[Finding]:
    """Arrays have an end."""
    async for finding in _bounded(probe, "max_array_elements"):
        yield finding


@check(
    "data.string-limit",
    "A request with too long a text is refused.",
    section="specification 4.7.5",
    demand=Demand.MUST,
    area=Area.DATA,
    level=1,
    how="Asks 'introspect' for a name that is longer than '_protocol.limits' says, or else than the 10 MB that 4.7.5 "
    "allows.",
    proves=("spec-4.7.5-string-length-limit-enforced",),
)
async def string_limit(probe: Probe) -> AsyncIterator[Finding]:
    """Texts have an end."""
    async for finding in _bounded(probe, "max_string_length"):
        yield finding


@check(
    "data.request-limit",
    "A request that is too large as a whole is refused.",
    section="specification 4.7.5",
    demand=Demand.MUST,
    area=Area.DATA,
    level=1,
    how=_HOW,
    proves=("spec-4.7.5-request-size-limit-enforced",),
)
async def request_limit(probe: Probe) -> AsyncIterator[Finding]:
    """Requests have an end."""
    async for finding in _bounded(probe, "max_request_size"):
        yield finding


@check(
    "data.limit-code",
    "What is too large is refused with VALIDATION_PAYLOAD_TOO_LARGE.",
    section="specification 4.7.5",
    demand=Demand.MUST,
    area=Area.DATA,
    level=2,
    how="Looks at the codes with which requests were refused that were too large and right in every other way.",
    proves=("spec-4.7.5-exceeded-limit-error-code",),
)
async def limit_code(probe: Probe) -> AsyncIterator[Finding]:
    """The code says what is wrong."""
    for limit in LIMITS:
        tried = await oversized(probe, limit)
        if tried is not None and tried.is_right_otherwise:
            for finding in _coded(limit, tried.exchange, _TOO_LARGE):
                yield finding


@check(
    "data.limit-details",
    "The error of what is too large says in its details which limit it was.",
    section="specification 4.7.5",
    demand=Demand.SHOULD,
    area=Area.DATA,
    level=2,
    how="Calls a READ operation with too long an array in metadata, and looks for a member of 'details' that is named "
    "after a limit.",
    proves=("spec-4.7.5-exceeded-limit-error-code",),
)
async def limit_details(probe: Probe) -> AsyncIterator[Finding]:
    """A client can keep to it next time."""
    found = await listings(probe)
    allowed = allowed_of(probe, "max_array_elements")
    if not found or await padding_place(probe) != "top":
        return
    request = {"operation": found[0].name, "params": found[0].few(1)}
    padding = {"_padding": padding_of("max_array_elements", allowed)}
    exchange = await probe.ask(found[0].operation.tool, {**request, **padding})
    if exchange.code != _TOO_LARGE:
        return
    if any("limit" in str(name) for name in exchange.details):
        yield holds(found[0].name, exchange)
    else:
        words = "'details' of the error say not which limit was passed; 'limit_type' and 'limit_value' are expected"
        yield broken(found[0].name, words, exchange)


# what is in answers


def _findings(wrong: dict[str, Finding], seen: bool) -> Iterator[Finding]:
    """A few of what is wrong, each place once; or that all is well, if there was anything."""
    yield from list(wrong.values())[:_MOST_TOLD]
    if seen and not wrong:
        yield holds("answers")


@check(
    "data.dates",
    "Dates and times in answers have the form of ISO 8601.",
    section="specification 4.7.2",
    demand=Demand.MUST,
    area=Area.DATA,
    level=2,
    how="Looks at members of answers that are named like dates, such as 'created_at' or 'due_date', or whose name is "
    "that of a parameter with the format date or date-time, and whose values look like dates in some form or other.",
    proves=("spec-4.7.2-dates-are-iso-8601",),
)
async def dates(probe: Probe) -> AsyncIterator[Finding]:
    """Nobody has to guess which is the month."""
    found = moments_of(probe, await members_of(probe))
    wrong = {
        one.subject: broken(
            one.subject,
            f"'{one.name}' is '{one.value}'; the form of ISO 8601 is expected, such as 2026-02-04T10:30:00Z",
            one.exchange,
        )
        for one in reversed(found)
        if not is_iso(one.value)
    }
    for finding in _findings(wrong, bool(found)):
        yield finding


@check(
    "data.utc",
    "Times in answers are in UTC, with a Z.",
    section="specification 4.7.2",
    demand=Demand.SHOULD,
    area=Area.DATA,
    level=2,
    how="Looks at the same members as data.dates, where they have a time of day in the form of ISO 8601.",
    proves=("spec-4.7.2-response-timestamps-in-utc",),
)
async def utc(probe: Probe) -> AsyncIterator[Finding]:
    """Times can be compared as they are."""
    found = [one for one in moments_of(probe, await members_of(probe)) if is_date_time(one.value)]
    wrong = {
        one.subject: broken(one.subject, f"'{one.name}' is '{one.value}'; UTC with a Z is expected", one.exchange)
        for one in reversed(found)
        if not one.value.endswith("Z")
    }
    for finding in _findings(wrong, bool(found)):
        yield finding


@check(
    "data.safe-integers",
    "Integers that not every reader of JSON keeps exactly are given as text.",
    section="specification 4.7.3",
    demand=Demand.SHOULD,
    area=Area.DATA,
    level=2,
    how="Looks for integers beyond 9,007,199,254,740,991 in the answers of READ operations.",
    proves=("spec-4.7.3-precise-numbers-as-strings",),
)
async def safe_integers(probe: Probe) -> AsyncIterator[Finding]:
    """No digit is lost on the way."""
    found = [one for one in await members_of(probe) if isinstance(one.value, int) and not isinstance(one.value, bool)]
    wrong = {
        one.subject: broken(one.subject, f"'{one.name}' is {one.value}; a text is expected", one.exchange)
        for one in reversed(found)
        if abs(one.value) > _SAFE
    }
    for finding in _findings(wrong, bool(found)):
        yield finding


@check(
    "data.base64",
    "Binary data is padded base64, with its media type beside it.",
    section="specification 4.7.4",
    demand=Demand.MUST,
    area=Area.DATA,
    level=2,
    how="Looks at objects in answers that have a member such as 'file_encoding' with the value 'base64'.",
    proves=("spec-4.7.4-binary-is-padded-base64", "spec-4.7.4-binary-carries-encoding-metadata"),
)
async def base_64(probe: Probe) -> AsyncIterator[Finding]:
    """What was encoded can be decoded."""
    members = await members_of(probe)
    found = [one for one in members if _ENCODING.search(one.name) and one.value == "base64"]
    wrong = {
        one.subject: broken(one.subject, words, one.exchange) for one in reversed(found) if (words := _misencoded(one))
    }
    for finding in _findings(wrong, bool(found)):
        yield finding


def _misencoded(member: Member) -> str:
    stem = _ENCODING.sub("", member.name)
    for suffix in ("content", "data", "body", "base64", ""):
        name = f"{stem}_{suffix}".strip("_")
        value = member.beside.get(name)
        if isinstance(value, str):
            try:
                base64.b64decode(value, validate=True)
            except (binascii.Error, ValueError):
                return f"'{name}' is no base64 with padding, although '{member.name}' says base64"
            break
    if not any(_TYPE.search(name) for name in member.beside):
        return f"beside '{member.name}' stands no media type, such as '{stem or 'content'}_mime_type'"
    return ""
