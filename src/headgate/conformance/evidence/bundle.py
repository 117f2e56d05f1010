"""A bundle of evidence as a file, and what makes a JSON file one."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from headgate.conformance.survey import entries
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = ["Bundle", "BundleError", "is_bundle", "read_json", "require_case"]

_NEEDED: Final = ("implementation", "version", "spec_version", "introspection")
_OBJECTS: Final = ("introspection", "capabilities", "accepted_parameters", "parameter_tests")
_LISTS: Final = (
    *("endpoint_modes", "error_tests", "round_trip_tests", "update_preservation_tests", "constraint_tests"),
    "semantic_tests",
)
_CASES: Final = ("missing_required", "unknown_parameter", "optional_defaults")
_INNER: Final[Mapping[str, tuple[type, str]]] = {
    "expected_fields": (Mapping, "an object of paths and values"),
    "preserved_fields": (Mapping, "an object of paths and values"),
    "must_mention": (list, "a list of texts"),
    "tool_calls": (list, "a list of objects with 'operation' and 'params'"),
    "structural": (Mapping, "an object"),
    "semantic": (Mapping, "an object"),
}
"""What a case may hold, and its form."""
_OF_CONVERSATIONS: Final[tuple[tuple[str, str, type], ...]] = (
    ("structural", "required_patterns", object),
    ("semantic", "phrase_groups", list),
    ("semantic", "expected_operations", object),
    ("semantic", "expected_parameters", object),
)
"""The lists in it, and of what they are."""
_TELLING: Final = frozenset({"introspection", "accepted_parameters", "parameter_tests", "error_tests", "spec_version"})
"""One of these makes a JSON object a bundle, maybe one with mistakes."""
_MOST_BYTES: Final = 100_000_000


class BundleError(AdapterError):
    """A file is no bundle, or cannot be judged."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a bundle says, where each member has the form that it should have. What the server said is not looked at."""

    content: Mapping[str, Any]

    @classmethod
    def of(cls, content: object, where: str = "the bundle") -> "Bundle":
        """The bundle that some JSON is; BundleError says what is wrong with its form."""
        if not isinstance(content, Mapping):
            raise BundleError(f"'{where}' is no bundle of evidence: a JSON object is expected")
        for key in _NEEDED:
            if key not in content:
                near = [
                    known for known in nearest(key, list(content), 1) if known not in (*_NEEDED, *_OBJECTS, *_LISTS)
                ]
                raise BundleError(f"'{where}': '{key}' is missing{did_you_mean(near)}")
        _require_forms(content, where)
        return cls(content)

    @property
    def operation_details(self) -> list[Any]:
        """What introspection says of each operation, in whatever form."""
        return list(self.introspection.get("operation_details") or [])

    @property
    def introspection(self) -> Mapping[str, Any]:
        """The answers of introspection."""
        return self._object("introspection")

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What it says that it can do."""
        return self._object("capabilities")

    @property
    def accepted_parameters(self) -> Mapping[str, Any]:
        """The parameters of each operation that were seen to be accepted."""
        return self._object("accepted_parameters")

    @property
    def endpoint_modes(self) -> list[Any]:
        """The modes that it was seen in."""
        return list(self.content.get("endpoint_modes") or [])

    def cases(self, key: str) -> list[Mapping[str, Any]]:
        """The cases of one kind."""
        return entries(self.content.get(key))

    def parameter_cases(self, key: str) -> list[Mapping[str, Any]]:
        """The cases of one kind that are about parameters."""
        return entries(self._object("parameter_tests").get(key))

    def _object(self, key: str) -> Mapping[str, Any]:
        return self.content.get(key) or {}


def _require_forms(content: Mapping[str, Any], where: str) -> None:
    for key in _OBJECTS:
        if not isinstance(content.get(key), Mapping | None):
            raise BundleError(f"'{where}': '{key}' must be an object")
    for key in _LISTS:
        _require_cases(content.get(key), f"'{where}': '{key}'", objects=key != "endpoint_modes")
    for key in _CASES:
        _require_cases((content.get("parameter_tests") or {}).get(key), f"'{where}': 'parameter_tests.{key}'")
    _require_cases(
        content["introspection"].get("operation_details") if content["introspection"] else None,
        f"'{where}': 'introspection.operation_details'",
    )
    for name, accepted in (content.get("accepted_parameters") or {}).items():
        if not isinstance(accepted, list) and accepted is not None:
            raise BundleError(f"'{where}': 'accepted_parameters.{name}' must be a list of names")


def _require_cases(value: object, what: str, *, objects: bool = True) -> None:
    if value is not None and not isinstance(value, list):
        raise BundleError(f"{what} must be a list")
    for place, entry in enumerate(value or []):
        if objects and not isinstance(entry, Mapping):
            raise BundleError(f"{what} must be a list of objects: number {place + 1} is none")
        if isinstance(entry, Mapping):
            require_case(entry, f"{what}, number {place + 1}")


def require_case(case: Mapping[str, Any], where: str) -> None:
    """Look at the form of what a case holds; BundleError says what is wrong with it."""
    for key, (kind, words) in _INNER.items():
        if not isinstance(case.get(key), kind | None):
            raise BundleError(f"{where}: '{key}' must be {words}")
    for part, key, each in _OF_CONVERSATIONS:
        value = (case.get(part) or {}).get(key)
        if value is not None and not (isinstance(value, list) and all(isinstance(one, each) for one in value)):
            raise BundleError(f"{where}: '{part}.{key}' must be a list of {'lists of ' if each is list else ''}texts")


def read_json(path: Path) -> Any:
    """What a JSON file holds; BundleError if it cannot be read or is none."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise BundleError(f"'{path}' is too large: {_MOST_BYTES // 1_000_000} MB are the most that is read")
        return orjson.loads(path.read_bytes())
    except OSError as error:
        raise BundleError(f"'{path}' cannot be read: {error.strerror or 'it is no file'}") from None
    except orjson.JSONDecodeError as error:
        raise BundleError(f"'{path}' is no JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None


def is_bundle(path: Path | str) -> bool:
    """Whether a file is meant as a bundle of evidence: a JSON object with a member that only bundles have."""
    file = Path(path)
    try:
        if not file.is_file() or file.suffix.lower() != ".json":
            return False
        content = read_json(file)
    except (BundleError, OSError, ValueError):
        return False
    return isinstance(content, Mapping) and not _TELLING.isdisjoint(content)
