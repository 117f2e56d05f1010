"""How an adapter is shown: mode, profile and prefix, and so which tool each operation belongs to."""

import re
from dataclasses import dataclass
from typing import Final

from headgate.adapter.operations import Operation
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.profiles import CRUDE, Family, Mode, Profile, tool_name

__all__ = ["Exposure"]

_PREFIX: Final = re.compile(r"([a-z0-9_]*_)?\Z")
_LONGEST_PREFIX: Final = 19


@dataclass(frozen=True, slots=True)
class Exposure:
    """Which tools there are."""

    mode: Mode = Mode.SEMANTIC
    profile: Profile = CRUDE
    prefix: str = ""

    def __post_init__(self) -> None:
        if not _PREFIX.match(self.prefix) or len(self.prefix) > _LONGEST_PREFIX:
            raise AdapterError(
                f"The tool prefix '{self.prefix}' must be lower-case letters, digits and underscores, end with an "
                f"underscore and have fewer than {_LONGEST_PREFIX + 1} characters, such as 'github_'."
            )

    def family_of(self, operation: Operation) -> Family:
        """The one family of an operation: the author's choice where this profile has it, else by verb and category."""
        chosen = self.profile.family(operation.endpoint) if operation.endpoint else None
        return chosen or self.profile.family_for(operation.name, operation.category)

    def tool_of(self, operation: Operation) -> str:
        """The tool through which an operation is called."""
        return self.tool(None if self.mode is Mode.SINGLE else self.family_of(operation).name)

    def tool(self, family: str | None) -> str:
        """The tool of a family, or the single one."""
        return tool_name(family, self.prefix)
