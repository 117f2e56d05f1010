"""What was counted beside what was recorded: which paths take more than before."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson

__all__ = ["REFERENCE", "Change", "Count", "changes", "complaints", "other_builds", "read_count", "write_count"]

REFERENCE: Final = "reference"
_MOST_GROWTH: Final = 0.05
_MOST_ELSEWHERE: Final = 0.3
"""How much more may be counted with other builds than those that were recorded, whose share nobody knows."""
_SAME: Final = 0.01
"""How far the reference may be off, if Python is the same."""


@dataclass(frozen=True, slots=True)
class Count:
    """The instructions of one call of each path, and of the reference, with the builds that they were counted with."""

    builds: Mapping[str, str]
    reference: int
    paths: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Change:
    """One path. What was recorded is given as it would be counted here: as many times the reference as it was there."""

    path: str
    recorded: int | None
    counted: int | None

    @property
    def growth(self) -> float:
        """By how much it has grown, as a share."""
        return self.counted / self.recorded - 1 if self.counted is not None and self.recorded else 0.0


def changes(recorded: Count, counted: Count) -> list[Change]:
    """All paths of both."""
    scale = counted.reference / recorded.reference
    expected = {path: round(instructions * scale) for path, instructions in recorded.paths.items()}
    return [Change(path, expected.get(path), counted.paths.get(path)) for path in {**expected, **counted.paths}]


def other_builds(recorded: Count, counted: Count) -> list[str]:
    """In which builds they differ; nothing, if their counts can be compared as they are."""
    names = [*recorded.builds, *(name for name in counted.builds if name not in recorded.builds)]
    differing = [
        f"{name}: {recorded.builds.get(name, 'unknown')} recorded, {counted.builds.get(name, 'unknown')} here"
        for name in names
        if recorded.builds.get(name) != counted.builds.get(name)
    ]
    if not differing and abs(counted.reference / recorded.reference - 1) > _SAME:
        return [f"the reference: {recorded.reference:,} instructions recorded, {counted.reference:,} here"]
    return differing


def complaints(recorded: Count, counted: Count) -> list[str]:
    """What has grown by more than may be, in words that say what to do; nothing if all is well."""
    most = _MOST_ELSEWHERE if other_builds(recorded, counted) else _MOST_GROWTH
    return [said for change in changes(recorded, counted) for said in [_said(change, most)] if said]


def _said(change: Change, most: float) -> str | None:
    if change.recorded is None or change.counted is None:
        where = "recorded" if change.recorded is None else "counted"
        return f"'{change.path}' is not {where}: record the counts anew with 'make instructions-record'."
    if change.growth <= most:
        return None
    return (
        f"'{change.path}' takes {change.counted:,} instructions a call, {change.growth:.1%} more than the "
        f"{change.recorded:,} recorded; at most {most:.0%} more is let pass. 'make instructions' leaves profiles for "
        "callgrind_annotate and says where. If it must be so, record it with 'make instructions-record' and say why."
    )


def read_count(text: bytes) -> Count:
    """A count as it was written."""
    return Count(**orjson.loads(text))


def write_count(count: Count) -> bytes:
    """A count as JSON, a line for each figure."""
    return orjson.dumps(count, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
