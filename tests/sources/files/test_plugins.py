"""Plugins: found by name, added by others, and never taken from each other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from headgate.adapter.context import Context
from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.files.plugins import registry
from headgate.sources.files.plugins.builtin import register_builtin
from headgate.sources.files.plugins.interfaces import Surroundings
from headgate.sources.files.plugins.registry import (
    AUTHS,
    PROTOCOLS,
    SERIALIZATIONS,
    TRANSPORTS,
    Registry,
    register_protocol,
    register_transport,
)
from headgate.sources.files.spots import Spot
from headgate.sources.files.values import Entry, Target
from headgate.sources.http.credentials import Credential
from tests.sources.files.texts import adapter_of, called, head


@pytest.fixture(autouse=True)
def apart() -> Iterator[None]:
    """What a test registers is gone after it."""
    register_builtin()
    kept = [(one, dict(one._plugins)) for one in (TRANSPORTS, PROTOCOLS, SERIALIZATIONS, AUTHS)]
    yield
    for one, plugins in kept:
        one._plugins = plugins  # type: ignore[assignment]


def test_these_are_always_there() -> None:
    register_builtin()
    assert TRANSPORTS.names == ["headgate", "http", "mcp"]
    assert PROTOCOLS.names == ["operation", "rest", "tool"]
    assert SERIALIZATIONS.names == ["form", "json", "none", "xml"]
    assert AUTHS.names == ["api_key", "basic", "bearer", "none"]


@pytest.mark.parametrize("one", [TRANSPORTS, PROTOCOLS, SERIALIZATIONS, AUTHS])
def test_every_plugin_says_what_it_does(one: Registry[Any]) -> None:
    assert all(one.named(name).description for name in one.names)


@dataclass(frozen=True)
class Pigeon:
    """A transport of somebody else, which answers with what it was given."""

    name: str = "pigeon"
    description: str = "By air"
    keys: tuple[str, ...] = ("loft",)

    def check(self, fields: Mapping[str, Spot], block: Spot) -> None:
        if "loft" not in fields:
            block.below("loft", None).wrong("the field 'loft'", "Add it.", found="none", code="SCHEMA_MISSING_FIELD")

    def connect(self, target: Target, credentials: tuple[Credential, ...], here: Surroundings) -> "Pigeon":
        return self

    async def send(self, request: object, context: Context | None) -> object:
        return {"carried": request}

    async def close(self) -> None:
        """There is nothing to close."""


@dataclass(frozen=True)
class Notes:
    """A protocol of somebody else: the mapping is a word, and all values are a note."""

    name: str = "notes"
    description: str = "Notes"
    keys: tuple[str, ...] = ()
    transports: tuple[str, ...] = ("pigeon",)

    def check(self, maps_to: Spot, entry: Entry) -> None:
        """Any mapping will do."""

    def plan(self, entry: Entry, target: Target, serialization: object) -> "Notes":
        return self

    async def call(self, values: Mapping[str, object], connection: Pigeon, context: Context | None) -> object:
        return await connection.send(dict(values), context)


PIGEONS = {
    "target": {"transport": "pigeon", "protocol": "notes", "serialization": "none", "loft": "roof"},
    "operations": {"execute": [{"name": "execute_flight", "maps_to": "FLY", "params": {"words": {"type": "string"}}}]},
}


@pytest.mark.anyio
async def test_others_may_add_transports_and_protocols() -> None:
    register_transport(Pigeon())
    register_protocol(Notes())  # type: ignore[arg-type]
    adapter = adapter_of(head(**PIGEONS))
    answer = await called(adapter, "execute_flight", words="hello")
    assert answer == {"carried": {"words": "hello", "dry_run": False}}


def test_nobody_takes_the_name_of_another() -> None:
    register_transport(Pigeon())
    with pytest.raises(AdapterError, match="already a transport plugin 'pigeon'"):
        register_transport(Pigeon(description="another"))


def test_an_installed_package_may_offer_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    offers = (
        EntryPoint("transport.pigeon", f"{__name__}:Pigeon", "headgate.plugins"),
        EntryPoint("auth.pigeon", f"{__name__}:nothing", "headgate.plugins"),
        EntryPoint("transport.http", f"{__name__}:nothing", "headgate.plugins"),
    )
    loaded = Pigeon()
    monkeypatch.setattr(registry, "entry_points", lambda group: offers if group == "headgate.plugins" else ())
    monkeypatch.setattr(EntryPoint, "load", lambda _: loaded)
    one: Registry[Any] = Registry("transport")
    one.register(TRANSPORTS.named("http"))
    assert one.find("pigeon") is loaded
    assert one.named("http") is TRANSPORTS.named("http")
    assert one.find("nothing") is None


def test_a_plugin_that_is_gone_is_named() -> None:
    with pytest.raises(AdapterError, match="no transport plugin 'pigeon'; known are headgate, http, mcp"):
        TRANSPORTS.named("pigeon")
