"""The command line. Each command is a module of its own, imported only when it is used."""

import sys

from cyclopts import App, CycloptsError

from headgate._version import __version__
from headgate.cli.exits import USAGE

__all__ = ["app", "main"]

app = App(
    name="headgate",
    help="Every tool an agent needs behind one to five MCP tools. Speaks MCP-AQL 1.0.0-draft.",
    version=__version__,
    help_format="plaintext",
)
app.command("headgate.cli.serve:serve", name="serve", help="Serve an adapter over stdio, or over HTTP with --http.")
app.command("headgate.cli.call:call", name="call", help="Call one operation of an adapter or a running server.")
app.command("headgate.cli.ops:ops", name="ops", help="Show what an adapter or a running server offers.")
app.register_install_completion_command(help="Install completion for this shell (bash, zsh or fish).")


def main() -> None:
    """Run a command; whatever is wrong with its words is said in one line."""
    try:
        sys.exit(app(exit_on_error=False, print_error=False, result_action="return_int_as_exit_code_else_zero"))
    except CycloptsError as error:
        print(f"headgate: {_one_line(error)}", file=sys.stderr)  # noqa: T201
        sys.exit(USAGE)
    except KeyboardInterrupt:
        sys.exit(130)


def _one_line(error: CycloptsError) -> str:
    return " ".join(str(error).split())
