"""Endpoint modes and profiles: which tools there are, and which operations each holds (Spec 3.3, 6.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from headgate.protocol.categories import Category
from headgate.protocol.names import is_snake_case, verb_of

__all__ = ["CRUDE", "PROFILES", "Family", "Mode", "Profile", "ProfileError", "tool_name"]


class ProfileError(ValueError):
    """A profile that could not route every operation to exactly one family."""


class Mode(StrEnum):
    """Which tools are registered (Spec 3.3)."""

    SEMANTIC = "semantic"
    SINGLE = "single"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Family:
    """A named endpoint: what it is for, and which operations come to it of themselves.

    An operation goes to the first family that names its verb, else to the one that is home to its category.
    """

    name: str
    purpose: str
    home_of: frozenset[Category] = frozenset()
    verbs: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not is_snake_case(self.name):
            raise ProfileError(f"The endpoint family name '{self.name}' is not snake_case, such as 'read'.")


@dataclass(frozen=True, slots=True)
class Profile:
    """A set of endpoint families in which every category has exactly one home."""

    name: str
    families: tuple[Family, ...]
    _by_name: Mapping[str, Family] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name = {family.name: family for family in self.families}
        if len(by_name) != len(self.families):
            raise ProfileError(f"The profile '{self.name}' has two endpoint families of one name.")
        for category in Category:
            homes = [family.name for family in self.families if category in family.home_of]
            if len(homes) != 1:
                found = " and ".join(homes) if homes else "none"
                raise ProfileError(
                    f"The profile '{self.name}' needs exactly one family that is home of {category}; found {found}."
                )
        object.__setattr__(self, "_by_name", MappingProxyType(by_name))

    def family(self, name: str) -> Family | None:
        """The family of that name, if the profile has one."""
        return self._by_name.get(name)

    def family_for(self, operation: str, category: Category) -> Family:
        """The one family that an operation belongs to, by its verb or else its category."""
        verb = verb_of(operation)
        for family in self.families:
            if verb in family.verbs:
                return family
        return next(family for family in self.families if category in family.home_of)


def tool_name(family: str | None, prefix: str = "") -> str:
    """The name of the MCP tool of a family, or of the single tool."""
    return f"{prefix}mcp_aql_{family}" if family else f"{prefix}mcp_aql"


def _family(name: str, purpose: str, *home_of: Category, verbs: str = "") -> Family:
    return Family(name, purpose, frozenset(home_of), frozenset(verbs.split()))


_CREATE, _READ, _UPDATE, _DELETE, _EXECUTE = Category
_CRUDE_FAMILIES: Final = (
    _family("create", "Add new resources; nothing existing is changed", _CREATE),
    _family("read", "Look things up; nothing changes", _READ),
    _family("update", "Change existing resources", _UPDATE),
    _family("delete", "Remove resources", _DELETE),
    _family("execute", "Start and control what runs or reaches outside", _EXECUTE),
)

CRUDE: Final = Profile("crude", _CRUDE_FAMILIES)

PROFILES: Final[Mapping[str, Profile]] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            CRUDE,
            Profile(
                "crude_authorize",
                (
                    *_CRUDE_FAMILIES,
                    _family(
                        "authorize",
                        "Grant, revoke and approve what others may do",
                        verbs="approve authorize deny grant permit revoke",
                    ),
                ),
            ),
            Profile(
                "discover",
                (
                    _family("discover", "Find out what there is", verbs="introspect describe discover inspect"),
                    _family("query", "Retrieve and filter; nothing changes", _READ),
                    _family("manage", "Create, change and remove", _CREATE, _UPDATE, _DELETE),
                    _family("operate", "Start and control what runs", _EXECUTE),
                ),
            ),
            Profile(
                "database",
                (
                    _family("inspect", "Look at structure", verbs="introspect describe explain inspect"),
                    _family("query", "Read rows; nothing changes", _READ),
                    _family("mutate", "Insert, change and remove rows", _CREATE, _UPDATE, _DELETE),
                    _family("administer", "Run maintenance and long work", _EXECUTE),
                ),
            ),
            Profile(
                "device",
                (
                    _family("discover", "Find devices and abilities", verbs="introspect discover list scan search"),
                    _family("observe", "Read sensors and state; nothing changes", _READ),
                    _family("control", "Set and drive devices", _CREATE, _UPDATE, _EXECUTE),
                    _family(
                        "maintain",
                        "Calibrate, reset and remove",
                        _DELETE,
                        verbs="calibrate diagnose maintain reboot reset restart upgrade",
                    ),
                ),
            ),
            Profile(
                "content",
                (
                    _family("search", "Find and read; nothing changes", _READ),
                    _family("curate", "Write, change and remove", _CREATE, _UPDATE, _DELETE),
                    _family("publish", "Publish and run", _EXECUTE),
                ),
            ),
        )
    }
)
"""The profiles that headgate knows by name."""
