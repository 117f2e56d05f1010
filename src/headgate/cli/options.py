"""How options of commands are declared."""

from typing import Annotated, TypeAlias

from cyclopts import Parameter

__all__ = ["AsJson", "option"]

AsJson: TypeAlias = Annotated[bool, Parameter(name="--json", help="Print JSON.", negative=(), show_default=False)]


def option(help_text: str, variable: str) -> Parameter:
    """An option that a variable of the environment may stand in for."""
    return Parameter(help=help_text, env_var=variable, negative=(), show_default=False)
