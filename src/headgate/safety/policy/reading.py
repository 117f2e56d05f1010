"""Policy files: TOML that becomes a policy, or every mistake in it. What is not understood is never passed over."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from headgate.protocol.danger import Trust
from headgate.safety.decisions import Effect
from headgate.safety.loop.settings import LoopSettings
from headgate.safety.policy.autonomy_tables import read_autonomy
from headgate.safety.policy.limit_tables import read_api_limits, read_cost, read_quotas
from headgate.safety.policy.rule_tables import read_rules
from headgate.safety.policy.rules import AuditSettings, Confirmation, Policy
from headgate.safety.policy.setting_tables import (
    note_unusable_cooldowns,
    read_audit,
    read_confirmation,
    read_danger,
    read_escalation,
)
from headgate.safety.policy.tables import Place, Table, one_of

__all__ = ["PolicyError", "policy_from", "read_policy", "read_toml"]

_POLICY: Final = "policy"
_BESIDE: Final = ("source", "state")
"""What a file may have beside its policy, if that is a table of its own."""

_KEYS: Final = (
    *("trust", "default", "rule", "danger", "confirmation", "escalation", "api_limit", "quota", "cost", "audit"),
    "autonomy",
)
_LARGEST_FILE: Final = 2**20
_PLACE_IN_TOML: Final = re.compile(r"(?s)(.*?) \(at (line \d+, column \d+|end of document)\)\Z")


class PolicyError(ValueError):
    """A policy cannot be used; the message has a line for each mistake: the file, the place and what to do."""

    def __init__(self, where: str, mistakes: Iterable[str]) -> None:
        self.mistakes = tuple(f"{where}: {one}" for one in mistakes)
        super().__init__("\n".join(self.mistakes))


def read_policy(path: Path | str) -> Policy:
    """The policy in a file: all of it, or its table ``policy``. A PolicyError has everything that is wrong."""
    where, content = str(path), read_toml(path)
    if _POLICY not in content:
        return policy_from(content, where)
    mistakes: list[str] = []
    top = Place("", mistakes)
    Table({key: value for key, value in content.items() if key not in _KEYS}, top, (_POLICY, *_BESIDE))
    for key in content:
        if key in _KEYS:
            top.key(key).note(f"this belongs into the policy, which is a table here: write it as {_POLICY}.{key}")
    policy = _read(content[_POLICY], where, top.key(_POLICY))
    if mistakes:
        raise PolicyError(where, mistakes)
    return policy


def policy_from(content: Mapping[str, object], where: str) -> Policy:
    """The policy in what TOML holds; ``where`` is what mistakes are said to be in."""
    mistakes: list[str] = []
    policy = _read(content, where, Place("", mistakes))
    if mistakes:
        raise PolicyError(where, mistakes)
    return policy


def read_toml(path: Path | str) -> Mapping[str, object]:
    """What a file holds, or a PolicyError that says why it cannot be told."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(_LARGEST_FILE + 1)
        content = tomllib.loads(raw.decode("utf-8-sig")) if len(raw) <= _LARGEST_FILE else None
    except (OSError, ValueError, RecursionError) as error:
        raise PolicyError(str(path), [_why_unreadable(error)]) from None
    if content is None:
        raise PolicyError(str(path), [f"it is larger than {_LARGEST_FILE} bytes, and so hardly meant"])
    return content


def _why_unreadable(error: Exception) -> str:
    match error:
        case FileNotFoundError():
            return "there is no such file"
        case IsADirectoryError():
            return "it is a folder: name the file in it"
        case UnicodeDecodeError():
            return f"it is no UTF-8 from byte {error.start + 1} on: save it as UTF-8"
        case tomllib.TOMLDecodeError():
            return _not_toml(str(error))
        case RecursionError():
            return "it cannot be read: it is nested too deep"
        case OSError():
            return f"it cannot be read: {error.strerror}"
        case _:  # int() refuses thousands of digits, and open() a name with a null in it
            return "it cannot be read: it, or its name, has something in it too strange to be meant"


def _not_toml(message: str) -> str:
    found = _PLACE_IN_TOML.match(message)
    why, place = found.groups() if found else (message, "somewhere")
    return f"{place}: it is no TOML from here on: {why}"


def _read(content: object, where: str, place: Place) -> Policy:
    """The policy; mistakes are noted, each in its place inside the policy."""
    if isinstance(content, Mapping) and not content:
        place.note("it rules nothing: an empty policy is refused, so leave it out or write rules")
        return Policy()
    top = Place("", place.mistakes)
    table = Table(content, top if isinstance(content, Mapping) else place, _KEYS)
    currency, prices = table.part("cost", read_cost, (None, ()))
    policy = Policy(
        name=Path(where).name,
        trust=table.take("trust", one_of(list(Trust)), None),
        default=table.take("default", one_of(list(Effect)), Effect.ALLOW),
        rules=table.part("rule", read_rules, ()),
        danger=table.part("danger", read_danger, ()),
        confirmation=table.part("confirmation", read_confirmation, Confirmation()),
        escalation=table.part("escalation", read_escalation, None),
        api_limits=table.part("api_limit", read_api_limits, ()),
        quotas=table.part("quota", partial(read_quotas, currency=currency), ()),
        prices=prices,
        audit=table.part("audit", read_audit, AuditSettings()),
        autonomy=table.part("autonomy", read_autonomy, LoopSettings()),
    )
    note_unusable_cooldowns(policy, top)
    return policy
