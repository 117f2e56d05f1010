"""What guards a source: a policy, the trust in it, and where tokens, counters and the audit are kept."""

import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from cyclopts import Parameter

from headgate.cli.options import option
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.danger import Trust
from headgate.server.settings import SettingError, Settings
from headgate.sources.gate.configuration import Configuration, ConfigurationError, read_configuration
from headgate.sources.gate.planning import Choices, distinct, specs_of
from headgate.sources.gate.recognizing import is_plain, is_server_list
from headgate.sources.gate.specs import GatePlan, SourceKind, SourceSpec
from headgate.store.interface import Store, StoreError
from headgate.store.opening import default_state_url

__all__ = ["Configured", "Guarding", "Trusted", "configured", "opened"]

_LOG: Final = logging.getLogger("headgate")

Trusted: TypeAlias = Callable[[Settings, Store], Awaitable[Settings]]
"""Tells how far what is served is trusted, by what is on record."""


@dataclass(frozen=True, slots=True)
class Configured:
    """What is served, and what a ``headgate.toml`` says beside it."""

    source: str | None
    """The one that is served by itself; None for the demo, or if there is a plan."""
    state: str | None = None
    policy: object = None
    """A table or a file; whatever else somebody has written there is refused with the rest of the settings."""
    plan: GatePlan | None = None
    """What is served together."""


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
    def vouches(self) -> bool:
        """Whether whoever gives these options says that what is served can be trusted."""
        return bool(self.trust) and self.trust not in (Trust.UNTESTED, Trust.GENERATED)

    @property
    def given(self) -> bool:
        """Whether any of it was said for this very command: the environment speaks to all of them."""
        said = {"HEADGATE_POLICY": self.policy, "HEADGATE_TRUST": self.trust, "HEADGATE_STATE": self.state}
        said["MCPAQL_SAFETY_LOOP"] = self.safety_loop
        return any(value and str(value) != os.environ.get(name) for name, value in said.items())


def configured(*sources: str | None, choices: Choices | None = None) -> Configured:
    """What sources name: themselves, or if one is a ``.toml`` file, what that says. Paths in it start from its folder.

    A module or a database that is alone is served by itself.
    """
    chosen = choices or Choices()
    given = [source for source in sources if source is not None]
    files = [source for source in given if source.endswith(".toml")]
    if len(files) > 1:
        raise SettingError(f"One configuration at a time, not {len(files)}: '{files[0]}' and '{files[1]}'")
    try:
        said = read_configuration(Path(files[0])) if files else Configuration()
        words = [*(source for source in given if source not in files), *filter(None, [said.source])]
        return _meant(said, words, chosen)
    except (ConfigurationError, AdapterError) as error:
        raise SettingError(str(error)) from None


def _meant(said: Configuration, words: Sequence[str], choices: Choices) -> Configured:
    is_alone = not said.sources and choices.curation is None and all(map(is_plain, words))
    if is_alone and (len(words) == 1 or not (words or said.files)):
        return Configured(next(iter(words), None), said.state, said.policy)
    demo = () if words or said.files else (_demo(choices),)
    specs = distinct((*demo, *specs_of(words, choices), *(_vouched(spec, choices) for spec in said.sources)))
    name = specs[0].name if len(specs) == 1 and not said.files else said.name
    lists = tuple(Path(word) for word in words if is_server_list(word))
    plan = GatePlan(name=name, sources=specs, files=(*said.files, *lists, *choices.files))
    return Configured(None, said.state, said.policy, plan)


def _vouched(spec: SourceSpec, choices: Choices) -> SourceSpec:
    return replace(spec, vouched=spec.vouched or (choices.vouched and spec.kind is SourceKind.ADAPTER_FILE))


def _demo(choices: Choices) -> SourceSpec:
    return SourceSpec(name="bookshop", kind=SourceKind.DEMO, curation=choices.curation, database=choices.database)


@asynccontextmanager
async def opened(settings: Settings, trusted: Trusted) -> AsyncIterator[tuple[Settings, Store]]:
    """The settings with the trust that counts, and the store, open for as long as it is needed."""
    store = settings.store()
    try:
        await store.open()
        yield await trusted(settings, store), store
    except StoreError as error:
        raise SettingError(str(error)) from None
    finally:
        await store.close()
