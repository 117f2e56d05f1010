"""``headgate safety``: the safety loop by itself, for agents whose tools are elsewhere."""

from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from headgate._version import __version__
from headgate.adapter.adapter import Adapter
from headgate.cli.entrances import Entrance, Serving
from headgate.cli.exits import OK
from headgate.cli.gates import offered_alone
from headgate.cli.guards import Configured, Guarding
from headgate.cli.output import guarded, print_line
from headgate.cli.persons import Persons
from headgate.cli.running import Http, LogLevel, Running
from headgate.protocol.autonomy import LoopMode
from headgate.protocol.profiles import Mode, tool_name
from headgate.server.settings import Settings

__all__ = ["safety"]

_NAME: Final = "safety"
_DESCRIPTION: Final = "Supervises agents: each action is reported before it is taken, and may be paused or stopped."


def safety(
    *,
    instructions: Annotated[
        bool, Parameter(help="Print what to put into an agent's prompt, and end.", negative=(), show_default=False)
    ] = False,
    http: Http = None,
    log_level: LogLevel = "info",
    serving: Serving = Serving(),  # noqa: B008  (frozen)
    entrance: Entrance = Entrance(),  # noqa: B008  (frozen)
    guarding: Guarding = Guarding(),  # noqa: B008  (frozen)
    persons: Persons = Persons(),  # noqa: B008  (frozen)
) -> int:
    """Serve the safety loop alone: introspect and its six operations, for agents whose tools are elsewhere.

    It enforces unless --safety-loop or the policy says otherwise.
    """

    async def work() -> int:
        def settings_of(**more: Any) -> Settings:
            chosen = guarding.settings(Configured(None), **more)
            return chosen if chosen.loop_mode else chosen.supervising(LoopMode.ENFORCING)

        if instructions:
            print_line(_instructions(settings_of(**serving.chosen())))
            return OK
        running = Running(log_level=log_level, http=http, serving=serving, entrance=entrance, persons=persons)
        return await running.run(lambda: offered_alone(_nothing_else), settings_of)

    return guarded(work, is_starting=True)


def _nothing_else() -> Adapter:
    return Adapter(_NAME, version=__version__, description=_DESCRIPTION)


def _instructions(settings: Settings) -> str:
    """The page for an agent, with the tools as this server names them."""
    text = Path(__file__).with_name("instructions.md").read_text("utf-8")
    single = settings.mode is Mode.SINGLE
    create, execute = (tool_name(None if single else family, settings.prefix) for family in ("create", "execute"))
    tools = " and ".join(f"`{tool}`" for tool in dict.fromkeys((create, execute)))
    return text.replace("{tools}", tools).replace("{create}", create).replace("{execute}", execute).rstrip("\n")
