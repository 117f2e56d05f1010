"""A believable hour of a bookshop with agents, for pictures: all of it through MCP, on a server whose clock is set."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from random import Random

from tests.browser.clocks import Clock
from tests.browser.consoles import Consoled, agent_of, serve_console
from tests.spec.wires import Aql, data_of, error_of

__all__ = ["bookshop_console", "office_console", "play", "work"]

POLICY = """
[[rule]]
name = "a person approves deletions"
decision = "confirm"
confirm = "person"
categories = ["DELETE"]
reason = "What is deleted is gone"

[[rule]]
name = "a person approves prices"
decision = "confirm"
confirm = "person"
operations = ["update_book"]
when = { "input.price" = { gt = 0 } }
reason = "Prices are what customers have been told"

[[rule]]
name = "customers are not for agents"
decision = "deny"
operations = ["delete_customer", "update_customer"]
reason = "Only the office changes what customers have told us"

[confirmation]
elicit = false

[autonomy]
start = "free"
"""

CALLERS = ("stock-keeper", "newsletter", "catalogue", "night-watch")


@contextmanager
def bookshop_console(folder: Path) -> Iterator[tuple[Consoled, Clock]]:
    """The demo's bookshop with its console, and the clock that it goes by."""
    clock = Clock(folder)
    env = {**clock.env, "XDG_CACHE_HOME": str(folder)}
    with serve_console(folder, None, POLICY, callers=CALLERS, env=env) as served:
        yield served, clock


@asynccontextmanager
async def _agents(served: Consoled) -> AsyncIterator[dict[str, Aql]]:
    async with AsyncExitStack() as stack:
        yield {name: await stack.enter_async_context(agent_of(served, name)) for name in CALLERS}


async def _report(agent: Aql, name: str, hint: str, done: str = "", *, goes_on: bool = True) -> None:
    """One step of an agent, which goes on or is held up."""
    before = {"step_description": done, "outcome": "success"} if done else {}
    envelope = await agent.create("record_execution_step", element_name=name, next_action_hint=hint, **before)
    assert data_of(envelope)["directive"]["continue"] is goes_on, envelope


async def _ask(agent: Aql, family: str, operation: str, **params: object) -> str:
    """Ask for what a person must approve; the id of what waits now."""
    asked = error_of(await agent.send(family, operation, params), "CONFIRMATION_REQUIRED")
    return str(asked["details"]["approval_id"])


class Hour:
    """What happens in the hour, by the minutes that are left of it."""

    def __init__(self, agents: dict[str, Aql], clock: Clock) -> None:
        self.agents = agents
        self.clock = clock
        self.asked: dict[str, str] = {}
        self._chance = Random(7)  # noqa: S311  (nothing secret)

    async def play(self) -> None:
        for left in range(58, -1, -1):
            self.clock.set(-60.0 * left - 5)
            await self._trade(left)
            happening = getattr(self, f"_at_{left}", None)
            if happening:
                await happening()
        self.clock.set(0)

    async def _trade(self, left: int) -> None:
        """What the shop's programs read all the time, sometimes in vain."""
        agent = self.agents["night-watch"]
        busy = 3 + (58 - left) // 9 + (8 if 25 <= left <= 33 else 0)
        for _ in range(self._chance.randint(busy // 2, busy)):
            match self._chance.randint(0, 9):
                case 0:
                    await agent.read("get_book", id=10**6)
                case 1 | 2:
                    await agent.read("search_books", query="lighthouse", first=5)
                case 3:
                    await agent.read("count_orders")
                case _:
                    await agent.read("get_book", id=self._chance.randint(1, 900))

    async def _at_55(self) -> None:
        agent = self.agents["night-watch"]
        data_of(
            await agent.execute(
                "execute_agent", element_name="night-watch", task="Tell the office how many were sold yesterday"
            )
        )
        await _report(agent, "night-watch", "list_monthly_sales of yesterday")

    async def _at_52(self) -> None:
        agent = self.agents["night-watch"]
        await _report(agent, "night-watch", "get_book for each of the ten bestsellers", "Read list_monthly_sales")
        data_of(await agent.execute("complete_execution", element_name="night-watch", summary="412 books were sold"))

    async def _at_41(self) -> None:
        agent = self.agents["stock-keeper"]
        task = "Keep ten copies or more of every bestseller in stock"
        data_of(await agent.execute("execute_agent", element_name="stock-keeper", task=task))
        await _report(agent, "stock-keeper", "list_bestsellers to see which books sell")
        await _report(agent, "stock-keeper", "list_books with fewer than ten copies in stock", "Read 40 bestsellers")

    async def _at_33(self) -> None:
        agent = self.agents["stock-keeper"]
        await _report(agent, "stock-keeper", "update_book 17 to set its stock to 24", "Found 3 books to order")
        data_of(await agent.update("update_book", id=17, input={"stock": 24}))
        await _report(agent, "stock-keeper", "update_book 212 to set its stock to 12", "Changed book 17")
        data_of(await agent.update("update_book", id=212, input={"stock": 12}))

    async def _at_26(self) -> None:
        agent = self.agents["newsletter"]
        task = "Write the November newsletter and hand it to the office"
        data_of(await agent.execute("execute_agent", element_name="newsletter", task=task))
        await _report(agent, "newsletter", "list_books added since October, newest first")

    async def _at_22(self) -> None:
        agent = self.agents["newsletter"]
        await _report(agent, "newsletter", "write drafts/november.md with six new books", "Read 31 books")
        error_of(await agent.update("update_customer", id=40, input={"city": "Graz"}), "PERMISSION_DENIED")

    async def _at_18(self) -> None:
        agent = self.agents["catalogue"]
        task = "Find authors that are listed twice, and put them together"
        data_of(await agent.execute("execute_agent", element_name="catalogue", task=task))
        await _report(agent, "catalogue", "search_authors for names that differ in accents only")

    async def _at_14(self) -> None:
        agent = self.agents["catalogue"]
        await _report(agent, "catalogue", "list_books of authors 88 and 319", "Found two authors that are one")
        self.asked["author"] = await _ask(agent, "delete", "delete_author", id=319)

    async def _at_11(self) -> None:
        agent = self.agents["stock-keeper"]
        await _report(agent, "stock-keeper", "update_book 212 for the new edition", "Changed book 212")
        change = {"price": "9.90", "stock": 40, "summary": "The last copies of the second edition."}
        self.asked["price"] = await _ask(agent, "update", "update_book", id=212, input=change)

    async def _at_8(self) -> None:
        agent = self.agents["night-watch"]
        self.asked["review"] = await _ask(agent, "delete", "delete_review", id=71)
        self.asked["line"] = await _ask(agent, "delete", "delete_order_line", order_id=12, line=1)

    async def _at_6(self) -> None:
        agent = self.agents["newsletter"]
        await _report(agent, "newsletter", "read drafts/november.md once more for mistakes", "Wrote the draft")
        hint = "send drafts/november.md to 212 subscribers"
        await _report(agent, "newsletter", hint, "Corrected two lines", goes_on=False)

    async def _at_3(self) -> None:
        agent = self.agents["catalogue"]
        hint = "run psql shop -c 'DROP TABLE authors CASCADE' to make room for the merged list"
        await _report(agent, "catalogue", hint, "Read 14 books", goes_on=False)


OFFICE = f"{Path(__file__).with_name('office.py')}:office"


@contextmanager
def office_console(folder: Path) -> Iterator[tuple[Consoled, Clock]]:
    """The office of the bookshop, whose work takes long, with its console."""
    clock = Clock(folder)
    with serve_console(folder, OFFICE, '[autonomy]\nstart = "free"\n', callers=CALLERS, env=clock.env) as served:
        yield served, clock


async def work(served: Consoled, clock: Clock) -> dict[str, str]:
    """Let the office begin what it has to do; the ids of it."""
    begun: dict[str, str] = {}

    async def begin(agent: Aql, minutes: float, operation: str, **params: object) -> None:
        clock.set(-60.0 * minutes)
        begun[operation] = data_of(await agent.execute(operation, **params))["execution_id"]
        answer = await agent.read("get_execution", execution_id=begun[operation], wait_seconds=0.5)
        assert data_of(answer)["status"] in ("pending", "running", "completed", "failed")

    async with _agents(served) as agents:
        await begin(agents["stock-keeper"], 190, "execute_sales_report", year=2025)
        await begin(agents["night-watch"], 128, "execute_backup", to="tape 7")
        data_of(await agents["night-watch"].execute("cancel_execution", execution_id=begun["execute_backup"]))
        await begin(agents["stock-keeper"], 55, "execute_invoices", month="2026-10")
        await begin(agents["catalogue"], 22, "execute_catalogue", publisher="Harbour", titles=410, after=271)
        await begin(agents["stock-keeper"], 9, "execute_import", customer="Lindgren", orders=96)
        await begin(agents["stock-keeper"], 4, "execute_import", customer="Okafor", orders=30)
        await begin(agents["newsletter"], 1, "execute_newsletter", subscribers=212)
        clock.set(0)
    return begun


async def play(served: Consoled, clock: Clock) -> dict[str, str]:
    """Let the hour pass; the ids of what waits for a person in the end."""
    async with _agents(served) as agents:
        hour = Hour(agents, clock)
        await hour.play()
        return hour.asked
