"""Policy files: TOML that becomes a policy, or every mistake in it. What is not understood is never passed over."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from headgate.protocol.danger import Trust
from headgate.safety.decisions import Effect
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

__all__ = ["PolicyError", "policy_from", "read_policy"]

_POLICY: Final = "policy"
_BESIDE: Final = ("source", "state", "name")
"""What a file may have beside its policy, if that is a table of its own."""

_KEYS: Final = (
    *("trust", "default", "rule", "danger", "confirmation", "escalation", "api_limit", "quota", "cost", "audit"),
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
    where = str(path)
    content = _content(Path(path), where)
    if _POLICY not in content:
        return policy_from(content, where)
    mistakes: list[str] = []
    Table(content, Place("", mistakes), (_POLICY, *_BESIDE))
    policy, more = _read(content[_POLICY], where)
    if mistakes or more:
        raise PolicyError(where, (*mistakes, *more))
    return policy


def policy_from(content: Mapping[str, object], where: str) -> Policy:
    """The policy in what TOML holds; ``where`` is what mistakes are said to be in."""
    policy, mistakes = _read(content, where)
    if mistakes:
        raise PolicyError(where, mistakes)
    return policy


def _content(path: Path, where: str) -> Mapping[str, object]:
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST_FILE + 1)
        if len(raw) > _LARGEST_FILE:
            raise PolicyError(where, [f"it is larger than {_LARGEST_FILE} bytes, so it is hardly a policy"])
        return tomllib.loads(raw.decode("utf-8-sig"))
    except FileNotFoundError:
        raise PolicyError(where, ["there is no such file"]) from None
    except IsADirectoryError:
        raise PolicyError(where, ["it is a folder: name the file in it"]) from None
    except (OSError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else "nested too deep"
        raise PolicyError(where, [f"it cannot be read: {why}"]) from None
    except UnicodeDecodeError as error:
        raise PolicyError(where, [f"it is no UTF-8 from byte {error.start + 1} on: save it as UTF-8"]) from None
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(where, [_not_toml(str(error))]) from None


def _not_toml(message: str) -> str:
    found = _PLACE_IN_TOML.match(message)
    why, place = found.groups() if found else (message, "somewhere")
    return f"{place}: it is no TOML from here on: {why}"


def _read(content: object, where: str) -> tuple[Policy, list[str]]:
    mistakes: list[str] = []
    top = Place("", mistakes)
    if not content:
        return Policy(), ["it rules nothing: an empty policy is refused, so leave it out or write rules"]
    table = Table(content, top, _KEYS)
    currency, prices = table.part("cost", read_cost, ("", ()))
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
    )
    note_unusable_cooldowns(policy, top)
    return policy, mistakes
