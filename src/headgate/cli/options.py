"""How options of commands are declared."""

from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias

from cyclopts import CoercionError, Parameter, Token

__all__ = ["WHOLE", "AsJson", "number_option", "option"]

AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", help="Print JSON.", negative=(), show_default=False)]


def option(help_text: str, variable: str) -> Parameter:
    """An option that a variable of the environment may stand in for."""
    return Parameter(help=help_text, env_var=variable, negative=(), show_default=False)


def _whole(_kind: object, tokens: Sequence[Token]) -> int:
    try:
        return int(tokens[0].value)
    except ValueError:
        raise CoercionError(token=tokens[0], target_type=int) from None


WHOLE: Final = Parameter(converter=_whole)
"""Stands beside what else is said of a number: a fraction would be rounded otherwise, and nobody told."""


def number_option(help_text: str, variable: str) -> Parameter:
    """An option that is a whole number."""
    return Parameter.combine(option(help_text, variable), WHOLE)
