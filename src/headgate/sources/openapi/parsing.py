"""JSON and YAML as plain values: text is text, a key stands once, and nothing grows beyond what was written."""

import json

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import quoted
from headgate.sources.openapi.yaml_values import DEEPEST, yaml_value

__all__ = ["parsed"]


def parsed(text: str, where: str) -> object:
    """What a JSON or YAML text says. An AdapterError tells the line of what is wrong with it."""
    plain = text.removeprefix("\ufeff")
    return _json(plain, where) if plain.lstrip()[:1] in ("{", "[") else yaml_value(plain, where)


def _json(text: str, where: str) -> object:
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except RecursionError:
        raise _too_deep(where) from None
    except _Twice as error:
        raise AdapterError(f"'{where}' has the key {error.shown} twice in one object: remove one.") from None
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError) and not _is_only_json(text):
            return yaml_value(text, where)  # a mapping in braces may be YAML
        raise AdapterError(f"'{where}' is not valid JSON: {_json_place(error)}.") from None
    _check_depth(found, where)
    return found


def _is_only_json(text: str) -> bool:
    """Whether a text in braces was meant as JSON: there, unlike in most YAML, the first key is in quotes."""
    return text.lstrip()[1:].lstrip()[:1] in ('"', "{", "[", "}", "]", "")


class _Twice(ValueError):
    @property
    def shown(self) -> str:
        return quoted(self.args[0], "of an odd name")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        raise _Twice(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"'{name}' is no number")


def _json_place(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}"
    return str(error)


def _check_depth(value: object, where: str) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            child
            for one in level
            for child in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise _too_deep(where)


def _too_deep(where: str) -> AdapterError:
    return AdapterError(f"'{where}' is nested too deeply: {DEEPEST} levels are read.")
