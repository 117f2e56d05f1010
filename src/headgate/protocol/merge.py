"""The merge of an UPDATE's ``input`` into a resource (Spec 4.5.1, 4.5.2; RFC 7386)."""

from collections.abc import Mapping

__all__ = ["merge"]


def merge(resource: object, changes: object) -> object:
    """The resource with the changes applied; neither argument is touched.

    Objects merge key by key, everything else replaces, and ``None`` removes.
    """
    if not isinstance(changes, Mapping):
        return changes
    merged: dict[str, object] = dict(resource) if isinstance(resource, Mapping) else {}
    for key, value in changes.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged
