"""One source, kept open: opened, tried again when that fails, and followed as it changes."""

import logging
import math
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

import anyio

from headgate.adapter.adapter import Adapter
from headgate.adapter.parts import Part, PartState
from headgate.protocol.adapter_errors import AdapterError
from headgate.safety.policy.rules import Policy
from headgate.sources.gate.assembly import Piece
from headgate.sources.gate.specs import SourceSpec
from headgate.sources.source import Source

__all__ = ["Keeper"]

_LOG: Final = logging.getLogger("headgate")
_FIRST_WAIT: Final = 1.0
_LONGEST_WAIT: Final = 60.0
_CLOSING_SECONDS: Final = 10.0


class Keeper:
    """Keeps one source. Whatever becomes of it is told by ``state``, ``problem`` and ``adapter``, and by ``changed``.

    It opens, follows and closes the source in one task, ``run``, since a source may hold what belongs to its task.
    """

    def __init__(
        self, spec: SourceSpec, source: Source, patience: float, changed: Callable[[], None], *, quiet: bool = False
    ) -> None:
        self.spec = spec
        self.adapter: Adapter | None = None
        self.state = PartState.DISABLED if spec.disabled else PartState.STARTING
        self.problem = ""
        self._refusal = ""
        self._source = source
        self._patience = spec.start_timeout or patience
        self._changed = changed
        self._is_quiet = quiet
        self._wait = math.inf
        self._scope = anyio.CancelScope()
        self.settled = anyio.Event()
        """Set once it is known whether it opens."""
        self.ended = anyio.Event()
        if spec.disabled:
            self.settled.set()

    @property
    def piece(self) -> Piece | None:
        """What it has to serve, if it has ever been open."""
        return Piece(self.spec.name, self.adapter, self.spec.prefix) if self.adapter else None

    @property
    def policy(self) -> Policy | None:
        """What its operator rules of it, together with what it demands of itself."""
        demanded = getattr(self._source, "policy", None)
        if not isinstance(demanded, Policy):
            return self.spec.policy
        return self.spec.policy.beside(demanded) if self.spec.policy else demanded

    def part(self, operations: int) -> Part:
        """How it fares, with the number of operations that are served of it."""
        adapter = self.adapter
        return Part(
            name=self.spec.name,
            kind=self.spec.kind.value,
            state=PartState.FAILED if self._refusal else self.state,
            operations=operations,
            prefix=self.spec.prefix or "",
            description=adapter.description if adapter else "",
            problem=self._refusal or self.problem,
            trust=adapter.trust if adapter else None,
        )

    def judge(self, refusal: str) -> None:
        """Note why it cannot be served beside the others although it is open, or nothing if it can."""
        if refusal and refusal != self._refusal:
            _LOG.error("source '%s' is left out: %s", self.spec.name, refusal)
        self._refusal = refusal

    def speak(self, *, goes_on: bool) -> None:
        """Tell what failed while nothing was told, and from now on whatever fails.

        Where nothing ``goes_on``, it is not said that it is tried again.
        """
        self._is_quiet = False
        if self.state is PartState.FAILED:
            self._tell_failure(goes_on=goes_on)

    def stop(self) -> None:
        """Have it closed; ``ended`` tells when it is."""
        self._scope.cancel()

    async def run(self) -> None:
        """Keep the source until it is to stop."""
        try:
            with self._scope:
                if self.spec.problem and not self.spec.disabled:
                    self._fail(self.spec.problem, math.inf)
                elif not self.spec.disabled:
                    await self._keep()
                await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(_CLOSING_SECONDS):
                await self._close()
            self.ended.set()

    async def _close(self) -> None:
        try:
            await self._source.close()
        except Exception:  # noqa: BLE001  (what one source does is nothing to the others)
            _LOG.exception("source '%s' could not be closed properly", self.spec.name)

    async def _keep(self) -> None:
        wait = _FIRST_WAIT
        while True:
            problem = await self._open()
            if not problem:
                wait = _FIRST_WAIT
                problem = await self._follow()
            self._fail(problem, wait)
            await anyio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)

    async def _open(self) -> str:
        """Open it; why it cannot be, or nothing if it is open now."""
        try:
            with anyio.fail_after(self._patience):
                self._take(await self._source.open())
        except AdapterError as error:
            return str(error)
        except TimeoutError:
            return f"it did not answer within {self._patience:g} s"
        except Exception:  # noqa: BLE001  (what one source does is nothing to the others)
            return self._unexpected()
        return ""

    async def _follow(self) -> str:
        """Take each of its versions; why there are no more."""
        try:
            async with aclosing(self._source.changes()) as versions:  # type: ignore[type-var]
                async for adapter in versions:
                    self._take(adapter)
        except AdapterError as error:
            return str(error)
        except Exception:  # noqa: BLE001  (what one source does is nothing to the others)
            return self._unexpected()
        await anyio.sleep_forever()  # it has no more versions, and works on as it is
        return ""

    def _unexpected(self) -> str:
        _LOG.exception("source '%s' failed unexpectedly", self.spec.name)
        return "it failed unexpectedly; the log has the reason"

    def _take(self, adapter: Adapter) -> None:
        self.adapter, self.state, self.problem = adapter, PartState.READY, ""
        self.settled.set()
        self._changed()

    def _fail(self, problem: str, wait: float) -> None:
        """Tell why it is not open; what it has served before goes on to answer, as far as it can."""
        is_news = problem != self.problem
        self.state, self.problem, self._wait = PartState.FAILED, problem, wait
        self.settled.set()
        if is_news:
            if not self._is_quiet:
                self._tell_failure(goes_on=True)
            self._changed()

    def _tell_failure(self, *, goes_on: bool) -> None:
        again = f"; it is tried again in {self._wait:g} s" if goes_on and self._wait < math.inf else ""
        problem = self.problem.rstrip(".") if again else self.problem
        _LOG.error("source '%s' is not ready: %s%s", self.spec.name, problem, again)
