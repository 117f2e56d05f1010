"""What guards a source: a policy, the trust in it, and where tokens, counters and the audit are kept."""

import logging
import os
import time
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.cli.options import option
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.safety.trusting import effective_trust
from headgate.server.settings import SettingError, Settings
from headgate.store.interface import Store, StoreError
from headgate.store.opening import default_state_url

__all__ = ["Configured", "Guarding", "configured", "opened"]

_LOG: Final = logging.getLogger("headgate")
_KEYS: Final = ("source", "state", "policy")


@dataclass(frozen=True, slots=True)
class Configured:
    """What is served, and what a ``headgate.toml`` says beside it."""

    source: str | None
    state: str | None = None
    policy: object = None
    """A table or a file; whatever else somebody has written there is refused with the rest of the settings."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Guarding:
    """What guards the source."""

    policy: Annotated[
        Path | None, option("A TOML file of rules, limits and quotas; a headgate.toml will do.", "HEADGATE_POLICY")
    ] = None
    trust: Annotated[
        str | None,
        option("untested, generated, validated, community_reviewed or certified.", "HEADGATE_TRUST"),
    ] = None
    safety_loop: Annotated[
        str | None,
        option("How far agents are supervised: enforcing, monitoring, logging or disabled.", "MCPAQL_SAFETY_LOOP"),
    ] = None
    state: Annotated[
        str | None,
        option("Where tokens, counters and the audit are kept: memory:, a .db file, postgresql://…", "HEADGATE_STATE"),
    ] = None

    def settings(self, config: Configured, **more: Any) -> Settings:
        """The settings that these options make; what they leave open is taken from the file."""
        policy = config.policy
        if self.policy and self.policy != Path():  # which is what an empty variable becomes
            if policy is not None:
                _LOG.warning("the policy of the configuration is not used: '%s' takes its place", self.policy)
            policy = self.policy
        return Settings.of(
            **more,
            state=self.state or config.state or default_state_url(),
            trust=self.trust or None,
            safety_loop=self.safety_loop or None,
            **({} if policy is None else {"policy": policy}),
        )

    @property
    def given(self) -> bool:
        """Whether any of it was said for this very command: the environment speaks to all of them."""
        said = {"HEADGATE_POLICY": self.policy, "HEADGATE_TRUST": self.trust, "HEADGATE_STATE": self.state}
        said["MCPAQL_SAFETY_LOOP"] = self.safety_loop
        return any(value and str(value) != os.environ.get(name) for name, value in said.items())


def configured(source: str | None) -> Configured:
    """What a source names: itself, or if it is a ``.toml`` file, what that says. Paths in it start from its folder."""
    if source is None or not source.endswith(".toml"):
        return Configured(source)
    path = Path(source)
    content = _content(path)
    for key in content:
        if key not in _KEYS:
            raise SettingError(
                f"'{path}' has a key '{key}' that means nothing here; known are {', '.join(_KEYS)}"
                f"{did_you_mean(nearest(key, _KEYS, 1))}"
            )
    for key in ("source", "state"):
        if not isinstance(content.get(key, ""), str):
            raise SettingError(f"'{key}' in '{path}' must be a text")
    if "source" not in content:
        raise SettingError(f"'{path}' names no source: add source = \"shop.db\", or whatever is to be served")
    policy = content.get("policy")
    if isinstance(policy, str) and policy:
        policy = path.parent / policy
    return Configured(_beside(path, content["source"]), _beside(path, content.get("state")), policy)


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise SettingError(f"The file '{path}' cannot be read.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"The file '{path}' is not TOML: {error}") from None


def _beside(path: Path, named: str | None) -> str | None:
    """A path in a file starts from that file's folder; a URL or a module stays as it is."""
    if not named or "://" in named or named.startswith("memory:"):
        return named
    file, colon, name = named.partition(".py:")
    is_module = ":" in named and not colon
    return named if is_module else f"{path.parent / file}{colon}{name}"


@asynccontextmanager
async def opened(settings: Settings, adapter: Adapter) -> AsyncIterator[tuple[Settings, Store]]:
    """The settings with the trust that counts, and the store, open for as long as it is needed."""
    store = settings.store()
    try:
        await store.open()
        asked = settings.trust or settings.policy.trust
        trust = await effective_trust(store, adapter.name, asked, adapter.trust, time.time())
        yield replace(settings, trust=trust), store
    except StoreError as error:
        raise SettingError(str(error)) from None
    finally:
        await store.close()
