"""The page of the client names all that there is."""

import inspect

import pytest

from headgate import Aql, BlockingAql, connect
from headgate.client import errors
from tests.support import ROOT

PAGE = (ROOT / "docs" / "client.md").read_text()


def public(kind: type) -> list[str]:
    return [name for name in vars(kind) if not name.startswith("_")]


def test_every_option_of_a_connection_is_in_its_table() -> None:
    rows = "".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| "))
    options = [name for name in inspect.signature(connect).parameters if name != "target"]
    assert len(options) == 8
    assert [name for name in options if f"`{name}`" not in rows] == []


@pytest.mark.parametrize("name", [name for name in errors.__all__ if inspect.isclass(getattr(errors, name))])
def test_every_exception_that_is_raised_is_named(name: str) -> None:
    is_family = bool(getattr(errors, name).__subclasses__())
    assert is_family or f"`{name}`" in PAGE


def test_every_method_is_named() -> None:
    inner = {"prepared", "endpoints", "overseer", "seconds"}
    assert [name for name in public(Aql) if name not in inner and name not in PAGE] == []


def test_the_client_that_waits_has_the_same_methods() -> None:
    assert {*public(Aql)} - {"prepared", "seconds"} == {*public(BlockingAql)}
