"""Names: their grammar, the reserved ones, and the canonical verbs (Spec 4.3, 8.5)."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from headgate.protocol.categories import Category

__all__ = [
    "CANONICAL_VERBS",
    "REQUEST_FIELDS",
    "RESERVED_OPERATIONS",
    "SYNONYMS",
    "camel_to_snake",
    "canonical_verb",
    "category_of_verb",
    "is_metadata",
    "is_snake_case",
    "resource_of",
    "singular",
    "verb_of",
]

_SNAKE_CASE: Final = re.compile(r"[a-z][a-z0-9_]*\Z")
_CAMEL_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

RESERVED_OPERATIONS: Final = frozenset(
    {
        "introspect",
        "execute_agent",
        "record_execution_step",
        "complete_execution",
        "abort_execution",
        "confirm_operation",
        "verify_challenge",
    }
)
"""Names that belong to the protocol; no adapter may use them for something else (Spec 8.5.4)."""

REQUEST_FIELDS: Final = frozenset({"operation", "params", "operations"})
"""Top-level fields of a request; a parameter of such a name could not be told from them (Spec 4.2)."""

CANONICAL_VERBS: Final[Mapping[Category, tuple[str, ...]]] = MappingProxyType(
    {
        Category.CREATE: ("create",),
        Category.READ: ("get", "list"),
        Category.UPDATE: ("update",),
        Category.DELETE: ("delete",),
        Category.EXECUTE: ("execute", "cancel"),
    }
)
"""The verbs that operations SHOULD use (Spec 8.5.1)."""

SYNONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("add", "upload", "register", "import", "insert", "new", "make", "post"), "create"),
        **dict.fromkeys(("fetch", "show", "read", "view", "describe", "check", "export"), "get"),
        **dict.fromkeys(("search", "find", "query", "count", "browse"), "list"),
        **dict.fromkeys(("edit", "set", "rename", "move", "patch", "merge", "change", "modify", "replace"), "update"),
        **dict.fromkeys(("remove", "purge", "unregister", "clear", "drop", "erase", "destroy"), "delete"),
        **dict.fromkeys(("run", "start", "resume", "trigger", "invoke", "launch"), "execute"),
        **dict.fromkeys(("stop", "abort", "halt", "kill", "terminate"), "cancel"),
    }
)
"""Other verbs and the canonical one each comes nearest to (Operations 6.2)."""


_PLURALS: Final = (
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("ies", "y"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("sses", "ss"),
    ("uses", "us"),
    ("xes", "x"),
    ("s", ""),
)


def is_snake_case(name: str) -> bool:
    """Whether a name has the one form that operations and parameters may have (Spec 4.3, 8.5.2)."""
    return _SNAKE_CASE.match(name) is not None


def is_metadata(name: str) -> bool:
    """Whether a request key is metadata, which validation leaves alone (Spec 4.6.1)."""
    return name.startswith("_")


def camel_to_snake(name: str) -> str:
    """The snake_case spelling of a camelCase name: ``nextActionHint`` is ``next_action_hint``."""
    return _CAMEL_HUMP.sub("_", name).lower()


def verb_of(operation: str) -> str:
    """The first word of an operation's name."""
    return operation.partition("_")[0]


def resource_of(operation: str) -> str:
    """What an operation's name says after the verb, or all of it if there is no more."""
    verb, _, resource = operation.partition("_")
    return resource or verb


def category_of_verb(verb: str) -> Category | None:
    """The category that a canonical verb belongs to."""
    return next((category for category, verbs in CANONICAL_VERBS.items() if verb in verbs), None)


def canonical_verb(operation: str, category: Category) -> str | None:
    """The canonical verb nearest to a non-canonical one, or None if the name already uses it (Spec 8.5.3)."""
    verb = verb_of(operation)
    canonical = CANONICAL_VERBS[category]
    if verb in canonical:
        return None
    near = SYNONYMS.get(verb)
    return near if near in canonical else canonical[0]


def singular(word: str) -> str:
    """One word for ``branch`` and ``branches``; a rough one is enough to compare and to count by."""
    for ending, instead in _PLURALS:
        if word.endswith(ending):
            return word.removesuffix(ending) + instead
    return word
