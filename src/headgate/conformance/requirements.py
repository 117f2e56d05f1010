"""Every demand of the texts, as rows: what a check proves is named here, and so is what no check can see."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

__all__ = ["Requirement", "requirements"]

_FILE: Final = "requirements.toml"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One MUST or SHOULD, in our own words."""

    id: str
    """Stable; the same demand in two texts has the same slug."""
    section: str
    """Where it stands, such as ``specification 4.6``."""
    level: Literal["MUST", "SHOULD"]
    text: str
    unseen: str | None = None
    """Why it cannot be seen from outside, for those that no check covers."""

    @property
    def document(self) -> str:
        """The text that it stands in, without the section."""
        return self.section.rpartition(" ")[0] or self.section


@cache
def requirements() -> tuple[Requirement, ...]:
    """All of them, in the order of the file."""
    told = tomllib.loads(files(__package__).joinpath(_FILE).read_text(encoding="utf-8"))
    return tuple(
        Requirement(row["id"], row["section"], row["level"], row["text"], row.get("unseen"))
        for row in told["requirement"]
    )
