"""The operations of an OpenAPI document as requests that an adapter file can say by itself.

A file knows less than a document: scalars and lists in the query, bodies of JSON, one credential for all. A document
that needs more is referred to instead, so that nothing is ever sent in another way than the document means.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from headgate.adapter.adapter import Adapter
from headgate.adapter.operations import DRY_RUN, INPUT, Operation
from headgate.adapter.schemas import dereference
from headgate.sources.files.plugins.rest import mapped
from headgate.sources.files.values import PLACES, Auth, Entry, Fields, Place, Sent, Target
from headgate.sources.files.wiring import Wired, Wiring, unfolded
from headgate.sources.http.credentials import ApiKey, Basic, Bearer, Credential
from headgate.sources.openapi.calling import Call
from headgate.sources.openapi.media import Kind
from headgate.sources.openapi.parameters import Located
from headgate.sources.selecting import FIELDS

__all__ = ["rest_wiring"]

_SCALARS: Final = ("string", "integer", "number", "boolean")
_STYLES: Final = {"path": "simple", "query": "form", "header": "simple"}
"""How a parameter is written in each place unless a document says otherwise."""


def rest_wiring(adapter: Adapter) -> Wiring | None:
    """How all operations of a document are called, or None if a file cannot say it of each."""
    calls = {name: one.function for name, one in adapter.operations.items() if isinstance(one.function, Call)}
    if not calls or len(calls) < len(adapter.operations):
        return None
    targets = {call.base_url for call in calls.values()}
    auths = [_auth(call) for call in calls.values()]
    wired = {name: _wired(adapter.operations[name], call) for name, call in calls.items()}
    said = {name: one for name, one in wired.items() if one is not None}
    auth = auths[0]
    if len(targets) > 1 or auth is None or any(one != auth for one in auths) or len(said) < len(wired):
        return None
    return Wiring(_target(targets.pop()), said, auth)


def _target(base_url: str) -> Target:
    return Target(transport="http", protocol="rest", serialization="json", base_url=base_url)


def _auth(call: Call) -> Auth | None:
    """The one credential of an operation; None if there are several, or one that files do not know."""
    ways = call.security.alternatives
    if not ways:
        return Auth()
    if len(ways) > 1 or ways[0].missing or len(ways[0].credentials) > 1:
        return None
    return _told(ways[0].credentials[0]) if ways[0].credentials else Auth()


def _told(credential: Credential) -> Auth | None:
    match credential:
        case Bearer(token_env):
            return Auth(type="bearer", options={"token_env": token_env})
        case ApiKey(name, key_env, "header"):
            return Auth(type="api_key", options={"header_name": name, "key_env": key_env})
        case ApiKey(name, key_env, where):
            return Auth(type="api_key", options={"param_name": name, "key_env": key_env, "in": where})
        case Basic(username_env, password_env):
            return Auth(type="basic", options={"username_env": username_env, "password_env": password_env})
        case _:
            return None


def _wired(operation: Operation, call: Call) -> Wired | None:
    """One operation, if a file can say it."""
    maps_to = operation.origin.maps_to if operation.origin else ""
    if mapped(maps_to) is None or not _has_plain_body(call) or not _has_plain_names(call):
        return None
    if not all(_is_plain(one, operation) for one in call.located.values()):
        return None
    sent = dict(_sent(call))
    is_folded = call.inputs.fields is not None and call.inputs.fields.folded
    made = {FIELDS.name} if call.selects else set()
    made |= {DRY_RUN} if operation.tries_nothing else set()
    kept = [one for one in operation.parameters if one.name not in made and (one.name != INPUT or not is_folded)]
    parameters = (*kept, *(unfolded(operation) if is_folded else ()))
    entry = Entry(
        name=operation.name,
        category=operation.category,
        maps_to=maps_to,
        summary=operation.summary,
        sent=sent,
        folded=is_folded,
        fields=Fields() if call.selects else None,
    )
    return Wired(maps_to, parameters, sent, entry)


def _has_plain_body(call: Call) -> bool:
    """Whether the body is JSON whose fields are parameters, and is sent in any case."""
    body, fields = call.inputs.body, call.inputs.fields
    if body is None:
        return True
    is_json = body.kind is Kind.JSON and body.media == "application/json" and not body.choices
    is_always = fields is not None and (body.required or fields.folded)
    return is_json and is_always and call.method in ("POST", "PUT", "PATCH")


def _has_plain_names(call: Call) -> bool:
    """Whether no name inside a value is spelt otherwise in the request."""
    shapes = (call.inputs.outside, call.inputs.fields)
    return not any(one is not None and one.renames_inside for one in shapes)


def _is_plain(one: Located, operation: Operation) -> bool:
    """Whether a parameter is written as files write it: a scalar anywhere, and a list in the query by repeating it."""
    style, schema = one.style, dereference(one.schema.schema, operation.definitions)
    is_usual = _STYLES.get(one.where) == style.name and not (style.reserved or style.empty or style.media)
    is_list = schema.get("type") == "array" and one.where == "query" and style.explode and _items_are_plain(schema)
    return is_usual and (is_list or schema.get("type") in _SCALARS)


def _items_are_plain(schema: Mapping[str, Any]) -> bool:
    items = schema.get("items")
    return isinstance(items, Mapping) and items.get("type") in _SCALARS


def _sent(call: Call) -> Iterator[tuple[str, Sent]]:
    outside, fields = call.inputs.outside, call.inputs.fields
    for name, key in outside.own_names.items():
        if key in call.located:
            place: Place = next(one for one in PLACES if one == call.located[key].where)
            usual: Place = "path" if place == "path" else "query" if call.method in ("GET", "DELETE") else "body"
            yield name, Sent(call.located[key].name, None if place == usual else place)
    for name, own in fields.own_names.items() if fields is not None else ():
        yield name, Sent(own)
