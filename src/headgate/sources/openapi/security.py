"""Security schemes: which credentials a request needs, and which variables of the environment they come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urljoin

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import AqlError, quoted
from headgate.sources.http.credentials import ApiKey, Basic, Bearer, ClientCredentials, Credential
from headgate.sources.naming import snake
from headgate.sources.openapi.options import OpenApiOptions

__all__ = ["Alternative", "Schemes", "Security", "variables_of"]

_WHERE: Final = ("header", "query", "cookie")


@dataclass(frozen=True, slots=True)
class Alternative:
    """Credentials that are shown together; ``missing`` says which scheme cannot be used, and why."""

    credentials: tuple[Credential, ...] = ()
    missing: str = ""

    def is_ready(self, environment: Mapping[str, str]) -> bool:
        """Whether all of its variables are set."""
        return not self.missing and all(environment.get(name, "").strip() for name in self.variables)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the environment that it needs."""
        return tuple(name for credential in self.credentials for name in variables_of(credential))


def variables_of(credential: Credential) -> tuple[str, ...]:
    """The variables of the environment that a credential is read from."""
    match credential:
        case Bearer(token_env):
            return (token_env,)
        case ApiKey(key_env=key_env):
            return (key_env,)
        case Basic(username_env, password_env):
            return (username_env, password_env)
        case ClientCredentials(client_id_env=client_id, client_secret_env=client_secret):
            return (client_id, client_secret)


@dataclass(frozen=True, slots=True)
class Security:
    """The ways in which one operation may be called: any of them is enough. None at all means that none is needed."""

    alternatives: tuple[Alternative, ...] = ()

    def chosen(self, environment: Mapping[str, str]) -> Alternative:
        """The first way whose variables are set. If there is none, an AqlError names what to set."""
        if not self.alternatives:
            return Alternative()
        ready = next((one for one in self.alternatives if one.is_ready(environment)), None)
        if ready is not None:
            return ready
        usable = [one for one in self.alternatives if not one.missing]
        if not usable:
            raise AqlError("AUTH_CONFIG_INVALID", f"The upstream asks for {self.alternatives[0].missing}")
        unset = next(name for name in usable[0].variables if not environment.get(name, "").strip())
        others = [" and ".join(one.variables) for one in usable[1:]]
        instead = f", or instead {' or '.join(others)}" if others else ""
        raise AqlError(
            "AUTH_CREDENTIAL_MISSING",
            f"The credential '{unset}' is not set: set this environment variable for the server{instead}",
            {"variable": unset},
        )


@dataclass(frozen=True)
class Schemes:
    """The security schemes of a document."""

    adapter: str
    declared: Mapping[str, Any]
    options: OpenApiOptions
    base_url: str

    def security(self, requirements: object) -> Security:
        """What an operation needs: a list of alternatives, each of schemes that go together."""
        if not isinstance(requirements, Sequence):
            return Security()
        found = [self._alternative(one) for one in requirements if isinstance(one, Mapping)]
        # whoever has credentials wants them used: nothing at all comes last
        return Security(tuple(sorted(found, key=lambda one: not one.credentials and not one.missing)))

    def _alternative(self, requirement: Mapping[str, Any]) -> Alternative:
        credentials = []
        for name, scopes in requirement.items():
            made = self.credential(name, [str(one) for one in scopes] if isinstance(scopes, list) else [])
            if isinstance(made, str):
                return Alternative(missing=made)
            credentials.append(made)
        return Alternative(tuple(credentials))

    def credential(self, name: str, scopes: Sequence[str] = ()) -> Credential | str:
        """What a scheme asks for, or in words why that cannot be given."""
        scheme = self.declared.get(name)
        shown = quoted(name, "of an odd name")
        if not isinstance(scheme, Mapping):
            return f"the security scheme {shown}, which its document does not describe"
        try:
            made = self._made(name, scheme, scopes)
        except AdapterError as error:
            return f"the security scheme {shown}, which cannot be used: {error}"
        kind = quoted(str(scheme.get("scheme") or scheme.get("type")), "of an odd kind")
        return made or f"the security scheme {shown} of the kind {kind}, which headgate does not have"

    def _made(self, name: str, scheme: Mapping[str, Any], scopes: Sequence[str]) -> Credential | None:
        match scheme.get("type"), str(scheme.get("scheme", "")).lower():
            case "apiKey", _:
                where = scheme.get("in")
                if where not in _WHERE:
                    return None
                return ApiKey(str(scheme.get("name", "")), self._variable(name, "key"), where)
            case "http", "bearer":
                return Bearer(self._variable(name, "token"))
            case "http", "basic":
                return Basic(self._variable(name, "username"), self._variable(name, "password"))
            case "oauth2", _:
                return self._oauth(name, scheme, scopes)
            case _:
                return None

    def _oauth(self, name: str, scheme: Mapping[str, Any], scopes: Sequence[str]) -> Credential:
        """Client credentials, if the scheme has them; else a token that its owner has got in another way."""
        flows = scheme.get("flows")
        flow = flows.get("clientCredentials") if isinstance(flows, Mapping) else None
        if not isinstance(flow, Mapping) or "token" in self.options.credentials.get(name, {}):
            return Bearer(self._variable(name, "token"))
        token_url = urljoin(f"{self.base_url}/", str(flow.get("tokenUrl", "")))
        client_id, client_secret = self._variable(name, "client_id"), self._variable(name, "client_secret")
        return ClientCredentials(token_url, client_id, client_secret, tuple(scopes))

    def _variable(self, scheme: str, part: str) -> str:
        """The variable of a scheme: as the operator says, else the adapter's and the scheme's name together."""
        given = self.options.credentials.get(scheme, {}).get(part)
        base = f"{snake(self.adapter)}_{snake(scheme)}".upper()
        return given or (base if part in ("key", "token") else f"{base}_{part.upper()}")

    def carries(self, name: str, where: str) -> bool:
        """Whether a parameter only carries a key, which is nothing for a model to give."""
        return any(_is_key(scheme, name, where) for scheme in self.declared.values() if isinstance(scheme, Mapping))


def _is_key(scheme: Mapping[str, Any], name: str, where: str) -> bool:
    if scheme.get("type") != "apiKey" or scheme.get("in") != where:
        return False
    own = str(scheme.get("name", ""))
    return own.lower() == name.lower() if where == "header" else own == name
