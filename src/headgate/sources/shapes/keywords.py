"""Keywords of JSON Schema as they must be to mean something, and older spellings of them as today's."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import jsonschema_rs

from headgate.sources.words import clean

__all__ = ["KEYWORDS", "compiles", "is_text", "is_value", "modern", "type_named"]

_LONGEST_TEXT: Final = 20_000
_MOST_CHOICES: Final = 10_000
_DEEPEST_VALUE: Final = 32
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_ALIASES: Final[Mapping[str, str]] = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "none": "null",
}
_COUNTS: Final = (
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    *("minContains", "maxContains"),
)
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_TEXTS: Final = ("format", "contentEncoding", "contentMediaType")
_WORDS: Final = ("title", "description")
_FLAGS: Final = ("readOnly", "writeOnly", "deprecated", "uniqueItems", "x-sensitive")

_Keyword: TypeAlias = Callable[[Any], object]


_OLD: Final = frozenset({"exclusiveMinimum", "exclusiveMaximum", "dependencies", "nullable"})


def modern(given: Mapping[Any, Any]) -> dict[str, Any]:
    """The spellings of older drafts and of OpenAPI 3.0 as today's."""
    kept = {key: value for key, value in given.items() if isinstance(key, str)}
    if _OLD.isdisjoint(kept) and not isinstance(kept.get("items"), list):
        return kept
    if isinstance(kept.get("items"), list):
        kept["prefixItems"] = kept.pop("items")
        kept["items"] = kept.pop("additionalItems", True)
    for bound in ("Minimum", "Maximum"):
        _exclude(kept, f"exclusive{bound}", bound.lower())
    needs = kept.pop("dependencies", None)
    for name, need in needs.items() if isinstance(needs, Mapping) else ():
        key = "dependentRequired" if isinstance(need, list) else "dependentSchemas"
        kept[key] = {**(kept[key] if isinstance(kept.get(key), Mapping) else {}), name: need}
    return _nullable(kept) if kept.pop("nullable", None) is True else kept


def _exclude(kept: dict[str, Any], excluding: str, bound: str) -> None:
    """A flag beside a bound says that the bound itself is excluded (draft 4, OpenAPI 3.0)."""
    flag = kept.get(excluding)
    if isinstance(flag, bool):
        del kept[excluding]
        if flag and bound in kept:
            kept[excluding] = kept.pop(bound)


def _nullable(kept: dict[str, Any]) -> dict[str, Any]:
    """The same, or null (OpenAPI 3.0)."""
    if isinstance(kept.get("enum"), list) and None not in kept["enum"]:
        kept["enum"] = [*kept["enum"], None]
    if "type" in kept:
        types = kept["type"] if isinstance(kept["type"], list) else [kept["type"]]
        return {**kept, "type": types if "null" in types else [*types, "null"]}
    if not any(key in kept for key in ("$ref", "allOf", "anyOf", "oneOf")):
        return kept
    said: dict[str, Any] = {
        key: kept[key] for key in ("description", "title", "default", "readOnly", "writeOnly") if key in kept
    }
    rest = {key: value for key, value in kept.items() if key not in said}
    return {**said, "anyOf": [rest, {"type": "null"}]}


def type_named(name: object) -> str | None:
    """The type that a name means, also one of a programming language; None if it means none."""
    text = name.strip().lower() if isinstance(name, str) else "null" if name is None else ""
    return text if text in _TYPES else _ALIASES.get(text)


def is_text(value: object) -> bool:
    """Whether a text can be sent: half of a surrogate pair cannot."""
    if not isinstance(value, str):
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_value(value: object) -> bool:
    """Whether a value is JSON, and not too deep to be looked through."""
    level = [value]
    for _ in range(_DEEPEST_VALUE):
        if not all(_is_plain(one) for one in level):
            return False
        level = [child for one in level for child in _children(one)]
        if not level:
            return True
    return False


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(is_text(key) for key in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, int | list) or is_text(value)


def _children(value: object) -> Iterator[object]:
    return iter(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())


def compiles(pattern: object) -> bool:
    """Whether a pattern is one that JSON Schema knows."""
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except (ValueError, TypeError):
        return False
    return True


def _bound(value: Any) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and (isinstance(value, int) or math.isfinite(value)) else None


def _count(value: Any) -> object:
    return int(value) if _bound(value) is not None and value >= 0 and value == int(value) else None


def _step(value: Any) -> object:
    return value if _bound(value) is not None and value > 0 else None


def _text(value: Any) -> object:
    return value[:_LONGEST_TEXT].encode("utf-8", "replace").decode() if isinstance(value, str) else None


def _words_to_show(value: Any) -> object:
    """A text for people and models, without what nobody sees in it."""
    if not isinstance(value, str):
        return None
    is_plain = len(value) <= _LONGEST_TEXT and value.replace("\n", "").isprintable()
    return value if is_plain else clean(value, _LONGEST_TEXT)


def _flag(value: Any) -> object:
    return value if isinstance(value, bool) else None


def _choices(value: Any) -> object:
    is_list = isinstance(value, list) and 0 < len(value) <= _MOST_CHOICES
    return value if is_list and is_value(value) else None


def _words(value: Any) -> object:
    """Names that are required; some servers put a flag there, which says nothing."""
    if not isinstance(value, list):
        return None
    return list(dict.fromkeys(name for name in value if is_text(name)))


def _needs(value: Any) -> object:
    if not isinstance(value, Mapping):
        return None
    return {name: _words(needs) or [] for name, needs in value.items() if is_text(name)}


def _pattern(value: Any) -> object:
    return value if isinstance(value, str) and compiles(value) else None


KEYWORDS: Final[Mapping[str, _Keyword]] = {
    **dict.fromkeys(_COUNTS, _count),
    **dict.fromkeys(_BOUNDS, _bound),
    **dict.fromkeys(_TEXTS, _text),
    **dict.fromkeys(_WORDS, _words_to_show),
    **dict.fromkeys(_FLAGS, _flag),
    "multipleOf": _step,
    "pattern": _pattern,
    "enum": _choices,
    "examples": _choices,
    "required": _words,
    "dependentRequired": _needs,
}
"""How the value of each keyword without schemas is read; what cannot be used is read as None."""
