"""Where requests go: the servers of a document with their variables, or what its operator says instead."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.errors import quoted
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.sources.http.reach import home_of
from headgate.sources.openapi.options import OpenApiOptions

__all__ = ["NoServer", "base_url_of"]

_VARIABLE: Final = re.compile(r"\{([^{}]+)\}")
_OVERRIDE: Final = "say with 'base_url' in headgate.toml where it is, such as 'https://api.example.com/v1'"


class NoServer(AdapterError):
    """A document that does not say where its server is, or says it of one that cannot be used."""


def base_url_of(servers: object, options: OpenApiOptions, document_url: str | None) -> str:
    """The URL that paths are put after, without a slash behind it. The first server that can be used counts."""
    if options.base_url:
        return _checked(options.base_url)
    listed = [one for one in servers if isinstance(one, Mapping)] if isinstance(servers, Sequence) else []
    problems = []
    for server in listed or [{"url": "/"}]:
        try:
            return _foreign(_checked(_located(server, options, document_url)), document_url)
        except AdapterError as error:
            problems.append(error)
    raise problems[0]


def _located(server: Mapping[str, Any], options: OpenApiOptions, document_url: str | None) -> str:
    url = _filled(str(server.get("url") or "/"), server.get("variables"), options)
    if document_url:
        url = urljoin(document_url, url)
    if urlsplit(url).scheme not in ("http", "https"):
        raise NoServer(f"The document does not say where its server is: {_OVERRIDE}.")
    return url


def _checked(url: str) -> str:
    try:
        home_of(url)
    except AdapterError as error:
        raise NoServer(f"{error}; {_OVERRIDE}.") from None
    if "?" in url or "#" in url:
        raise NoServer(f"The base URL of the source must end before any '?' or '#'; {_OVERRIDE}.")
    return url.rstrip("/")


def _foreign(url: str, document_url: str | None) -> str:
    """The same, unless a document from elsewhere means this machine: whoever wrote it must not choose what is here."""
    if document_url and home_of(url).is_local and not home_of(document_url).is_local:
        raise NoServer(f"The document comes from elsewhere, and names this machine as its server: {_OVERRIDE}.")
    return url


def _filled(url: str, variables: object, options: OpenApiOptions) -> str:
    declared = variables if isinstance(variables, Mapping) else {}
    return _VARIABLE.sub(lambda found: _value(found[1], declared.get(found[1]), options), url)


def _value(name: str, declared: object, options: OpenApiOptions) -> str:
    """The value of a variable: as the operator says, else as the document does."""
    variable = declared if isinstance(declared, Mapping) else {}
    given = options.variables.get(name)
    value = given if given is not None else variable.get("default")
    shown = quoted(name, "of an odd name")
    if value is None:
        raise NoServer(f"The variable {shown} of the server's URL has no value: give one, or {_OVERRIDE}.")
    known = [str(one) for one in variable.get("enum") or ()]
    if given is not None and known and given not in known:
        hint = did_you_mean(nearest(given, known, 1))
        raise NoServer(f"The variable {shown} of the server's URL must be one of {', '.join(known)}{hint}")
    return str(value)
