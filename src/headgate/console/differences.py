"""What would change: the fields of something before and after, as a person compares them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Difference", "differences"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that changes. Where it is not there at all before or after, there is nothing to show."""

    field: str
    before: object
    after: object
    is_new: bool = False
    is_gone: bool = False


def differences(before: Mapping[str, Any], after: Mapping[str, Any], path: str = "") -> list[Difference]:
    """The fields that are not the same, those within others too, in the order in which they stand."""
    found: list[Difference] = []
    for name in dict.fromkeys((*before, *after)):
        field = f"{path}{name}"
        if name not in after:
            found.append(Difference(field, before[name], None, is_gone=True))
        elif name not in before:
            found.append(Difference(field, None, after[name], is_new=True))
        elif isinstance(before[name], Mapping) and isinstance(after[name], Mapping):
            found += differences(before[name], after[name], f"{field}.")
        elif _told(before[name]) != _told(after[name]):
            found.append(Difference(field, before[name], after[name]))
    return found


def _told(value: object) -> str:
    """What a value is for whoever reads it: to Python, true and 1 would be the same."""
    return json.dumps(value, sort_keys=True, default=str)
