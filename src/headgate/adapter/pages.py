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


def page_info(page: Sequence[str], names: Sequence[str]) -> dict[str, object]:
    """Where a page of names stands, if it is not all of them; the last page has nothing to go on after."""
    if len(page) == len(names):
        return {}
    more = {"after": page[-1]} if page and page[-1] != names[-1] else {}
    return {"page": {"total": len(names), "returned": len(page), **more}}
