"""The store that commands for persons look into, who looks, and how the next command finds the same store."""

import getpass
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import quote
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from headgate.server.settings import SettingError, audit_key
from headgate.store.interface import Store, StoreError
from headgate.store.opening import default_state_url, open_store, shown

__all__ = ["By", "State", "command", "is_in_memory", "login_name", "open_state", "same_state"]

State: TypeAlias = Annotated[
    str | None,
    Parameter(
        name="--state",
        env_var="HEADGATE_STATE",
        help="The store of a server: a .db file or postgresql://… Without one: the file that serve uses by itself.",
        show_default=False,
    ),
]

By: TypeAlias = Annotated[
    str | None, Parameter(name="--by", help="Who does it; your login name unless said.", show_default=False)
]


@asynccontextmanager
async def open_state(url: str | None, *, makes: bool = False) -> AsyncIterator[Store]:
    """The store, open for as long as it is needed. Only what writes something new makes a file that is not there."""
    store = _store(url, makes=makes)
    try:
        await store.open()
        yield store
    finally:
        await store.close()


def _store(url: str | None, *, makes: bool) -> Store:
    try:
        chosen = url or default_state_url()
        store = open_store(chosen, audit_key=audit_key())
    except StoreError as error:
        raise SettingError(str(error)) from None
    if is_in_memory(chosen):
        raise SettingError("A store in memory is seen by its own process alone; name the store of a server: --state")
    path = _file_of(chosen)
    if path is not None and not makes and not path.exists():
        raise StoreError(
            f"There is no store '{shown(str(path))}': no server has kept anything there; name another with --state"
        )
    return store


def _file_of(url: str) -> Path | None:
    """The file that a URL names which is known to be right, if it names one."""
    if url.startswith("sqlite:"):
        return Path(url.removeprefix("sqlite:///")).expanduser()
    return None if "://" in url else Path(url).expanduser()


def is_in_memory(url: str) -> bool:
    """Whether a store ends with its process, and is seen by nobody else."""
    return url.strip("/") == "memory:"


def same_state(url: str | None) -> str:
    """The option with which another command finds the same store; nothing if it finds it by itself. No password."""
    if not url or _is_default(url):
        return ""
    path = _file_of(url)
    return f"--state {quote(str(path.absolute()) if path else shown(url))}"


def _is_default(url: str) -> bool:
    try:
        return url == default_state_url()
    except StoreError:
        return False


def command(url: str | None, *words: str) -> str:
    """A command about the same store, as a person types it."""
    return " ".join(filter(None, ("headgate", *map(quote, words), same_state(url))))


def login_name() -> str:
    """Who runs this program, as the system knows them."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # where a number without a name runs programs, as in some containers
        return "unknown"
