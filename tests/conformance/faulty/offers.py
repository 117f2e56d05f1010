"""What the museum offers, as some of its faults declare it."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from tests.conformance.faulty.declarations import OPERATIONS, Declared
from tests.conformance.faulty.world import Museum

__all__ = ["offered"]


def offered(museum: Museum) -> tuple[Declared, ...]:
    """The operations that there are; faults of declarations hold for what is told and for what is done."""
    return _offered(museum.defects)


@lru_cache(maxsize=4)
def _offered(defects: frozenset[str]) -> tuple[Declared, ...]:
    return tuple(_declared(defects))


def _declared(defects: frozenset[str]) -> Iterator[Declared]:
    for one in OPERATIONS:
        if one.name == "abort_execution" and "no-way-to-abort" in defects:
            continue
        if one.name == "verify_challenge" and "reserved-name-elsewhere" in defects:
            yield replace(one, category="EXECUTE")
        elif one.name == "create_exhibit" and "new-exhibit-without-maker" in defects:
            yield replace(one, name="create_new_exhibit")
        elif one.name == "list_loans" and "paging-undocumented" in defects:
            kept = tuple(wanted for wanted in one.parameters if wanted.name not in ("limit", "offset"))
            yield replace(one, parameters=kept, example={"filter": {"returned": False}})
        elif one.name == "create_exhibit" and "create-unchecked" in defects:
            yield replace(one, parameters=tuple(wanted for wanted in one.parameters if wanted.name != "dry_run"))
        else:
            yield one
