"""Values that a schema cannot give, from a file: what exists, what may be tried, and words that people use."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = ["Fixtures"]

_KEYS: Final = ("values", "operations", "words", "leave_alone")


@dataclass(frozen=True, slots=True)
class Fixtures:
    """What a person knows of a server and introspection does not tell."""

    values: Mapping[str, Any] = field(default_factory=dict)
    """Values by the name of a parameter, wherever it occurs."""
    operations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Parameters with which an operation works."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For an operation, what people say when they mean it."""
    leave_alone: frozenset[str] = frozenset()
    """Operations that are never called."""

    @classmethod
    def read(cls, path: Path) -> "Fixtures":
        """The fixtures in a TOML file; what is wrong in it is an AdapterError."""
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError:
            raise AdapterError(f"'{path}' cannot be read") from None
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise AdapterError(f"'{path}' is no TOML: {error}") from None
        return cls.of(content, str(path))

    @classmethod
    def of(cls, content: Mapping[str, Any], where: str) -> "Fixtures":
        """The same from what a file holds."""
        for key in content:
            if key not in _KEYS:
                raise AdapterError(f"'{where}': unknown key '{key}'{did_you_mean(nearest(key, _KEYS))}")
        tables = {key: content.get(key, {}) for key in _KEYS[:3]}
        for key, value in tables.items():
            if not isinstance(value, dict):
                raise AdapterError(f"'{where}': '{key}' must be a table")
        for name, params in tables["operations"].items():
            if not isinstance(params, dict):
                raise AdapterError(f"'{where}': 'operations.{name}' must be a table of parameters")
        left = content.get("leave_alone", [])
        if not isinstance(left, list) or not all(isinstance(name, str) for name in left):
            raise AdapterError(f"'{where}': 'leave_alone' must be a list of operations")
        words = {name: _texts(said, f"'{where}': 'words.{name}'") for name, said in tables["words"].items()}
        return cls(tables["values"], tables["operations"], words, frozenset(left))

    def refuse_unknown(self, known: Sequence[str]) -> None:
        """AdapterError if something is said of an operation that the server does not have."""
        named = {"operations": self.operations, "words": self.words, "leave_alone": sorted(self.leave_alone)}
        for part, names in named.items():
            for name in names:
                if name not in known:
                    raise AdapterError(
                        f"the fixtures name '{name}' in '{part}', which is no operation of the server"
                        f"{did_you_mean(nearest(name, known))}"
                    )


def _texts(said: object, where: str) -> tuple[str, ...]:
    texts = [said] if isinstance(said, str) else said
    if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
        raise AdapterError(f"{where} must be a text, or a list of texts")
    return tuple(texts)
