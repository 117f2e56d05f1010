"""Requests of every kind by the million, and what no answer may be.

``python -m tests.engine.fuzzing CASES [SEED]`` runs them in all processors and says how many went through a second.
"""

import json
import logging
import math
import os
import random
import reprlib
import string
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import Any

import anyio

from headgate import Engine, EngineOptions, Limits
from tests.engine.asking import leaks, not_an_envelope
from tests.engine.playground import REQUESTS, playground
from tests.support import has_spec_schemas, schema_errors

__all__ = ["LIMITS", "Spoiler", "complaints", "engine", "run_everywhere", "run_here", "silent_log"]

LIMITS = Limits(max_request_size=64 * 1024, max_response_size=1024 * 1024, max_string_length=64 * 1024)
ENDPOINTS = (*[None] * 50, "create", "read", "update", "delete", "execute", "nonsense")
SECRETS = ("K3Y-hunter", "/srv/library", "internal words")

_ODD_TEXTS = (
    *(
        "",
        " ",
        "\0",
        "\ud800",
        "a\udfffb",
        "\u202e",
        "\u200b",
        "é" * 30,
        "😀",
        "\ufeff",
        "\uff21\uff22",
        "a\tb\nc",
        "\x7f",
        "'",
        '"',
    ),
    *(
        "look at me",
        "at",
        "that x",
        "AT\u00a0it",
        "'; DROP TABLE books; --",
        "../../etc/passwd",
        "${jndi:x}",
        "<script>",
    ),
    *("{}", "[]", "null", "true", "NaN", "1e999", "{", '{"a":', '{"title": "T"}', '["a"]', "[[[[", "0x7f", "main.py"),
    *("KeyError", "Traceback (most recent call last)", "__class__", "constructor", "%s %n", "{0.__class__}", "\\u0000"),
    *(
        "9007199254740993",
        "-9007199254740993",
        "12345678901234567890123456789012",
        "0",
        "-0",
        "1.0",
        "AAE=",
        "AAE",
        "=" * 5,
    ),
    *(
        "2026-02-30",
        "2026-02-04",
        "0000-01-01T00:00:00Z",
        "2016-12-31T23:59:60Z",
        "2026-02-04t10:30:00z",
        "10000-01-01",
    ),
)
_NUMBERS = (
    *(0, 1, -1, 13, 150, 2**31, 2**53 - 1, -(2**53), 2**53, 2**63, 2**64, -(2**64), 10**18, 10**30, 10**400),
    *(0.0, -0.0, 0.1, 1.5, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan, 1e18),
)
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxdict, _SHORT.maxlist = 8, 200, 20, 20


class Spoiler:
    """Makes requests: right ones, nearly right ones, and what was never meant to be one."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311

    def arguments(self) -> object:
        """The arguments of one tool call."""
        draw = self._random.random()
        if draw < 0.75:
            return self._request()
        if draw < 0.87:
            return {"operations": self._batch()}
        if draw < 0.97:
            return self._value(4)
        return self._extreme() if draw < 0.98 else self._wrapped()

    def endpoint(self) -> str | None:
        """Through which endpoint it is sent."""
        return self._random.choice(ENDPOINTS)

    def _request(self) -> object:
        name, params = self._random.choice(REQUESTS)
        spoilt: Any = json.loads(json.dumps(params))
        for _ in range(self._random.choice((0, 0, 1, 1, 1, 2, 3))):
            spoilt = self._spoil(spoilt)
        if self._random.random() < 0.08:
            name = self._misspelt(name)
        return self._placed(name, spoilt)

    def _placed(self, name: object, params: Any) -> object:
        match self._random.randrange(8):
            case 0 if isinstance(params, dict):
                return {"operation": name, **params}
            case 1:
                return {"operation": name, "params": _as_text(params)}
            case 2 if isinstance(params, dict):
                return {"operation": name, "params": params, "_meta": self._value(2), self._key(params): self._value(2)}
            case _:
                return {"operation": name, "params": params}

    def _batch(self) -> object:
        items = [
            self._request() if self._random.random() < 0.9 else self._value(2) for _ in range(self._random.randrange(5))
        ]
        return _as_text(items) if self._random.random() < 0.1 else items

    def _spoil(self, value: Any) -> Any:
        """The value with one thing in it changed."""
        if isinstance(value, dict) and value and self._random.random() < 0.9:
            return self._spoil_object(dict(value))
        if isinstance(value, list) and value and self._random.random() < 0.8:
            place = self._random.randrange(len(value))
            return [*value[:place], self._spoil(value[place]), *value[place + 1 :]]
        return self._random.choice((self._value, self._stringified, self._in_a_list))(value)

    def _spoil_object(self, value: dict[str, Any]) -> dict[str, Any]:
        key = self._random.choice(list(value))
        match self._random.randrange(6):
            case 0:
                del value[key]
            case 1:
                value[self._key(value)] = self._value(2)
            case 2:
                value[self._misspelt(key)] = value.pop(key)
            case _:
                value[key] = self._spoil(value[key])
        return value

    def _stringified(self, value: Any) -> object:
        return _as_text(value)

    def _in_a_list(self, value: Any) -> object:
        return [value] * self._random.randrange(4)

    def _key(self, siblings: dict[str, Any]) -> str:
        known = ("title", "name", "input", "book_id", "operation", "params", "operations", "_meta", "x")
        return self._random.choice((*known, *siblings, self._text()))

    def _misspelt(self, name: str) -> str:
        place = self._random.randrange(len(name) + 1)
        words = name.split("_")
        return self._random.choice(
            (
                name[:place] + name[place + 1 :],
                name[:place] + self._random.choice(string.ascii_letters) + name[place:],
                words[0] + "".join(map(str.title, words[1:])),
                name.upper(),
                name + self._text(),
                self._text(),
            )
        )

    def _text(self) -> str:
        draw = self._random.random()
        if draw < 0.6:
            return self._random.choice(_ODD_TEXTS)
        if draw < 0.8:
            return "".join(self._random.choices(string.ascii_lowercase + "_ ", k=self._random.randrange(12)))
        return "".join(chr(self._random.randrange(0x11_0000)) for _ in range(self._random.randrange(8)))

    def _value(self, depth: object) -> object:
        """Anything that JSON, or a careless program, could hold."""
        levels = depth if isinstance(depth, int) else 2
        draw = self._random.random()
        if levels <= 0 or draw < 0.6:
            return self._random.choice((None, True, False, self._text(), self._random.choice(_NUMBERS)))
        if draw < 0.8:
            return [self._value(levels - 1) for _ in range(self._random.randrange(4))]
        return {self._text(): self._value(levels - 1) for _ in range(self._random.randrange(4))}

    def _extreme(self) -> object:
        """What is too much of something."""
        name, params = self._random.choice(REQUESTS)
        match self._random.randrange(6):
            case 0:
                value: object = self._deep(self._random.choice((31, 32, 33, 100, 300, 2000)))
            case 1:
                value = "x" * self._random.choice((64 * 1024 - 60, 64 * 1024, 64 * 1024 + 1, 200_000))
            case 2:
                value = [self._value(1)] * self._random.choice((9_999, 10_000, 10_001))
            case 3:
                value = {f"{self._text()}{number}": number for number in range(1000)}
            case 4:
                return {"operations": [{"operation": name, "params": params}] * self._random.choice((200, 1364, 1365))}
            case _:
                value = "[" * 5000
        return {"operation": name, "params": {**params, self._random.choice(list(params)): value}}

    def _deep(self, levels: int) -> object:
        value: object = self._value(0)
        for _ in range(levels):
            value = [value] if self._random.random() < 0.5 else {"a": value}
        return value

    def _wrapped(self) -> object:
        return self._random.choice(
            (_as_text(self._request()), [self._request()], {"request": self._request()}, {}, None)
        )


def _as_text(value: object) -> str:
    try:
        return json.dumps(value)
    except (ValueError, RecursionError):
        return "{}"


def engine() -> Engine:
    """An engine over the playground, with small limits."""
    return Engine(playground(), EngineOptions(limits=LIMITS))


@contextmanager
def silent_log() -> Iterator[None]:
    """No traces of the handlers that break on purpose, while this lasts."""
    log = logging.getLogger("headgate")
    was, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = was


def complaints(arguments: object, text: str) -> Iterator[str]:
    """What is wrong with an answer, whatever it answers."""
    if len(text.encode()) > LIMITS.max_response_size:
        yield f"the answer has {len(text.encode())} bytes"
    envelope = json.loads(text)
    operation = arguments.get("operation") if isinstance(arguments, dict) else None
    yield from not_an_envelope(envelope, is_introspection=operation == "introspect")
    for result in [envelope, *(item["result"] for item in envelope.get("results", ()))]:
        for message in _messages(result):
            yield from (f"{leak!r} in {message!r}" for leak in leaks(message))
            yield from (f"{words!r} in {message!r}" for words in SECRETS if words in message)
    if operation == "introspect" and envelope["success"] and _is_of_the_specification(envelope) and has_spec_schemas():
        yield from schema_errors(envelope, "introspection-response")


def _messages(envelope: dict[str, Any]) -> Iterator[str]:
    error = envelope.get("error", {})
    yield error.get("message", "")
    for problem in error.get("details", {}).get("problems", ()):
        yield problem["message"]


def _is_of_the_specification(envelope: dict[str, Any]) -> bool:
    """Whether it answers one of the two queries that have a schema; a search has no ``_protocol`` and more fields."""
    keys = set(envelope["data"])
    return keys in ({"operation"}, {"types"}, {"type"}, {"_protocol", "operations"})


async def run(cases: int, seed: int) -> list[str]:
    """Try so many requests; what was wrong, with what is needed to see it again."""
    served, spoiler, found = engine(), Spoiler(seed), []
    for number in range(cases):
        arguments, endpoint = spoiler.arguments(), spoiler.endpoint()
        try:
            reply = await served.call(arguments, endpoint=endpoint)
            wrong = list(complaints(arguments, reply.text))
        except Exception as error:  # noqa: BLE001  (that nothing is ever raised is what is tried here)
            wrong = [f"raised {error!r}"]
        found += [f"seed {seed}, case {number}: {what}: {_SHORT.repr(arguments)}" for what in wrong]
    return found


def run_here(cases: int, seed: int = 0) -> list[str]:
    """The same, in this process."""
    with silent_log():
        return anyio.run(run, cases, seed)


def run_everywhere(cases: int, seed: int = 0) -> list[str]:
    """The same in every processor, in portions with seeds of their own."""
    portion = 10_000
    sizes = [min(portion, cases - start) for start in range(0, cases, portion)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return [what for found in pool.map(run_here, sizes, count(seed)) for what in found]


def main(cases: int, seed: int = 0) -> int:
    """The command line."""
    started = time.perf_counter()
    found = run_everywhere(cases, seed)
    seconds = time.perf_counter() - started
    lines = [*found[:50], f"{cases} cases, {len(found)} complaints, {cases / seconds:.0f} cases a second"]
    sys.stdout.write("\n".join(lines) + "\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
