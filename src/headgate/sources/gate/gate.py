"""The gate: several sources kept open side by side, and one adapter of all that is ready."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
from anyio.abc import TaskGroup

from headgate.adapter.adapter import Adapter
from headgate.adapter.parts import Part, PartState
from headgate.protocol.adapter_errors import AdapterError
from headgate.safety.policy.rules import Policy
from headgate.sources.gate.assembly import Collision, assembled
from headgate.sources.gate.keeping import Keeper
from headgate.sources.gate.specs import GatePlan, SourceSpec
from headgate.sources.source import Source

__all__ = ["Gate", "opened_gate"]


class Gate:
    """All sources of a plan. What one of them does, or fails to do, is nothing to the others."""

    def __init__(
        self,
        plan: GatePlan,
        make: Callable[[SourceSpec], Source],
        tasks: TaskGroup,
        patience: float,
        *,
        quiet: bool = False,
    ) -> None:
        self.plan = plan
        self._make = make
        self._tasks = tasks
        self._patience = patience
        self._is_quiet = quiet
        self._keepers: dict[str, Keeper] = {}
        self._news = anyio.Event()
        self._counts: dict[str, int] = {}
        for spec in plan.sources:
            self._begin(spec)

    def _begin(self, spec: SourceSpec) -> None:
        try:
            source = self._make(spec)
        except AdapterError as error:
            spec = replace(spec, problem=str(error))
            source = self._make(spec)
        keeper = Keeper(spec, source, self._patience, self._tell, quiet=self._is_quiet)
        self._keepers[spec.name] = keeper
        self._tasks.start_soon(keeper.run, name=f"source {spec.name}")

    def _tell(self) -> None:
        self._news.set()

    def speak(self, *, goes_on: bool) -> None:
        """Tell which sources have failed, once, and from now on whatever fails; see ``Keeper.speak``."""
        self._is_quiet = False
        for keeper in self._keepers.values():
            keeper.speak(goes_on=goes_on)

    def parts(self) -> tuple[Part, ...]:
        """How each source fares now."""
        return tuple(keeper.part(self._counts.get(name, 0)) for name, keeper in self._keepers.items())

    def policies(self) -> tuple[tuple[str, Policy], ...]:
        """What is ruled of single sources, by themselves or by their operator."""
        found = ((name, keeper.policy) for name, keeper in self._keepers.items())
        return tuple((name, policy) for name, policy in found if policy is not None)

    def waited_for(self) -> list[str]:
        """The sources of which it is not known yet whether they open."""
        return [name for name, keeper in self._keepers.items() if not keeper.settled.is_set()]

    async def settled(self) -> None:
        """Wait until it is known of every source whether it opens."""
        for keeper in list(self._keepers.values()):
            await keeper.settled.wait()

    async def next_settled(self) -> None:
        """Wait until it is known of one more source whether it opens; for ever if it is known of all."""
        waiting = [keeper for keeper in self._keepers.values() if not keeper.settled.is_set()]
        async with anyio.create_task_group() as tasks:

            async def wait(keeper: Keeper) -> None:
                await keeper.settled.wait()
                tasks.cancel_scope.cancel()

            for keeper in waiting:
                tasks.start_soon(wait, keeper)
            await anyio.sleep_forever()

    async def news(self) -> None:
        """Wait until some source has changed."""
        await self._news.wait()

    def adapter(self) -> Adapter:
        """One adapter of all that is ready now. A source that cannot be served beside the others is left out."""
        self._news = anyio.Event()
        refusals: dict[str, str] = {}
        while True:
            pieces = [piece for name, one in self._keepers.items() if name not in refusals and (piece := one.piece)]
            try:
                whole = assembled(self.plan.name, pieces)
                break
            except Collision as collision:
                refusals[collision.source] = str(collision)
        for name, keeper in self._keepers.items():
            keeper.judge(refusals.get(name, ""))
        self._count(whole)
        whole.parts = self.parts
        return whole

    def _count(self, whole: Adapter) -> None:
        self._counts = {}
        for operation in whole.operations.values():
            self._counts[operation.source] = self._counts.get(operation.source, 0) + 1

    async def versions(self) -> AsyncIterator[Adapter]:
        """One adapter after another, as sources change, for ever."""
        while True:
            await self.news()
            yield self.adapter()

    def stop(self) -> None:
        """Have every source closed."""
        for keeper in self._keepers.values():
            keeper.stop()

    async def take(self, plan: GatePlan) -> None:
        """Go over to another plan. Sources that are the same in both go on as they are."""
        kept = {spec.name: self._keepers[spec.name] for spec in plan.sources if self._has(spec)}
        over = [keeper for name, keeper in self._keepers.items() if kept.get(name) is not keeper]
        for keeper in over:
            keeper.stop()
        for keeper in over:
            await keeper.ended.wait()  # a new one may need what an old one holds
        self.plan, self._keepers = plan, {}
        for spec in plan.sources:
            if spec.name in kept:
                self._keepers[spec.name] = kept[spec.name]
            else:
                self._begin(spec)
        self._tell()

    def _has(self, spec: SourceSpec) -> bool:
        keeper = self._keepers.get(spec.name)
        return keeper is not None and keeper.spec == spec

    def failures(self) -> list[str]:
        """Why sources are not ready, each in a sentence."""
        return [f"'{part.name}': {part.problem}" for part in self.parts() if part.state is PartState.FAILED]

    def refuse_if_nothing_opens(self) -> None:
        """Raise an AdapterError if every source has failed already."""
        parts = [part for part in self.parts() if part.state is not PartState.DISABLED]
        if not parts:
            raise AdapterError(f"There is no source to serve{': all of them are disabled' if self.parts() else ''}")
        if all(part.state is PartState.FAILED for part in parts):
            raise AdapterError(_all(self.failures()))


def _all(failures: Sequence[str]) -> str:
    if len(failures) == 1:
        return f"Source {failures[0]}"
    return "No source could be opened:\n" + "\n".join(f"  {one}" for one in failures)


@asynccontextmanager
async def opened_gate(
    plan: GatePlan, make: Callable[[SourceSpec], Source], *, patience: float, quiet: bool = False
) -> AsyncIterator[Gate]:
    """The sources of a plan, each opened by itself for at most so many seconds, and closed in the end.

    A ``quiet`` one tells of no failures until it is to speak.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        gate = Gate(plan, make, tasks, patience, quiet=quiet)
        try:
            yield gate
        except Exception as error:  # noqa: BLE001  (raised again, outside of the group, which would wrap it)
            failure = error
        finally:
            gate.stop()
    if failure is not None:
        raise failure
