"""Long lists of names in pages: the last name of one is the cursor of the next."""

from collections.abc import Sequence

from headgate.protocol.errors import AqlError

__all__ = ["page_info", "page_of"]


def page_of(names: Sequence[str], first: int, after: str | None) -> Sequence[str]:
    """The names after one that is known."""
    start = 0
    if after is not None:
        if after not in names:
            raise AqlError(
                "VALIDATION_INVALID_VALUE",
                "Parameter 'after' is not valid: give the last name of the page before",
            )
        start = names.index(after) + 1
    return names[start : start + first]


def page_info(page: Sequence[str], total: int, after: str | None) -> dict[str, object]:
    """Where a page stands, if it is not everything."""
    if len(page) == total:
        return {}
    return {"page": {"total": total, "returned": len(page), "after": page[-1] if page else after}}
