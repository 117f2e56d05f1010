"""``headgate serve``: an MCP-AQL server in one command."""

import logging
import os
import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import anyio
from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.cli.exits import OK
from headgate.cli.guards import Guarding, configured, opened
from headgate.cli.options import option
from headgate.cli.output import guarded
from headgate.cli.requests_log import RequestsLog
from headgate.cli.targets import DatabaseChoices, load
from headgate.protocol.limits import LIMIT_ROWS, Limits
from headgate.server.addresses import Address, listen
from headgate.server.auth import JwtVerifier, OAuth, StaticToken, StaticTokens, read_token_file
from headgate.server.binding import McpServer
from headgate.server.housekeeping import keep_house
from headgate.server.http import PATH, Access, http_app, run_http
from headgate.server.reload import watch
from headgate.server.settings import SettingError, with_limits
from headgate.server.stdio import private_pipes, run_stdio
from headgate.sources.databases import is_database
from headgate.sources.modules import forget_modules, load_adapter, module_file

__all__ = ["serve"]

_GRACE_SECONDS: Final = 10.0


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Serving:
    """How the adapter is shown and treated."""

    mode: Annotated[
        str | None, option("Which tools: semantic (one a family), single, or all.", "MCP_AQL_ENDPOINT_MODE")
    ] = None
    profile: Annotated[
        str | None, option("Which families semantic mode has, such as crude or discover.", "MCP_AQL_ENDPOINT_PROFILE")
    ] = None
    prefix: Annotated[str | None, option("Before every tool's name, such as github_.", "MCP_AQL_TOOL_PREFIX")] = None
    dev: Annotated[bool, option("Warn of unknown parameters instead of refusing them.", "HEADGATE_DEV")] = False
    concurrency: Annotated[
        str | None,
        option("serialized, read-concurrent, fully-concurrent or resource-locked.", "HEADGATE_CONCURRENCY"),
    ] = None
    max_concurrent_requests: Annotated[
        int | None, option("How many requests run at once.", "HEADGATE_MAX_CONCURRENT_REQUESTS")
    ] = None
    index_tokens: Annotated[
        int | None, option("Tokens that the index in the tools' descriptions may cost.", "HEADGATE_INDEX_TOKENS")
    ] = None
    structured_content: Annotated[
        bool, option("Send answers as structured content too.", "HEADGATE_STRUCTURED_CONTENT")
    ] = False
    max_request_size: Annotated[int | None, option("Bytes of a request.", "HEADGATE_MAX_REQUEST_SIZE")] = None
    max_response_size: Annotated[int | None, option("Bytes of an answer.", "HEADGATE_MAX_RESPONSE_SIZE")] = None
    max_string_length: Annotated[int | None, option("Bytes of one text.", "HEADGATE_MAX_STRING_LENGTH")] = None
    max_array_elements: Annotated[int | None, option("Elements of one list.", "HEADGATE_MAX_ARRAY_ELEMENTS")] = None
    max_nesting_depth: Annotated[int | None, option("Levels of nesting.", "HEADGATE_MAX_NESTING_DEPTH")] = None

    def chosen(self) -> dict[str, Any]:
        """The settings that these options make."""
        limits = {name: value for name in LIMIT_ROWS if (value := getattr(self, name)) is not None}
        chosen = {
            "mode": self.mode or None,
            "profile": self.profile or None,
            "prefix": self.prefix,
            "concurrency": self.concurrency or None,
            "max_concurrent_requests": self.max_concurrent_requests,
            "index_tokens": self.index_tokens,
        }
        return {
            "strict": not self.dev,
            "structured_content": self.structured_content,
            "limits": with_limits(Limits(), limits),
            **{name: value for name, value in chosen.items() if value is not None},
        }


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Entrance:
    """Who may reach the server over HTTP."""

    tokens: Annotated[
        Path | None, option("A TOML file of bearer tokens: [tokens.NAME] with secret or sha256.", "HEADGATE_TOKENS")
    ] = None
    oauth_issuer: Annotated[
        str | None, option("The authorization server whose tokens count.", "HEADGATE_OAUTH_ISSUER")
    ] = None
    oauth_audience: Annotated[
        str | None, option("For whom tokens must be meant: this server's URL.", "HEADGATE_OAUTH_AUDIENCE")
    ] = None
    oauth_jwks: Annotated[
        str | None, option("Where the issuer's keys are, if it does not say.", "HEADGATE_OAUTH_JWKS")
    ] = None
    oauth_scope: Annotated[
        tuple[str, ...], option("A scope that every token needs; may be repeated.", "HEADGATE_OAUTH_SCOPE")
    ] = ()
    allow_host: Annotated[
        tuple[str, ...], option("A name under which clients reach the server; may be repeated.", "HEADGATE_ALLOW_HOST")
    ] = ()
    allow_origin: Annotated[
        tuple[str, ...], option("A web origin that may call; may be repeated.", "HEADGATE_ALLOW_ORIGIN")
    ] = ()

    def access(self, *, over_http: bool = True) -> Access:
        """The access that these options grant. HEADGATE_TOKEN in the environment is one more token."""
        if not over_http and (self.tokens or self.oauth_issuer):
            raise SettingError("--tokens and --oauth-issuer guard HTTP alone: add --http, or leave them out")
        open_access = Access(allowed_hosts=self.allow_host, allowed_origins=self.allow_origin)
        secret = os.environ.get("HEADGATE_TOKEN")
        if self.oauth_issuer:
            if self.tokens or secret:
                raise SettingError("Choose either static tokens or OAuth, not both")
            if not self.oauth_audience:
                raise SettingError("--oauth-issuer needs --oauth-audience: the URL that tokens must be meant for")
            oauth = OAuth(
                issuer=self.oauth_issuer,
                audience=self.oauth_audience,
                jwks_url=self.oauth_jwks,
                required_scopes=self.oauth_scope,
            )
            return replace(open_access, verifier=JwtVerifier(oauth), oauth=oauth)
        if self.oauth_audience or self.oauth_jwks or self.oauth_scope:
            raise SettingError("The --oauth options need --oauth-issuer")
        tokens = read_token_file(self.tokens) if self.tokens else ()
        if secret:
            tokens = (*tokens, StaticToken.from_secret("token", secret))
        return replace(open_access, verifier=StaticTokens(tokens)) if tokens else open_access


def serve(
    *sources: Annotated[
        str,
        Parameter(
            help="A database's URL or SQLite file, module:adapter or file.py:adapter. Without one: the built-in demo."
        ),
    ],
    http: Annotated[
        str | None, option("Listen on HOST:PORT, such as 127.0.0.1:8765, instead of stdio.", "HEADGATE_HTTP")
    ] = None,
    reload: Annotated[bool, option("Watch the module and serve it anew when it changes.", "HEADGATE_RELOAD")] = False,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], option("What to write to standard error.", "HEADGATE_LOG_LEVEL")
    ] = "info",
    serving: Serving = Serving(),  # noqa: B008  (frozen)
    entrance: Entrance = Entrance(),  # noqa: B008  (frozen)
    guarding: Guarding = Guarding(),  # noqa: B008  (frozen)
    database: DatabaseChoices = DatabaseChoices(),  # noqa: B008  (frozen)
) -> int:
    """Serve an adapter over stdio, or over HTTP with --http.

    A signal or the end of input stops the server; requests in work are finished first.
    """
    logging.basicConfig(level=log_level.upper(), stream=sys.stderr, format="headgate: %(message)s")
    for noisy in ("mcp", "httpx2", "watchfiles", "uvicorn"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLevelName(log_level.upper())))

    async def work() -> int:
        source = _one_source(sources)
        address = Address.parse(http) if http else None
        log = RequestsLog(sys.stderr) if address and log_level in ("debug", "info") else None
        config = configured(source)
        settings = guarding.settings(config, **serving.chosen(), listeners=(log,) if log else ())
        access = entrance.access(over_http=address is not None)
        sys.dont_write_bytecode |= reload  # bytecode is told apart only by size and whole seconds
        with nullcontext() if address else private_pipes() as pipes:
            if reload and (config.source is None or is_database(config.source)):
                raise SettingError("--reload needs a source that is a Python module or file")
            adapter = load(config.source, database)
            async with opened(settings, adapter) as (trusted, store):
                server = McpServer(adapter, trusted, store)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(keep_house, server)
                    if reload:
                        tasks.start_soon(watch, server, *_reloading(config.source))
                    if address:
                        await _serve_http(server, address, access, is_demo=source is None)
                    elif pipes:
                        await run_stdio(server, pipes, _GRACE_SECONDS)
                    tasks.cancel_scope.cancel()
                await server.tidy()
            await adapter.close()
        return OK

    return guarded(work)


def _one_source(sources: tuple[str, ...]) -> str | None:
    if len(sources) > 1:
        raise SettingError(f"One source at a time, not {len(sources)}: combine them in one adapter")
    return sources[0] if sources else None


def _reloading(source: str | None) -> tuple[Any, list[Path]]:
    file = module_file(source) if source else None
    if source is None or file is None:
        raise SettingError("--reload needs a source that is a Python module or file")

    def again() -> Adapter:
        forget_modules(file.parent)
        return load_adapter(source)

    return again, [file.parent]


async def _serve_http(server: McpServer, address: Address, access: Access, *, is_demo: bool) -> None:
    access.hosts(address)  # refused before anything listens
    with listen(address) as sock:
        where = Address(address.host, sock.getsockname()[1])
        app = http_app(server, where, access)
        _announce(server, where, is_open=access.verifier is None, is_demo=is_demo)
        await run_http(server, app, sock, _GRACE_SECONDS)


def _announce(server: McpServer, where: Address, *, is_open: bool, is_demo: bool) -> None:
    log = logging.getLogger("headgate")
    log.info("%s", _banner(server, where))
    if is_open and not where.is_loopback:
        log.warning("anybody who can reach %s may call: add --tokens or --oauth-issuer", where.netloc)
    if is_demo:
        log.info("%s", _try_these(where))


def _banner(server: McpServer, where: Address) -> str:
    operations = len(server.engine.introspector.operations)
    tools = ", ".join(server.tool_names)
    return f"'{server.name}' with {operations} operations behind {tools}\n  http://{where.netloc}{PATH}"


def _try_these(where: Address) -> str:
    program = sys.argv[0] if Path(sys.argv[0]).name == "headgate" else "headgate"
    url = f"http://{where.netloc}{PATH}"
    filtered = """'filter:={"author.country":"Norway"}' 'fields:=["title","author.name","price"]'"""
    return "\n  ".join(
        [
            "try in another terminal:",
            f"{program} ops -s {url}",
            f"{program} call search_books query=lighthouse -s {url}",
            f"{program} call list_books {filtered} -s {url}",
        ]
    )
