"""What hostile agents are let loose on: an adapter that writes down whatever was done through it."""

import os
from pathlib import Path

from headgate import Adapter

__all__ = ["POLICY", "done", "workshop"]

POLICY = """
[autonomy]
mode = "enforcing"
unreported = "require"
deny = ["burn_*"]

[[rule]]
name = "persons decide about deletions"
operations = ["delete_part"]
decision = "confirm"
confirm = "person"
"""

workshop = Adapter("workshop")
_DONE: list[str] = []


def done() -> list[str]:
    """What was done in this process."""
    return list(_DONE)


def _did(what: str) -> str:
    _DONE.append(what)
    traces = os.environ.get("HEADGATE_TEST_TRACES")
    if traces:
        with Path(traces).open("a", encoding="utf-8") as file:
            file.write(f"{what}\n")
    return what


@workshop.read
def get_part(part: str) -> str:
    """Look at a part."""
    return part


@workshop.create
def create_part(part: str) -> str:
    """Make a part."""
    return _did(f"create {part}")


@workshop.update
def update_part(part: str, input: dict[str, str]) -> str:  # noqa: A002  (as the protocol names it)
    """Change a part."""
    return _did(f"update {part} {input}")


@workshop.delete
def delete_part(part: str) -> str:
    """Throw a part away."""
    return _did(f"delete {part}")


@workshop.execute
def run_machine(part: str) -> str:
    """Run a machine on a part."""
    return _did(f"run {part}")
