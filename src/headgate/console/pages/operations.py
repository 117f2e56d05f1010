"""The operations of the server: found, described, and tried with a form that is made from what introspection says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from starlette.responses import Response

from headgate.adapter.introspection import CONFIRMATION_TOKEN, INTROSPECT
from headgate.console.console import Console
from headgate.console.doors import Door, Visit

__all__ = ["doors"]

_PREFIX: Final = "param."
_LARGEST_ANSWER: Final = 200_000


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter, as a form asks for it."""

    name: str
    kind: str
    """text, number, choice, or json for whatever has an inside."""
    description: str
    required: bool
    choices: tuple[str, ...]
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
        return await self._page(visit, typed=typed, request=request, answer=answer)

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
        return answer["data"] if answer and answer.get("success") else None


def _name(visit: Visit) -> str:
    return str(visit.request.path_params["name"])


def _listed(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = data.get("operations") or data.get("results") or data.get("items") or []
    return [one for one in found if isinstance(one, Mapping)]


def _field(parameter: Mapping[str, Any], typed: Mapping[str, str]) -> Field:
    name = str(parameter["name"])
    said = parameter.get("type")
    choices = tuple(str(one) for one in parameter.get("enum") or () if one is not None)
    if said == "boolean":
        choices = ("true", "false")
    kind = "choice" if choices else {"string": "text", "integer": "number", "number": "number"}.get(str(said), "json")
    default = parameter.get("default")
    shown = "" if default is None else default if isinstance(default, str) else orjson.dumps(default).decode()
    return Field(
        name=name,
        kind=kind,
        description=str(parameter.get("description") or ""),
        required=bool(parameter.get("required")),
        choices=choices,
        value=typed.get(name, "" if choices else shown if parameter.get("required") else ""),
        hidden=bool(parameter.get("sensitive")),
    )


def _read(field: Field, text: str) -> object:
    """What somebody has typed, as a value; a ValueError that says what is wrong with it."""
    if field.kind == "text":
        return text
    if field.kind == "choice" and text not in ("true", "false"):
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        if field.kind == "number":
            raise ValueError(f"'{field.name}' must be a number.") from None
        if text[:1] not in '{["' and not text[:1].isdigit():
            return text
        raise ValueError(f"'{field.name}' must be JSON, such as {{\"a\": 1}} or [1, 2].") from None
