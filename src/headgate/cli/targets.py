"""The source that ``call`` and ``ops`` speak to."""

import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from headgate.adapter.adapter import Adapter
from headgate.client.targets import Target, connect, local
from headgate.sources.demo import demo_adapter
from headgate.sources.modules import load_adapter

__all__ = ["Source", "load", "open_target"]

Source: TypeAlias = Annotated[
    str | None,
    Parameter(
        name=["--source", "-s"],
        env_var="HEADGATE_SOURCE",
        help="module:adapter, file.py:adapter, or the http(s) URL of a running server. Without one: the demo.",
    ),
]


def load(source: str | None) -> Adapter:
    """The adapter of a source in this process; the demo if there is none."""
    return load_adapter(source) if source else demo_adapter()


@asynccontextmanager
async def open_target(source: str | None) -> AsyncIterator[Target]:
    """What a source names, ready to be called."""
    if source and source.startswith(("http://", "https://")):
        logging.getLogger("mcp").addHandler(logging.NullHandler())  # what goes wrong is said once, by us
        async with connect(source, os.environ.get("HEADGATE_TOKEN")) as target:
            yield target
    else:
        with redirect_stdout(sys.stderr):  # what a module prints is not the answer
            yield local(load(source))
