"""How options of commands are declared."""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from cyclopts import CoercionError, Parameter, Token

__all__ = ["AsJson", "number_option", "option"]

AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", help="Print JSON.", negative=(), show_default=False)]


def option(help_text: str, variable: str) -> Parameter:
    """An option that a variable of the environment may stand in for."""
    return Parameter(help=help_text, env_var=variable, negative=(), show_default=False)


def number_option(help_text: str, variable: str) -> Parameter:
    """The same for a whole number; a fraction would be rounded otherwise, and nobody told."""
    plain = option(help_text, variable)
    return Parameter.combine(plain, Parameter(converter=_whole))


def _whole(_kind: object, tokens: Sequence[Token]) -> int:
    try:
        return int(tokens[0].value)
    except ValueError:
        raise CoercionError(token=tokens[0], target_type=int) from None
