"""Which rows of the audit are shown: options, and the search that they make."""

from dataclasses import asdict, dataclass
from typing import Annotated

from cyclopts import Parameter

from headgate.safety.searching import EVENTS, Matches, Search, SearchError
from headgate.server.settings import SettingError

__all__ = ["Filters"]


def _filter(help_text: str) -> Parameter:
    return Parameter(help=help_text, show_default=False)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Filters:
    """Rows that fit all of what is said are shown."""

    operation: Annotated[str | None, _filter("Operations whose name fits, such as 'delete_*'.")] = None
    adapter: Annotated[str | None, _filter("Of one adapter.")] = None
    caller: Annotated[str | None, _filter("Of one caller.")] = None
    session: Annotated[str | None, _filter("Of one session.")] = None
    request: Annotated[str | None, _filter("Of one request, by its id.")] = None
    agent: Annotated[str | None, _filter("Of one agent in the safety loop.")] = None
    event: Annotated[str | None, _filter(f"With one of these events, comma-separated: {', '.join(EVENTS)}.")] = None
    decision: Annotated[str | None, _filter("With one of these decisions: allow, confirm, deny.")] = None
    code: Annotated[str | None, _filter("With an error code that fits, such as 'TOKEN_*'.")] = None
    since: Annotated[str | None, _filter("From a time on: 2h, 7d, or ISO 8601 (UTC unless it says otherwise).")] = None
    until: Annotated[str | None, _filter("Before a time, written in the same way.")] = None

    def matches(self, now: float) -> Matches:
        """Whether an entry fits; a SettingError if what was said means nothing."""
        try:
            return Search(**asdict(self)).matches(now)
        except SearchError as error:
            raise SettingError(f"--{error.about}: {error}") from None
