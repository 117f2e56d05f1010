"""The operations of the server: found, described, and tried with a form that is made from what introspection says."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from headgate.adapter.introspection import CONFIRMATION_TOKEN, INTROSPECT
from headgate.adapter.masking import masked
from headgate.console.console import Console
from headgate.console.doors import Door, Visit
from headgate.console.words import typed_json

__all__ = ["doors"]

_PREFIX: Final = "param."
_PLAIN: Final = {"string": "text", "integer": "number", "number": "number"}


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter, as a form asks for it."""

    name: str
    kind: str
    """text, number, choice, or json for whatever has an inside."""
    description: str
    required: bool
    choices: Mapping[str, object]
    """What may be chosen, and the value that is meant by it."""
    value: str
    hidden: bool


def doors(console: Console) -> list[Door]:
    """The routes of the explorer; none without an engine."""
    pages = _Operations(console)
    return [
        Door("GET", "/operations", pages.show_all),
        Door("GET", "/operations/{name}", pages.show_one),
        Door("POST", "/operations/{name}", pages.attempt),
    ]


class _Operations:
    def __init__(self, console: Console) -> None:
        self._console = console

    async def show_all(self, visit: Visit) -> Response:
        words = visit.request.query_params.get("search", "").strip()
        params: dict[str, object] = {"query": "search", "name": words} if words else {"query": "operations"}
        data = await self._introspected(visit, params)
        if data is None:
            return await self._console.page(visit, "missing.html", status=404, what="server beside this console")
        return await self._console.page(visit, "operations.html", found=_listed(data), words=words)

    async def show_one(self, visit: Visit) -> Response:
        return await self._page(visit)

    async def attempt(self, visit: Visit) -> Response:
        """Send the call that the form describes, as any other caller: rules and confirmations count here too."""
        engine, name = self._console.engine, _name(visit)
        if engine is None or name not in engine.introspector.operations:
            return await self._console.page(visit, "missing.html", status=404, what="operation")
        typed = {key.removeprefix(_PREFIX): values[0] for key, values in visit.form.items() if key.startswith(_PREFIX)}
        fields = {field.name: field for field in await self._fields(visit, typed)}
        try:
            params = {key: _read(fields[key], text) for key, text in typed.items() if key in fields and text != ""}
        except ValueError as error:
            return await self._page(visit, typed=typed, said=str(error), status=422)
        request: dict[str, object] = {"operation": name, "params": params}
        token = visit.said("token").strip()
        if token:
            request["_confirmation"] = token
        answer = await self._console.call(visit, request)
        told = {**request, "params": masked(engine.introspector.operations[name], params)}
        return await self._page(visit, typed=typed, request=told, answer=answer)

    async def _page(
        self,
        visit: Visit,
        *,
        typed: Mapping[str, str] | None = None,
        said: str = "",
        request: object = None,
        answer: Any = None,
        status: int = 200,
    ) -> Response:
        detail = await self._detail(visit)
        if detail is None:
            return await self._console.page(visit, "missing.html", status=404, what="operation")
        details = answer["error"].get("details") or {} if answer and not answer.get("success", True) else {}
        return await self._console.page(
            visit,
            "operation.html",
            status=status,
            operation=detail,
            fields=await self._fields(visit, typed or {}),
            said=said,
            request=request,
            answer=answer,
            token=details.get("confirmation_token", ""),
            approval=details.get("approval_id", ""),
        )

    async def _fields(self, visit: Visit, typed: Mapping[str, str]) -> list[Field]:
        detail = await self._detail(visit) or {}
        asked = detail.get("parameters") or ()
        return [_field(one, typed) for one in asked if one["name"] != CONFIRMATION_TOKEN]

    async def _detail(self, visit: Visit) -> dict[str, Any] | None:
        data = await self._introspected(visit, {"query": "operations", "name": _name(visit)})
        found = (data or {}).get("operation", data)
        return found if isinstance(found, dict) and "name" in found else None

    async def _introspected(self, visit: Visit, params: Mapping[str, object]) -> dict[str, Any] | None:
        answer = await self._console.call(visit, {"operation": INTROSPECT, "params": params})
        if answer is None:
            return None
        return answer["data"] if answer.get("success") else {}


def _name(visit: Visit) -> str:
    return str(visit.request.path_params["name"])


def _listed(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in data.get("operations", ()) if isinstance(one, Mapping)]


def _field(parameter: Mapping[str, Any], typed: Mapping[str, str]) -> Field:
    name = str(parameter["name"])
    words = [word for word in str(parameter.get("type")).split(" | ") if word != "null"]
    values = (True, False) if words == ["boolean"] else parameter.get("enum") or ()
    choices = {_text(value): value for value in values if value is not None}
    default = parameter.get("default")
    is_needed = bool(parameter.get("required"))
    return Field(
        name=name,
        kind="choice" if choices else _kind(words),
        description=str(parameter.get("description") or ""),
        required=is_needed,
        choices=choices,
        value=typed.get(name, "" if default is None or not is_needed else _text(default)),
        hidden=bool(parameter.get("sensitive")),
    )


def _kind(words: list[str]) -> str:
    """How a value of these types is typed; a number may stand as it is where a text may."""
    kinds = {_PLAIN.get(word, "json") for word in words}
    if "json" in kinds:
        return "json"
    return "text" if "text" in kinds else "number"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _read(field: Field, text: str) -> object:
    """What somebody has typed, as a value; a ValueError that says what is wrong with it."""
    match field.kind:
        case "text":
            return text
        case "choice":
            return field.choices.get(text, text)
        case "number":
            return _number(field, text)
        case _:
            return _inside(field, text)


def _number(field: Field, text: str) -> int | float:
    try:
        value = typed_json(text)
    except ValueError:
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"'{field.name}' must be a number.")  # noqa: TRY004  (a person's mistake)
    return value


def _inside(field: Field, text: str) -> object:
    """JSON; or a text, if it does not even look like JSON."""
    try:
        return typed_json(text)
    except ValueError as error:
        if text.lstrip()[:1] in ("{", "[", '"'):
            raise ValueError(f"'{field.name}' must be JSON, such as {{\"a\": 1}} or [1, 2]: {error}.") from None
        return text
