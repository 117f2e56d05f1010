"""``headgate call``: one request, and its answer printed."""

import sys
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import anyio
import orjson
from cyclopts import Parameter

from headgate.cli.exits import FAILED, OK
from headgate.cli.failures import failure_lines
from headgate.cli.following import Place, carried_on, show_result, tell_warnings
from headgate.cli.guards import Guarding
from headgate.cli.openings import Reaching
from headgate.cli.output import complain, guarded, print_json, told
from headgate.cli.questions import agrees
from headgate.cli.targets import DatabaseChoices, Source, open_target
from headgate.client.targets import Envelope, Target
from headgate.engine.gating import place_of
from headgate.server.settings import SettingError

__all__ = ["call", "pairs", "params_of"]


def call(
    operation: Annotated[str, Parameter(help="The operation, such as get_book.")],
    /,
    *values: Annotated[
        str,
        Parameter(
            help="Parameters as name=value, or name:=JSON to say exactly what is meant.", allow_leading_hyphen=False
        ),
    ],
    source: Source = None,
    params: Annotated[
        str | None,
        Parameter(
            help="All parameters as one JSON object; '-' reads it from standard input.", allow_leading_hyphen=True
        ),
    ] = None,
    json: Annotated[
        bool, Parameter(help="Print the whole envelope on one line.", negative=(), show_default=False)
    ] = False,
    wait: Annotated[
        bool, Parameter(help="Wait for the end of long work, and print its result.", negative=(), show_default=False)
    ] = False,
    yes: Annotated[
        bool, Parameter(help="Confirm without asking, if it must be confirmed.", negative=(), show_default=False)
    ] = False,
    database: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
    guarding: Guarding = Guarding(),  # noqa: B008  (frozen)
    reaching: Reaching = Reaching(),  # noqa: B008  (frozen)
) -> int:
    """Call one operation of an adapter or a running server. What must be confirmed is asked on a terminal.

    Long work answers with its state, and --wait follows it with a bar. What runs in this very process is always waited
    for. Ctrl-C leaves what a server or a worker does as it is.

    Exit code 0: it worked; 1: the operation answered with an error; 2: wrong usage; 3: no such source or server.
    """

    async def work() -> int:
        given = params_of(params)
        async with open_target(source, database, guarding, reaching) as target:
            types = await _types(target, operation) if values else {}
            request = given | pairs(values, types)
            answer = await target.call(operation, request)
            confirmation = answer.get("confirmation")
            if confirmation:
                agreed = True if yes else _agrees(confirmation)
                if agreed is False:
                    complain("Not confirmed: nothing was done.")
                    return FAILED
                if agreed:
                    answer = await _confirmed(target, operation, request, answer)
            place = Place(source, guarding.state)
            carried = await carried_on(target, operation, answer, place, waits=wait)
        code = (show_result if carried.is_end else _show)(carried.answer, whole=json)
        if carried.note:
            complain(carried.note)
        return code

    with told(notes=False):
        return guarded(work)


def _agrees(confirmation: Mapping[str, Any]) -> bool | None:
    """Whether the person here agrees; None where nobody can be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    for reason in confirmation.get("reasons", ()):
        complain(str(reason))
    return agrees(str(confirmation.get("message")))


async def _confirmed(target: Target, operation: str, request: Mapping[str, Any], asked: Envelope) -> Envelope:
    """The same call with its token, when its cooldown is over."""
    details = (asked.get("error") or {}).get("details") or {}
    await anyio.sleep(float(details.get("cooldown_seconds", 0)))
    token = str(asked["confirmation"]["token"])
    return await target.call(operation, {**request, place_of(token): token})


def params_of(text: str | None) -> dict[str, Any]:
    """The parameters in a JSON object, or in what standard input holds."""
    if text is None:
        return {}
    raw = sys.stdin.read() if text == "-" else text
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise SettingError(f"--params is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise SettingError('--params must be a JSON object, such as \'{"isbn": "9780141439518"}\'')
    return value


async def _types(target: Target, operation: str) -> Mapping[str, str]:
    """The declared type of each parameter, so that a text stays a text even if it looks like a number."""
    answer = await target.call("introspect", {"query": "operations", "name": operation})
    details = (answer.get("data") or {}).get("operation") or {}
    return {parameter["name"]: parameter["type"] for parameter in details.get("parameters", ())}


def pairs(values: Iterable[str], types: Mapping[str, str]) -> dict[str, Any]:
    """The parameters in words such as ``name=value``, each read by its declared type."""
    return dict(_pair(text, types) for text in values)


def _pair(text: str, types: Mapping[str, str]) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SettingError(f"'{text}' is not name=value")
    if name.endswith(":"):
        return name[:-1], _json_or_fail(value, name[:-1])
    if "string" in types.get(name, "any").split(" | "):
        return name, None if value == "null" and "null" in types[name] else value
    try:
        return name, orjson.loads(value)
    except orjson.JSONDecodeError:
        return name, value


def _json_or_fail(text: str, name: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise SettingError(f"the value of '{name}' is not JSON: {error}") from None


def _show(answer: Envelope, *, whole: bool) -> int:
    succeeded = bool(answer.get("success"))
    if whole:
        print_json(answer, compact=True)
        return OK if succeeded else FAILED
    tell_warnings(answer)
    if succeeded:
        print_json(answer.get("data"), compact=False)
        return OK
    error = answer.get("error") or {}
    for line in failure_lines(error):
        complain(line)
    if answer.get("confirmation"):
        complain(f"{answer['confirmation'].get('message')} Add --yes to confirm it, or call on a terminal to be asked.")
    for problem in (error.get("details") or {}).get("problems", ())[1:]:
        complain(f"{problem['code']}: {problem['message']}")
    return FAILED
