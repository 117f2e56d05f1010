"""The blocks ``pagination`` and ``supports_fields`` of an operation."""

from collections.abc import Mapping
from typing import Final

from headgate.sources.files.spots import Spot
from headgate.sources.files.values import STYLES, Fields, Paging, Style

__all__ = ["PAGING_KEYS", "read_fields", "read_paging"]

PAGING_KEYS: Final = (
    *("style", "default_limit", "max_limit", "param_name", "per_page_param", "items_field", "cursor_field"),
    *("total_field", "start"),
)
_SYNONYMS: Final[Mapping[str, str]] = {"link_header": "link"}
_PARAMS: Final[Mapping[str, tuple[str, str]]] = {
    "link": ("page", "per_page"),
    "cursor": ("cursor", "limit"),
    "page": ("page", "per_page"),
    "offset": ("offset", "limit"),
}
"""How the place of a page and its size are usually called."""
_MOST: Final = 10_000


def read_paging(spot: Spot) -> Paging | None:
    """How an API hands out its lists."""
    fields = spot.fields(PAGING_KEYS, ("style",))
    word = fields["style"].choice(STYLES, _SYNONYMS) if "style" in fields else None
    texts = {
        name: fields[name].text() or ""
        for name in ("param_name", "per_page_param", "items_field", "cursor_field", "total_field")
        if name in fields
    }
    highest = fields["max_limit"].whole(1, _MOST) if "max_limit" in fields else None
    size = fields["default_limit"].whole(1, _MOST) if "default_limit" in fields else None
    start = fields["start"].whole(0, 1) if "start" in fields else None
    if word is None:
        return None
    style: Style = next(one for one in STYLES if one == word)
    most = highest or max(size or 0, 100)
    if size is not None and size > most:
        fields["default_limit"].wrong(f"{most} or less, which is the 'max_limit'", "Lower it.")
    return Paging(
        style=style,
        param_name=texts.get("param_name") or _PARAMS[style][0],
        per_page_param=texts.get("per_page_param") or _PARAMS[style][1],
        default_limit=size or min(25, most),
        max_limit=most,
        items_field=texts.get("items_field", ""),
        cursor_field=texts.get("cursor_field", ""),
        total_field=texts.get("total_field", ""),
        start=1 if start is None else start,
    )


def read_fields(fields: Mapping[str, Spot]) -> Fields | None:
    """That the fields of an answer may be chosen."""
    supported = fields["supports_fields"].flag() if "supports_fields" in fields else None
    default = fields["default_fields"].texts() if "default_fields" in fields else ()
    if default and not supported:
        fields["default_fields"].wrong("'supports_fields: true' beside it", "Add that.", found="none")
    return Fields(default) if supported else None
