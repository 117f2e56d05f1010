"""Versions of resources, for changes that must not overwrite somebody else's (Spec 9.3.2)."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from headgate.protocol.errors import VersionMismatch
from headgate.query.collections import Collection

__all__ = ["etag_of", "item_etag", "require_match", "require_version", "with_etag"]


def etag_of(resource: object) -> str:
    """A weak ETag of the resource's content: equal content gives an equal tag, whatever the order of keys."""
    content = to_jsonable_python(resource, bytes_mode="base64", serialize_unknown=True)
    if isinstance(content, dict):
        content.pop("_etag", None)
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return f'W/"{digest[:16]}"'


def with_etag(resource: object) -> dict[str, object]:
    """The resource as an object with its ``_etag``, for the answer of an operation."""
    content: dict[str, object] = to_jsonable_python(resource, bytes_mode="base64", by_alias=True)
    return {**content, "_etag": etag_of(resource)}


def require_match(if_match: str | None, resource: object, resource_type: str, resource_id: object) -> None:
    """Refuse a conditional change whose ``if_match`` is not the version that stands."""
    if if_match is None or if_match == "*":
        return
    current = etag_of(resource)
    if if_match != current:
        raise VersionMismatch(resource_type, resource_id, current)


def item_etag(collection: Collection, item: Mapping[str, Any]) -> str:
    """The version of a collection's item, given with all its fields: its count of changes, or a digest of them all."""
    return f'"{item[collection.version]}"' if collection.version else etag_of(item)


def _plain(tag: str) -> str:
    """A version without its quotes, which are easily lost on the way."""
    return tag.removeprefix("W/").strip('"')


def require_version(collection: Collection, item: Mapping[str, Any], if_match: str | None, resource_id: object) -> None:
    """Refuse a change to an item that has another version than the caller saw."""
    if if_match is None or if_match == "*":
        return
    current = item_etag(collection, item)
    if _plain(if_match) != _plain(current):
        raise VersionMismatch(collection.singular, resource_id, current)
