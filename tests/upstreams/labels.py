"""What the tools really do, as labels.toml says it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from headgate.protocol.categories import Category
from headgate.protocol.danger import DangerLevel
from tests.upstreams.servers import FOLDER

__all__ = ["LABELS", "Label"]


@dataclass(frozen=True, slots=True)
class Label:
    """What is right to say of a tool, the best first."""

    categories: tuple[Category, ...]
    dangers: tuple[DangerLevel, ...]

    @classmethod
    def read(cls, text: str) -> "Label":
        """A label as it is written."""
        categories, dangers = text.split(" ")
        return cls(
            tuple(Category(word.upper()) for word in categories.split("|")),
            tuple(DangerLevel(word) for word in dangers.split("|")),
        )

    @property
    def changes_something(self) -> bool:
        """Whether no reading of it is without effect."""
        return Category.READ not in self.categories

    def __str__(self) -> str:
        return f"{'/'.join(self.categories)} {'/'.join(self.dangers)}"


LABELS: Mapping[str, Mapping[str, Label]] = {
    server: {tool: Label.read(text) for tool, text in tools.items()}
    for server, tools in tomllib.loads((FOLDER / "labels.toml").read_text()).items()
}
