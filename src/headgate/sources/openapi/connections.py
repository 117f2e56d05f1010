"""The ways out of one adapter: a sender for each server and each set of credentials, made when first needed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from headgate.sources.http.bounds import Bounds
from headgate.sources.http.messages import Answer, OutRequest
from headgate.sources.http.sender import Sender
from headgate.sources.openapi.security import Alternative, Security

__all__ = ["Connections"]


@dataclass
class Connections:
    """Sends requests with the first credentials that are there."""

    name: str
    bounds: Bounds
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    _senders: dict[tuple[str, Alternative], Sender] = field(default_factory=dict, repr=False)

    async def send(self, base_url: str, security: Security, request: OutRequest) -> Answer:
        """The answer. Without credentials that are asked for, an AqlError names the variable, and nothing is sent."""
        key = (base_url, security.chosen(self.environment))
        sender = self._senders.get(key)
        if sender is None:
            credentials = key[1].credentials
            sender = Sender(self.bounds, base_url, credentials, name=self.name, environment=self.environment)
            self._senders[key] = sender
        return await sender.send(request)

    async def close(self) -> None:
        """Close every connection."""
        while self._senders:
            _, sender = self._senders.popitem()
            await sender.close()
