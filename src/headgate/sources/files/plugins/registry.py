"""The plugins that are known by name: headgate's own, and those of other packages."""

from importlib.metadata import entry_points
from typing import Final, Generic, TypeVar

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.files.plugins.interfaces import AuthPlugin, Plugin, ProtocolPlugin, Serialization, Transport

__all__ = [
    "AUTHS",
    "ENTRY_POINTS",
    "PROTOCOLS",
    "SERIALIZATIONS",
    "TRANSPORTS",
    "Registry",
    "register_auth",
    "register_protocol",
    "register_serialization",
    "register_transport",
]

ENTRY_POINTS: Final = "headgate.plugins"
"""Where an installed package offers plugins: ``transport.carrier_pigeon = "package.module:plugin"``."""

P = TypeVar("P", bound=Plugin)


class Registry(Generic[P]):
    """The plugins of one category. Those of other packages are looked for once a name is not known."""

    def __init__(self, category: str) -> None:
        self.category = category
        self._plugins: dict[str, P] = {}
        self._offered = False

    def register(self, plugin: P) -> None:
        """Make a plugin known; nobody may take the name of another one."""
        if self._plugins.get(plugin.name, plugin) is not plugin:
            raise AdapterError(f"There is already a {self.category} plugin '{plugin.name}'.")
        self._plugins[plugin.name] = plugin

    def find(self, name: str) -> P | None:
        """The plugin of a name, if there is one."""
        if name not in self._plugins and not self._offered:
            self._take_offers()
        return self._plugins.get(name)

    def named(self, name: str) -> P:
        """The plugin of a name that a file without mistakes has."""
        plugin = self.find(name)
        if plugin is None:
            raise AdapterError(f"There is no {self.category} plugin '{name}'; known are {', '.join(self.names)}.")
        return plugin

    @property
    def names(self) -> list[str]:
        """What is known."""
        return sorted(self._plugins)

    def _take_offers(self) -> None:
        self._offered = True
        for offer in entry_points(group=ENTRY_POINTS):
            category, _, name = offer.name.partition(".")
            if category == self.category and name not in self._plugins:
                self._plugins[name] = offer.load()


TRANSPORTS: Final = Registry[Transport]("transport")
PROTOCOLS: Final = Registry[ProtocolPlugin]("protocol")
SERIALIZATIONS: Final = Registry[Serialization]("serialization")
AUTHS: Final = Registry[AuthPlugin]("auth")


def register_transport(plugin: Transport) -> None:
    """Let files name a further transport."""
    TRANSPORTS.register(plugin)


def register_protocol(plugin: ProtocolPlugin) -> None:
    """Let files name a further protocol."""
    PROTOCOLS.register(plugin)


def register_serialization(plugin: Serialization) -> None:
    """Let files name a further serialization."""
    SERIALIZATIONS.register(plugin)


def register_auth(plugin: AuthPlugin) -> None:
    """Let files name a further way to authenticate."""
    AUTHS.register(plugin)
