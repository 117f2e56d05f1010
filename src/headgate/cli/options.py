"""How options of commands are declared."""

from cyclopts import Parameter

__all__ = ["option"]


def option(help_text: str, variable: str) -> Parameter:
    """An option that a variable of the environment may stand in for."""
    return Parameter(help=help_text, env_var=variable, negative=(), show_default=False)
