"""An answer with parts that are no data: pictures, sounds, files. A host can show them; as text they only cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

__all__ = ["Contents", "Part"]

Part: TypeAlias = Mapping[str, Any]
"""A content block in the form that MCP gives it."""

_SHOWN: Final = ("image", "audio")


@dataclass(frozen=True, slots=True)
class Contents:
    """Content blocks in their order, with the data beside them if there are any."""

    parts: tuple[Part, ...]
    structured: object = None

    def inline(self) -> object:
        """The whole as data, where there is only one text to answer with (Spec 4.7.4)."""
        return self._with(self.parts)

    def attached(self) -> tuple[object, list[Part]]:
        """The data, and the parts that are sent beside it; ``attachment`` is each one's place there, from 1 on."""
        beside: list[Part] = []
        return self._with([_left_behind(part, beside) for part in self.parts]), beside

    def _with(self, parts: Sequence[Part]) -> object:
        content = {"content": list(parts)}
        return content if self.structured is None else {"structured": self.structured, **content}


def _left_behind(part: Part, beside: list[Part]) -> Part:
    """What stands in the data for a part that goes beside it."""
    if part.get("type") in _SHOWN:
        kept = {key: value for key, value in part.items() if key != "data"}
    elif part.get("type") == "resource" and "blob" in part.get("resource", ()):
        resource = {key: value for key, value in part["resource"].items() if key != "blob"}
        kept = {**part, "resource": resource}
    else:
        return part
    beside.append(part)
    return {**kept, "attachment": len(beside)}
