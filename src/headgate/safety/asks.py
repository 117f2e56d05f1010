"""What a gate is asked: one call that is right in form, and who sends it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from headgate.adapter.context import Caller, Session
from headgate.adapter.operations import Operation
from headgate.protocol.canonical import canonical

__all__ = ["Ask", "identity"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A call with its parameters as they were given, and the tokens that came with it."""

    operation: Operation
    params: Mapping[str, object]
    caller: Caller
    session: Session
    request_id: str
    token: str | None = None
    quota_token: str | None = None
    dry_run: bool = False
    """Whether it only asks what would happen, and so needs no confirmation."""
    values: Mapping[str, object] = field(default_factory=dict)
    """The parameters that the handler gets in another form, in that form."""
    repeated_by: Operation | None = None
    """The operation that was really called, where it runs this one again: rules for either count."""
    withholds_tokens: bool = False
    """Whether no token may be answered, because the user would be asked if the call came alone."""

    @property
    def session_id(self) -> str | None:
        """The session, if there is one that lasts longer than this request and says more than who calls."""
        return self.session.id if self.session.lasting and not self.session.is_callers_own else None


def identity(caller: Caller) -> str:
    """Who calls, as one text that no two callers share."""
    if not caller.authenticated:
        return "anonymous"
    return canonical([caller.subject, caller.client_id]).decode()
