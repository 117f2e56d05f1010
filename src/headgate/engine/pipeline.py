"""The way of a request, from raw arguments to one JSON text.

Read :meth:`Engine._perform` from top to bottom: each stage takes the type that only the stage before it gives.
"""

import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from headgate.adapter.adapter import Adapter
from headgate.adapter.contents import Part
from headgate.adapter.context import ANONYMOUS, AskUser, Caller, Progress, Session
from headgate.adapter.exposure import Exposure
from headgate.adapter.introspection import Introspector
from headgate.adapter.masking import masked
from headgate.adapter.operations import DRY_RUN, Operation
from headgate.engine import events, refusals
from headgate.engine.background import Performer
from headgate.engine.batches import names_in, not_begun, run_batch, run_together
from headgate.engine.concurrency import Turns
from headgate.engine.encoding import encode
from headgate.engine.failures import Failures, has_no_room_for_details
from headgate.engine.gating import ask_of, respect, settled, take_controls, what_would_happen
from headgate.engine.interruptions import is_interruption
from headgate.engine.running import detached, execute, shape
from headgate.engine.stages import NO_CONTROLS, Call, Encoded, Outcome, Permitted, Reply, Routed, Scope
from headgate.engine.starting import begun, repeated
from headgate.engine.telling import Teller, about, ms_since
from headgate.engine.validation import validate
from headgate.executions.operations import execution_operations
from headgate.executions.service import Executions
from headgate.protocol.concurrency import Concurrency
from headgate.protocol.error_codes import is_callers_to_repair
from headgate.protocol.errors import AqlError
from headgate.protocol.limits import Limits
from headgate.protocol.requests import Batch, Request, decode, request_from
from headgate.protocol.results import Success
from headgate.protocol.tables import FORMAT
from headgate.safety.decisions import Effect
from headgate.safety.describing import Description
from headgate.safety.gatekeeper import Gatekeeper
from headgate.store.opening import open_store

if TYPE_CHECKING:
    from headgate.safety.loop.service import SafetyLoop

__all__ = ["Engine", "EngineOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """How an engine treats its requests."""

    exposure: Exposure = field(default_factory=Exposure)
    limits: Limits = field(default_factory=Limits)
    strict: bool = True
    concurrency: Concurrency = Concurrency.RESOURCE_LOCKED
    max_concurrent_requests: int = 100


class Engine:
    """Answers requests to one adapter. It knows no transport: a server, a test or a script may ask.

    Without a gatekeeper nothing is guarded.
    """

    def __init__(
        self,
        adapter: Adapter,
        options: EngineOptions | None = None,
        *,
        gatekeeper: Gatekeeper | None = None,
        loop: "SafetyLoop | None" = None,
        executions: Executions | None = None,
        listeners: Iterable[events.Listener] = (),
    ) -> None:
        self.adapter = adapter
        if executions is None and any(operation.background for operation in adapter.operations.values()):
            executions = Executions(adapter.name, open_store("memory:"))
        self.options = options or EngineOptions(exposure=Exposure(profile=adapter.profile))
        self.introspector = Introspector(
            adapter,
            self.options.exposure,
            self.options.limits,
            self.options.concurrency.value,
            self.options.max_concurrent_requests,
            Description(gatekeeper, loop) if gatekeeper else None,
            self._added(loop, executions),
        )
        self._operations: Mapping[str, Operation] = self.introspector.operations
        family_of = self.options.exposure.family_of
        self._families = {name: family_of(operation).name for name, operation in self._operations.items()}
        self._limits = self.options.limits
        self.gatekeeper = gatekeeper
        self.loop = loop
        self.executions = executions
        if executions is not None:
            executions.perform = Performer(self._operations, self._limits, executions.params_of)
        self._tell = Teller(listeners)
        self._failures = Failures(self._limits, self._tell)
        self._turns = Turns(self.options.concurrency)
        self._slots = anyio.Semaphore(self.options.max_concurrent_requests, fast_acquire=True)
        self._id_prefix = f"req_{secrets.token_hex(4)}"
        self._ids = count(1)

    def _added(self, loop: "SafetyLoop | None", executions: Executions | None) -> Mapping[str, Operation]:
        """The operations that are not the adapter's own."""
        supervised: Mapping[str, Operation] = {}
        if loop:
            from headgate.safety.loop.operations import loop_operations  # noqa: PLC0415  (a quarter of the start)

            supervised = loop_operations(loop)
        followed = execution_operations(executions, self.adapter.operations) if executions else {}
        return {**supervised, **followed}

    async def call(
        self,
        arguments: object,
        *,
        endpoint: str | None = None,
        caller: Caller = ANONYMOUS,
        session: Session | None = None,
        progress: Progress | None = None,
        asks_user: bool = False,
        ask_user: AskUser | None = None,
        attaches: bool = False,
    ) -> Reply:
        """Answer one tool call. It always returns one envelope, whatever the arguments and the handler do.

        ``asks_user`` says that whoever calls will ask the user where the reply has a question; ``ask_user`` is how a
        handler asks while it works. With ``attaches``, pictures and sounds stand beside the text of the reply.
        """
        request_id = f"{self._id_prefix}{next(self._ids):x}"
        scope = Scope(
            request_id,
            endpoint,
            caller,
            session or Session(),
            progress,
            asks_user,
            ask_user=ask_user,
            attaches=attaches,
        )
        started = time.perf_counter()
        try:
            self._slots.acquire_nowait()  # one of the requests in work (Spec 9.3)
        except anyio.WouldBlock:
            await self._slots.acquire()
        try:
            encoded = await self._answer(arguments, scope)
        finally:
            self._slots.release()
        reply = Reply(
            encoded.raw.decode(),
            encoded.code is not None,
            encoded.code is not None and not is_callers_to_repair(encoded.code),
            scope.request_id,
            encoded.question,
            encoded.waits_for,
            encoded.execution,
            encoded.attachments,
            scope.session.id,
        )
        if self._tell.is_heard:
            self._tell(events.Answered(*about(scope), size=len(encoded.raw), duration_ms=ms_since(started)))
        return reply

    def checked(self, operation: str, params: Mapping[str, object]) -> Mapping[str, object]:
        """Parameters as a confirmation is bound to them, or an AqlError that says what is wrong with them."""
        scope = Scope("", None, ANONYMOUS, Session(), None, False)
        request = request_from({"operation": operation, "params": dict(params)}, self._limits)
        return self._validate(self._route(request, scope), scope, quietly=True).given

    async def _answer(self, arguments: object, scope: Scope) -> Encoded:
        """Decode (Spec 4.1, 4.7), then one operation or several."""
        try:
            decoded = decode(arguments, self._limits)
        except AqlError as error:
            self._tell_received(scope, 0)
            return self._failures.refused(error.error, scope, brief=has_no_room_for_details(arguments, error.error))
        if isinstance(decoded, Batch):
            self._tell_received(scope, len(decoded.items))
            return await self._batch(decoded, scope)
        self._tell_received(scope, 1, decoded)
        return await self._perform(scope, decoded)

    async def _batch(self, batch: Batch, scope: Scope) -> Encoded:
        """Several operations, each for itself or all in one transaction."""
        scope = scope._replace(batched=True, attaches=False)
        if not batch.transaction:
            skip = self.gatekeeper is not None and self.gatekeeper.policy.confirmation.skip_in_batches
            done = await run_batch(batch, partial(self._perform_raw, scope), self._limits, skip=skip)
            return Encoded(encode(done.wire()))
        sources = self._sources(batch)
        if not self.adapter.collections.can_join(sources):
            refusal = refusals.no_transactions(self.adapter.collections, sources)
            return self._failures.refused(refusal.error, scope, brief=True)
        waiting = await self._waiting(batch, scope)
        if waiting:
            return Encoded(encode(not_begun(batch, waiting, self._limits).wire()))
        return await self._together(batch, scope._replace(unsettled=[]))

    def _sources(self, batch: Batch) -> list[str]:
        """The sources whose operations are called in a batch."""
        called = (self.introspector.operations.get(name) for name in names_in(batch))
        return list(dict.fromkeys(one.source for one in called if one is not None and one.source))

    async def _together(self, batch: Batch, scope: Scope) -> Encoded:
        """One transaction. What became of its operations is written down once it is known for all of them."""
        kept = False
        try:
            perform = partial(self._perform_raw, scope)
            transaction = self.adapter.collections.transaction(self._sources(batch))
            done = await run_together(batch, perform, self._limits, transaction)
            kept = all(item.succeeded for item in done.items)
        except AqlError as error:
            return self._failures.refused(error.error, scope, brief=True)
        except BaseException as error:  # what a database says as all of it is to be kept
            if is_interruption(error):
                raise
            return self._failures.broken(error, scope, None, Request("batch", {}, {}), brief=True)
        finally:
            for settled in scope.unsettled or ():
                await settled(kept)
        return Encoded(encode(done.wire()))

    async def _waiting(self, batch: Batch, scope: Scope) -> dict[int, Encoded]:
        """The operations of a transaction that must be confirmed first. All are asked for before any token is used."""
        waiting: dict[int, Encoded] = {}
        for index, raw in enumerate(batch.items if self.gatekeeper else ()):
            encoded = await self._demanded(raw, scope)
            if encoded is not None:
                waiting[index] = encoded
        return waiting

    async def _demanded(self, raw: object, scope: Scope) -> Encoded | None:
        """What is answered for an operation that lacks its confirmation. Nothing of it runs."""
        try:
            request = request_from(raw, self._limits)
            call = self._validate(self._route(request, scope), scope, quietly=True)
        except AqlError:
            return None  # it will fail by itself, and with it the transaction
        if self.gatekeeper is None or not self._is_guarded(call, scope):
            return None
        try:
            error = await self.gatekeeper.demand(ask_of(call, scope), partial(self._affected_rows, call, scope))
        except BaseException as broken:  # without its state the gatekeeper lets nothing pass
            if is_interruption(broken):
                raise
            return self._failures.broken(broken, scope, call.operation, request)
        return self._failures.refused(error.error, scope, call.operation, request) if error else None

    async def _perform_raw(self, scope: Scope, raw: object) -> Encoded:
        try:
            request = request_from(raw, self._limits)
        except AqlError as error:
            return self._failures.refused(error.error, scope)
        return await self._perform(scope, request)

    async def _perform(self, scope: Scope, request: Request) -> Encoded:
        """One operation: route, validate, gate, run, shape, encode."""
        operation = None
        try:
            routed = self._route(request, scope)
            operation = routed.operation
            call = self._validate(routed, scope)
            permitted = await self._permit(call, scope)
            answering = partial(self._answered, permitted, scope)
            if self.gatekeeper is not None and permitted.admission is not None:
                return await settled(self.gatekeeper, permitted.admission, scope, answering)
            return await answering()
        except AqlError as error:
            return self._failures.refused(error.error, scope, operation, request)
        except BaseException as error:  # whatever a handler raises, the answer is safe
            if is_interruption(error):
                raise
            return self._failures.broken(error, scope, operation, request)

    async def _answered(self, permitted: Permitted, scope: Scope) -> Encoded:
        try:
            outcome = await self._run(permitted, scope)
        except AqlError as error:
            if self.gatekeeper is not None:
                respect(self.gatekeeper, permitted.call.operation, error.error)
            raise
        if self._tell.is_heard and outcome.duration_ms is not None:
            self._tell(events.Executed(*about(scope), outcome.call.operation.name, outcome.duration_ms))
        outcome, attachments = detached(outcome, scope)
        return self._encode(shape(outcome, scope), outcome, attachments)

    def _route(self, request: Request, scope: Scope) -> Routed:
        """The operation, called through the endpoint that it belongs to (Spec 6.2)."""
        operation = self._operations.get(request.operation)
        if operation is None:
            missing = [part.name for part in self.adapter.parts() if part.is_missing]
            raise refusals.unknown_operation(request.operation, list(self._operations), missing)
        if scope.endpoint is not None:
            expected = self._families[operation.name]
            if expected != scope.endpoint:
                raise refusals.wrong_endpoint(operation, expected, scope.endpoint, self.options.exposure)
        return Routed(request, operation)

    def _validate(self, routed: Routed, scope: Scope, *, quietly: bool = False) -> Call:
        """The parameters, typed and defaulted (Spec 4.2 to 4.6); what is for the gate alone is taken out."""
        request, operation = routed
        params, controls = request.params, NO_CONTROLS
        if self.gatekeeper is not None:
            params, controls = take_controls(request, operation, self.gatekeeper)
        values, given, warnings = validate(operation, params, self._limits, strict=self.options.strict)
        if self._tell.is_heard and not quietly:
            shown = masked(operation, given)
            self._tell(events.Validated(*about(scope), operation.name, operation.category, shown))
        dry_run = not operation.category.read_only and values.get(DRY_RUN) is True
        if operation.tries_nothing:
            del values[DRY_RUN]
        if operation.tabular:
            del values[FORMAT]
        return Call(operation, values, given, request.warnings + warnings, controls, dry_run)

    def _is_guarded(self, call: Call, scope: Scope) -> bool:
        """Whether a call must be asked for; one that nothing concerns passes without waiting."""
        name = call.operation.name
        if self.gatekeeper is None or name not in self.gatekeeper.operations:
            return False
        if call.controls is not NO_CONTROLS or not self.gatekeeper.is_open(name):
            return True
        return self.gatekeeper.oversees(call.operation, scope.caller, scope.session)

    async def _permit(self, call: Call, scope: Scope) -> Permitted:
        """The gatekeeper's decision."""
        asked = call
        if self.executions is not None and call.operation.repeats:
            asked = await repeated(call, self.executions, self._operations, self._limits, scope)
        repeated_by = None if asked is call else call.operation
        is_guarded = self._is_guarded(asked, scope) or (repeated_by is not None and self._is_guarded(call, scope))
        if self.gatekeeper is None or not is_guarded:
            self._tell_decision(call, scope, Effect.ALLOW)
            return Permitted(call)
        ask = ask_of(asked, scope, repeated_by)
        try:
            admission = await self.gatekeeper.admit(ask, partial(self._affected_rows, asked, scope))
        except AqlError as error:
            asks = error.error.code == "CONFIRMATION_REQUIRED"
            rule = str((error.error.details or {}).get("rule", ""))
            self._tell_decision(call, scope, Effect.CONFIRM if asks else Effect.DENY, rule)
            raise
        self._tell_decision(call, scope, Effect.ALLOW, admission.judgement.decision.rule)
        return Permitted(call._replace(warnings=call.warnings + admission.warnings), admission)

    def _tell_decision(self, call: Call, scope: Scope, effect: Effect, rule: str = "") -> None:
        if self._tell.is_heard:
            self._tell(events.Decided(*about(scope), call.operation.name, effect.value, rule))

    async def _affected_rows(self, call: Call, scope: Scope) -> int | None:
        """How many rows a call would affect, if its function can try and tells."""
        if call.operation.tries_nothing or call.operation.parameter(DRY_RUN) is None:
            return None
        trial = call._replace(values={**call.values, DRY_RUN: True}, dry_run=True)
        data = (await self._run(Permitted(trial), scope)).data
        affected = data.get("affected") if isinstance(data, Mapping) else None
        return affected if isinstance(affected, int) else None

    async def _run(self, permitted: Permitted, scope: Scope) -> Outcome:
        """The handler, when it is this call's turn (Spec 9.3)."""
        call = permitted.call
        if call.dry_run and call.operation.tries_nothing:
            return Outcome(call, what_would_happen(call))
        if self.executions is not None and call.operation.background is not None and not call.dry_run:
            return await begun(permitted, self.executions, scope)
        key = self._turns.key(call.operation, call.values)
        if key is None:
            return await execute(call, scope)
        await self._turns.take(key)
        try:
            return await execute(call, scope)
        finally:
            self._turns.release(key)

    def _encode(self, success: Success, outcome: Outcome, attachments: tuple[Part, ...]) -> Encoded:
        """One JSON text, never larger than the limit (Spec 4.7.5); what is sent beside it counts too."""
        raw = encode(success.wire())
        size = len(raw) + (len(encode(attachments)) if attachments else 0)
        if size > self._limits.max_response_size:
            raise refusals.oversized_answer(outcome.call.operation, size, self._limits)
        return Encoded(raw, execution=outcome.execution, attachments=attachments)

    def _tell_received(self, scope: Scope, operations: int, request: Request | None = None) -> None:
        if self._tell.is_heard:
            labels = request.metadata if request else {}
            lasting = scope.session.lasting
            self._tell(events.Received(*about(scope), scope.endpoint, operations, labels, lasting))
