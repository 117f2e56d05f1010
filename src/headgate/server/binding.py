"""The binding to MCP: tools out of families, one engine behind them, both protocol eras."""

import importlib.util
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server import CacheHint, NotificationOptions, Server
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import CallNext, HandlerResult
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from opentelemetry import trace
from starlette.applications import Starlette
from starlette.requests import Request

from headgate.adapter.adapter import Adapter
from headgate.adapter.context import AskUser, Progress, Session
from headgate.engine.gating import place_of
from headgate.engine.pipeline import Engine
from headgate.engine.stages import Reply
from headgate.executions.service import Executions
from headgate.protocol import PROTOCOL_VERSION
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.server.answers import instructions_of, result_of, tool_of
from headgate.server.asking import (
    QUESTION,
    Page,
    after_page,
    agreed,
    ask_legacy,
    can_be_asked,
    can_open,
    declined,
    input_required,
    not_waiting,
)
from headgate.server.calls import arguments_of, plain_call, with_any_arguments
from headgate.server.contexts import Context, caller_of, is_legacy
from headgate.server.descriptions import input_schema, tool_cards
from headgate.server.edge import Edge
from headgate.server.parking import ASKED, Parking, Shows, answer_in, ask_through
from headgate.server.replicas import NamedSessions
from headgate.server.sessions import Sessions
from headgate.server.settings import Settings
from headgate.server.tasks import TASKS, Tasks
from headgate.server.work import Work
from headgate.store.interface import Store, StoreError

__all__ = ["EXTENSION", "McpServer", "mcp_server"]

EXTENSION: Final = "headgate/mcp-aql"
"""The name under which the server declares that it speaks MCP-AQL."""

_GRACE_SECONDS: Final = 10.0
"""How long an application that ends waits for long work."""
_NEWS_SECONDS: Final = 5.0
"""How long a client that does not read may hold up news for the others."""


def mcp_server(adapter: Adapter, **settings: Any) -> "McpServer":
    """A low-level MCP server for an adapter, to run, mount, embed, or test in process. Settings as in ``Settings``."""
    return McpServer(adapter, Settings.of(**settings))


class McpServer(Server[Session]):
    """An MCP server whose tools are an adapter's endpoint families."""

    def __init__(self, adapter: Adapter, settings: Settings, store: Store | None = None) -> None:
        self._bus = InMemorySubscriptionBus()
        self._news = ListenHandler(self._bus)
        self.settings = settings
        self.store = store or settings.store()
        self.sessions = Sessions(settings.session_idle_seconds, on_end=self._forget)
        self._work = Work()
        self._listening: dict[str, ServerSession] = {}
        self._proves_sessions = True
        self._executions: list[Executions] = []
        self._openings = 0
        self._parking = Parking()
        self._tasks = Tasks(
            executions=lambda: self.engine.executions, ask=self._perform, shown=self._complete, news=self._news
        )
        super().__init__(
            adapter.name,
            version=adapter.version,
            description=adapter.description or None,
            instructions=instructions_of(adapter),
            cache_hints={"tools/list": CacheHint(ttl_ms=settings.cache_seconds * 1000, scope="public")},
            lifespan=self._connection,
            get_tool_input_schema=lambda _name: None,
            on_list_tools=self._list_tools,
            on_subscriptions_listen=self._tasks.listen,
        )
        self.add_request_handler("tools/call", types.CallToolRequestParams, self._call_tool)
        self._tasks.register(self)
        self.extensions[EXTENSION] = {"version": PROTOCOL_VERSION}
        self._identity = self.server_info_stamp
        self._telemetry = importlib.util.find_spec("opentelemetry.sdk") is not None
        if not self._telemetry:
            self.middleware.clear()  # nothing is there that could read the spans
        self.middleware.append(self._prepare)
        self._take(adapter)

    def _take(self, adapter: Adapter) -> None:
        known = next((one for one in self._executions if one.adapter == adapter.name), None)
        self.engine: Engine = self.settings.engine(adapter, self.store, known)
        if known is None and self.engine.executions is not None:
            self._executions.append(self.engine.executions)
        if self._executions:
            self.extensions[TASKS] = {}
        exposure = self.engine.options.exposure
        cards = tool_cards(self.engine.introspector.operations, exposure, self.settings.index_tokens)
        self._families: Mapping[str, str | None] = {card.name: card.family for card in cards}
        self._tools = types.ListToolsResult(tools=[tool_of(card, input_schema(adapter)) for card in cards])

    @property
    def tool_names(self) -> list[str]:
        """The tools that clients see."""
        return list(self._families)

    @property
    def listed_tools(self) -> list[dict[str, Any]]:
        """The tools as clients read them."""
        return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in self._tools.tools]

    async def replace(self, adapter: Adapter, settings: Settings | None = None) -> None:
        """Serve another version of the adapter from the next call on, and tell every client that listens.

        The settings may be others too, except for what belongs to the server as long as it runs.
        """
        before, self.settings = self.settings, settings or self.settings
        try:
            self._take(adapter)
        except ValueError:
            self.settings = before
            raise
        if self._openings:
            with suppress(StoreError):  # the first execution tries again
                await self._open_all()
        await self._bus.publish(ToolsListChanged())
        with anyio.move_on_after(_NEWS_SECONDS):
            async with anyio.create_task_group() as tasks:
                for session in self._listening.values():
                    tasks.start_soon(session.send_tool_list_changed)

    def stop_listening(self) -> None:
        """End the streams on which modern clients wait for news; they would never end by themselves."""
        self._news.close()

    def end_session(self, key: str) -> None:
        """Forget what belongs to a session over HTTP."""
        self.sessions.end(key)

    async def tidy(self) -> None:
        """Revoke what sessions that are over have left, and throw away what has expired."""
        self.sessions.end_idle()
        if self.engine.gatekeeper is not None:
            await self.engine.gatekeeper.tidy()

    async def open(self) -> None:
        """Take up long work that was left by processes that are gone. Whoever opens a server closes it again."""
        await self._open_all()
        self._openings += 1

    async def _open_all(self) -> None:
        for executions in self._executions:
            await executions.open()

    async def close(self, grace_seconds: float = 0.0) -> None:
        """End all sessions, and let long work that runs here finish for so long; then interrupt it.

        Nothing of this happens as long as somebody else has the server open.
        """
        self._openings -= 1
        if self._openings > 0:
            return
        self._openings = 0
        self._parking.close()
        self.sessions.end_all()
        for executions in self._executions:
            await executions.close(grace_seconds)

    @property
    def left_behind(self) -> int:
        """How many executions had not stopped when it was closed."""
        return sum(executions.host.left_behind for executions in self._executions)

    async def finish(self, seconds: float) -> bool:
        """Wait until no request over HTTP is in work, this long at the most; whether all are done."""
        self._parking.close()  # no answer comes any more
        return await self._work.finish(seconds)

    def streamable_http_app(self, **options: Any) -> Starlette:
        """The SDK's application, in which what belongs to a session also ends with it.

        It opens the server when it starts and closes it when it ends; mounted in another application, with
        ``session_manager.run()`` as its lifespan.
        """
        app = super().streamable_http_app(**{**self.settings.http_options, **options})
        manager = self.session_manager
        manager.run = partial(self._opened, manager.run)  # type: ignore[method-assign]
        self._proves_sessions = not options.get("stateless_http")
        app.add_middleware(Edge, work=self._work, end_session=self.end_session)
        if self.settings.replica:
            app.add_middleware(NamedSessions, name=self.settings.replica)
        return app

    @asynccontextmanager
    async def _opened(self, run: Callable[[], AbstractAsyncContextManager[None]]) -> AsyncIterator[None]:
        """The time for which an application over HTTP runs: long work is taken up before it, and ended after it."""
        await self.open()
        try:
            async with run():
                yield
        finally:
            with anyio.CancelScope(shield=True):
                await self.close(_GRACE_SECONDS)

    @asynccontextmanager
    async def _connection(self, _server: Server[Session]) -> AsyncIterator[Session]:
        """The session of a connection that is one process's or one pipe's; over HTTP it serves only as a stand-in."""
        session = Session()
        try:
            yield session
        finally:
            session.end()
            self._forget(session)

    def _forget(self, session: Session) -> None:
        self._listening.pop(session.id, None)
        if self.engine.gatekeeper is not None:
            self.engine.gatekeeper.session_ended(session.id)
        for executions in self._executions:
            executions.session_ended(session)

    async def _list_tools(self, _ctx: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return self._tools

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> HandlerResult:
        if params.name not in self._families:
            known = list(self._families)
            near = did_you_mean(nearest(params.name, known, 1)) or f". There is {', '.join(known)}."
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool{near}")
        arguments = arguments_of(params)
        if params.request_state is None:
            return await self._ask(ctx, params.name, arguments)
        if params.request_state.startswith(ASKED):
            return await self._answered(ctx, params)
        was_opened, again = after_page(params.request_state, arguments)
        if was_opened:
            return await self._ask(ctx, params.name, again, opens=False)
        answer = (params.input_responses or {}).get(QUESTION)
        return await self._go_on(ctx, params.name, arguments, params.request_state, agrees=agreed(answer))

    async def _prepare(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Before MCP handles a message: remember the way back, answer a plain call, fit the rest for its checks."""
        if ctx.method != "tools/call":
            self._remember_legacy(ctx)
            return await call_next(ctx)
        call = plain_call(ctx)
        if call is None or call.tool not in self._families or self.middleware[-1] != self._prepare:
            return await call_next(with_any_arguments(ctx))
        return await self._ask(ctx, call.tool, call.arguments)

    async def _ask(self, ctx: Context, tool: str, arguments: object, *, opens: bool = True) -> dict[str, Any]:
        """Answer a call; if it waits for a confirmation and the host can ask its user, have it asked first."""
        if self._telemetry and isinstance(arguments, dict):
            trace.get_current_span().set_attribute("headgate.operation", str(arguments.get("operation")))
        legacy = is_legacy(ctx)
        asks = self.settings.policy.confirmation.elicit and can_be_asked(ctx, legacy=legacy)
        reply = await self._call(ctx, tool, arguments, asks_user=asks)
        if isinstance(reply, dict):
            return {**reply, "_meta": self._stamp()}
        page = self._page(ctx, arguments, reply, legacy=legacy) if opens and reply.waits_for else None
        if page is not None:
            return await self._open(ctx, page, reply, legacy=legacy)
        if reply.question is None or not asks:
            return self._result(ctx, reply)
        if not legacy:
            return {**input_required(reply.question), "_meta": self._stamp()}
        agrees = await ask_legacy(ctx, reply.question)
        if agrees is None:
            return self._result(ctx, reply)
        return await self._go_on(ctx, tool, arguments, reply.question.token, agrees=agrees, reply=reply)

    def _page(self, ctx: Context, arguments: object, reply: Reply, *, legacy: bool) -> Page | None:
        """The page on which a person decides, if there is one that the host's user has not seen yet and can open."""
        if self.settings.console_url is None or not can_open(ctx, legacy=legacy):
            return None
        page = Page.of(self.settings.console_url, reply)
        return page if page is not None and page.is_news(arguments, self._session(ctx)) else None

    async def _open(self, ctx: Context, page: Page, reply: Reply, *, legacy: bool) -> dict[str, Any]:
        """Have the host open a page; only what the store says then counts."""
        if not legacy:
            return {**page.required(), "_meta": self._stamp()}
        await page.open(ctx)
        return self._result(ctx, reply)

    async def _go_on(
        self, ctx: Context, tool: str, arguments: object, token: str, *, agrees: bool, reply: Reply | None = None
    ) -> dict[str, Any]:
        """Answer a call whose user was asked: run it under its token, or withdraw that."""
        gatekeeper = self.engine.gatekeeper
        if gatekeeper is None or not isinstance(arguments, dict):
            return await self._ask(ctx, tool, arguments)
        if not agrees:
            await gatekeeper.withdraw(token, "the user declined")
            return self._result(ctx, declined(reply or Reply("", True, False, "")))
        await anyio.sleep(gatekeeper.cooldown(str(arguments.get("operation"))))
        return await self._ask(ctx, tool, {**arguments, place_of(token): token})

    async def _call(self, ctx: Context, tool: str, arguments: object, *, asks_user: bool) -> Reply | dict[str, Any]:
        """The reply, or the question that a modern host's user must answer first."""
        shows = Shows.of(ctx) if self._may_ask(arguments) else None
        run = partial(self._called, ctx, tool, arguments, asks_user)
        if shows and not is_legacy(ctx):
            return await self._parking.begin(ctx, shows, run)
        return await run(ask_through(ctx, shows) if shows else None, partial(_report, ctx))

    async def _called(
        self,
        ctx: Context,
        tool: str,
        arguments: object,
        asks_user: bool,
        ask: AskUser | None,
        progress: Progress,
    ) -> Reply:
        with self._work:
            return await self.engine.call(
                arguments,
                endpoint=self._families[tool],
                caller=caller_of(ctx),
                session=self._session(ctx),
                progress=progress,
                asks_user=asks_user,
                ask_user=ask,
                attaches=True,
            )

    def _may_ask(self, arguments: object) -> bool:
        """Whether the handler of a call may ask its user."""
        name = arguments.get("operation") if isinstance(arguments, dict) else None
        operation = self.engine.introspector.operations.get(name) if isinstance(name, str) else None
        return operation is not None and operation.asks_user

    async def _answered(self, ctx: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        """Go on with a call whose handler had asked the user."""
        answer = answer_in(params.input_responses)
        reply = await self._parking.go_on(ctx, params.request_state or "", answer)
        if isinstance(reply, dict):
            return {**reply, "_meta": self._stamp()}
        return self._result(ctx, reply if reply is not None else not_waiting())

    async def _perform(self, ctx: Context, operation: str, params: Mapping[str, object]) -> Reply:
        """Call an operation in answer to a request that is no tool call."""
        arguments = {"operation": operation, "params": dict(params)}
        with self._work:
            return await self.engine.call(arguments, caller=caller_of(ctx), session=self._session(ctx))

    def _result(self, ctx: Context, reply: Reply) -> dict[str, Any]:
        task = self._tasks.created(ctx, reply)
        return self._complete(ctx, reply) if task is None else {**task, "_meta": self._stamp()}

    def _complete(self, ctx: Context, reply: Reply) -> dict[str, Any]:
        result = result_of(reply, self.settings.structured_content)
        if not is_legacy(ctx):
            result["resultType"] = "complete"
            result["_meta"] = {**result.get("_meta", {}), **self._stamp()}
        return result

    def _stamp(self) -> dict[str, Any]:
        return {types.SERVER_INFO_META_KEY: dict(self._identity)}

    def _session(self, ctx: Context) -> Session:
        if ctx.request is None:
            return ctx.lifespan_context
        own = not (self._proves_sessions and is_legacy(ctx))
        return self.sessions.get(self._session_key(ctx, ctx.request), is_callers_own=own)

    def _session_key(self, ctx: Context, request: Request) -> str | None:
        """What identifies the session over HTTP; a header that the transport has not checked does not count."""
        if self._proves_sessions and is_legacy(ctx):
            return request.headers.get("mcp-session-id")
        token = get_access_token()
        return f"principal:{(token.client_id, token.subject)!r}" if token else None

    def _remember_legacy(self, ctx: Context) -> None:
        """Keep the latest way back to each legacy client, for news of changed tools outside any request."""
        if is_legacy(ctx) and (ctx.request is None or self._session_key(ctx, ctx.request)):
            self._listening[self._session(ctx).id] = ctx.session

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Declare changing tools and the extension to legacy clients on every transport."""
        return super().create_initialization_options(
            notification_options or NotificationOptions(tools_changed=True),
            experimental_capabilities or {EXTENSION: self.extensions[EXTENSION]},
            extensions,
        )


async def _report(ctx: Context, current: float, total: float | None, message: str | None) -> None:
    await ctx.session.report_progress(current, total, message)
