"""An engine asked as a server would ask it, and its answers looked at as a client would see them."""

import json
import re
from collections.abc import Callable
from typing import Any

from headgate import Adapter, Engine, EngineOptions
from headgate.protocol.names import verb_of
from tests.support import has_spec_schemas, schema_errors

__all__ = ["PYTHONS_WORDS", "TRACE", "answer", "ask", "engine_of", "error", "leaks", "not_an_envelope"]

TRACE = re.compile(r"at\s+\S+", re.IGNORECASE)
PYTHONS_WORDS = re.compile(
    r"Traceback|[A-Za-z]+Error\b|Exception|NoneType|object at 0x|__\w+__|\.py\b|<class|<function|site-packages"
    r"|(?:expected|got) '(?:str|int|float|bool|list|bytes|dict|tuple)\b"
    r"|(?<!')\b(?:dict|tuple|None|True|False|self|pydantic|orjson)\b"
)
"""In quotes, a word such as 'True' is the caller's own."""


def engine_of(*functions: Callable[..., Any], options: EngineOptions | None = None, **more: Any) -> Engine:
    """An engine that serves these functions, as CREATE or EXECUTE where they are named so and else as READ."""
    adapter = Adapter("things")
    decorators = {"create": adapter.create, "execute": adapter.execute, "delete": adapter.delete}
    for function in functions:
        decorators.get(verb_of(function.__name__), adapter.read)(function)
    return Engine(adapter, options, **more)


async def ask(engine: Engine, operation: str, **params: Any) -> dict[str, Any]:
    """The envelope of one request."""
    return await answer(engine, {"operation": operation, "params": params})


async def answer(engine: Engine, arguments: object, **where: Any) -> dict[str, Any]:
    """The envelope of raw arguments, which must have the demanded form."""
    reply = await engine.call(arguments, **where)
    envelope: dict[str, Any] = json.loads(reply.text)
    assert not_an_envelope(envelope, is_introspection=_asks_introspect(arguments)) == []
    assert reply.failed == (not envelope["success"])
    return envelope


async def error(engine: Engine, operation: str, **params: Any) -> dict[str, Any]:
    """The error of one request."""
    envelope = await ask(engine, operation, **params)
    assert envelope["success"] is False
    found: dict[str, Any] = envelope["error"]
    assert leaks(found["message"]) == []
    return found


def not_an_envelope(envelope: dict[str, Any], *, is_introspection: bool = False) -> list[str]:
    """What the specification's schemas have against an answer; nothing where they are not at hand."""
    if not has_spec_schemas():
        return []
    if "results" in envelope:
        return _not_a_batch(envelope)
    problems = schema_errors(envelope, "operation-result")
    if is_introspection and not envelope["success"]:
        problems += schema_errors(envelope, "introspection-response")
    return problems


def _not_a_batch(envelope: dict[str, Any]) -> list[str]:
    """A batch has its own schema, which has no room for the warnings that each result may have by itself."""
    bare = {**envelope, "results": [{**item, "result": {**item["result"]}} for item in envelope["results"]]}
    for item in bare["results"]:
        item["result"].pop("warnings", None)
    alone = [problem for item in envelope["results"] for problem in schema_errors(item["result"], "operation-result")]
    return schema_errors(bare, "batch-operation") + alone


def leaks(message: str) -> list[str]:
    """What in a message sounds like a program and not like a person."""
    return [*TRACE.findall(message), *PYTHONS_WORDS.findall(message)]


def _asks_introspect(arguments: object) -> bool:
    return isinstance(arguments, dict) and arguments.get("operation") == "introspect"
