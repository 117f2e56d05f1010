"""The command line. Each command is a module of its own, imported only when it is used."""

import errno
import io
import os
import re
import shlex
import sys

from cyclopts import App, CycloptsError, UnusedCliTokensError

from headgate._version import __version__
from headgate.cli import garbage
from headgate.cli.exits import FAILED, MISCONFIGURED, OK, USAGE

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
app.command("headgate.cli.review:review", name="review", help="Show what operations are taken for, and why.")
app.command("headgate.cli.export:export", name="export", help="Write what a source offers in a form for others.")
app.command("headgate.cli.tokens:tokens", name="tokens", help="Count what sources cost a model, and whether it pays.")
app.command("headgate.cli.check:check", name="check", help="Check whether any server keeps to MCP-AQL.")
app.command("headgate.cli.index:index", name="index", help="Make a text index for a collection of a database.")
app.command("headgate.cli.audit:audit", name="audit", help="Show the audit, verify it, or move old rows to a file.")
app.command("headgate.cli.approvals:approvals", name="approvals", help="See what waits for a person, and decide.")
app.command("headgate.cli.trust:trust", name="trust", help="See how far adapters are trusted, or change it.")
app.command("headgate.cli.policy:policy", name="policy", help="Try a policy, or check it against a source.")
app.command("headgate.cli.safety:safety", name="safety", help="Serve the safety loop alone, for agents of any tools.")
app.command("headgate.cli.agents:agents", name="agents", help="See what agents do under supervision; unblock or end.")
app.command("headgate.cli.verify:verify", name="verify", help="Release an agent with a verification code.")
app.command(
    "headgate.cli.executions:executions", name="executions", help="See how far long work is; cancel or retry it."
)
app.command("headgate.cli.worker:worker", name="worker", help="Run long executions from a shared queue.")
app.command("headgate.cli.watch:watch", name="watch", help="Show approvals and codes here as they come, and ask.")
app.command("headgate.cli.console:console", name="console", help="Open the operator's console over a server's state.")
app.register_install_completion_command(help="Install completion for this shell (bash, zsh or fish).")


def main() -> None:
    """Run a command; whatever is wrong with its words is said in one line."""
    garbage.put_off()
    _prepare_streams()
    try:
        words = _with_command(sys.argv[1:])
        _explain_in_full(words)
        code = app(
            words,
            exit_on_error=False,
            print_error=False,
            result_action="return_int_as_exit_code_else_zero",
        )
        sys.stdout.flush()
    except _NoCommandError:
        sys.stderr.write("headgate: '--' needs a command behind it, such as '-- npx -y some-server'\n")
        code = _misused(sys.argv[1:])
    except CycloptsError as error:
        sys.stderr.write(f"headgate: {_one_line(error)}\n")
        code = _misused(sys.argv[1:])
    except BrokenPipeError:  # whoever read our output has seen enough, such as head
        _write_nowhere()
        code = OK
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        _write_nowhere()
        sys.stderr.write(f"headgate: what was to be written does not fit: {error.strerror}\n")
        code = FAILED
    sys.exit(code)


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def _write_nowhere() -> None:
    """Have Python not try once more at its end to write what it could not."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _misused(words: list[str]) -> int:
    """The exit code of wrong usage; for ``check`` it is that of the specification's own runner."""
    return MISCONFIGURED if words[:1] == ["check"] else USAGE


class _NoCommandError(Exception):
    """Nothing stands after ``--``."""


def _with_command(words: list[str]) -> list[str]:
    """What stands after ``--`` as one source: the command of an MCP server."""
    if "--" not in words or words[0] not in _TAKES_COMMAND:
        return words
    place = words.index("--")
    if not words[place + 1 :]:
        raise _NoCommandError
    source = f"stdio:{shlex.join(words[place + 1 :])}"
    return [*words[:place], *([source] if words[0] in _TAKES_SOURCES else ["--source", source])]


_TAKES_SOURCES = frozenset({"serve", "review", "export", "tokens", "check"})
"""Commands whose sources stand by themselves."""
_TAKES_COMMAND = _TAKES_SOURCES | {"ops", "call", "policy", "worker"}


def _explain_in_full(words: list[str]) -> None:
    """Have a command whose own help is asked for say all that it has to say; in the list it has one line."""
    if {"--help", "-h"} & {*words} and words[0] in app and not words[0].startswith("-"):
        app[words[0]].help = None


def _prepare_streams() -> None:
    """Put something where a parent has closed a standard stream; and write UTF-8, as JSON demands."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115  (kept to the end)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115  (kept to the end)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def _one_line(error: CycloptsError) -> str:
    """What is wrong, in words that say nothing of Python."""
    if isinstance(error, UnusedCliTokensError):
        return f"There is nothing that takes {', '.join(repr(word) for word in error.unused_tokens or ())}; see --help."
    text = " ".join(str(error).split())
    for type_name, words in _TYPES.items():
        text = re.sub(rf" into {type_name}\.$", f" into {words}.", text)
    return text


_TYPES = {"int": "a whole number", "float": "a number", "bool": "true or false"}
