"""What an operator may say of a document: where its server is, and which variables of the environment hold secrets."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.sources.http.bounds import Bounds

__all__ = ["OpenApiOptions"]

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiOptions:
    """How a document is served. A wrong value cannot be built: an AdapterError names it."""

    base_url: str | None = None
    """Where requests go, whatever the document says."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Values for the variables in the URLs of its servers."""
    credentials: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By security scheme: the names of environment variables, under 'key', 'token', 'username', 'password',
    'client_id' and 'client_secret'."""
    bounds: Bounds = field(default_factory=Bounds)
    paging: bool = True
    """Whether lists are offered with 'first' and 'after'; else the upstream's own parameters are."""

    def __post_init__(self) -> None:
        for scheme, names in self.credentials.items():
            for part, variable in names.items():
                if not _VARIABLE.match(variable):
                    raise AdapterError(
                        f"The '{part}' of the security scheme '{scheme}' must be the name of an environment variable, "
                        "such as 'API_TOKEN': put the secret itself into the environment."
                    )
