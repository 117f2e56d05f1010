"""What an author may declare of long work, and what cannot be built."""

import functools
from typing import Any

import pytest

from headgate import Adapter, AdapterError, Background, Category, Context, Operation, Parameter
from headgate.adapter.background import STATE_OBJECT
from headgate.protocol.lifecycle import CORE, State


async def nothing(customer: str = "", year: int = 0) -> None:
    """Do nothing."""


def plain(ctx: Context) -> None:
    """Do nothing."""


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"retries": -1}, "Background retries must be a whole number, 0 or more, not '-1'."),
    ({"retries": 1.5}, "Background retries must be a whole number, 0 or more, not '1.5'."),
    ({"retries": True}, "Background retries must be a whole number, 0 or more, not 'True'."),
    ({"retries": None}, "Background retries must be a whole number, 0 or more, not 'None'."),
    ({"concurrency": 0}, "Background concurrency must be a whole number, 1 or more, not '0'."),
    ({"concurrency": "2"}, "Background concurrency must be a whole number, 1 or more, not '2'."),
    ({"backoff": 0}, "Background backoff must be a number of seconds, more than 0, not '0'."),
    ({"backoff": None}, "Background backoff must be a number of seconds, more than 0, not 'None'."),
    ({"timeout": 0}, "Background timeout must be a number of seconds, more than 0, not '0'."),
    ({"timeout": float("inf")}, "Background timeout must be a number of seconds, more than 0, not 'inf'."),
    ({"timeout": float("nan")}, "Background timeout must be a number of seconds, more than 0, not 'nan'."),
    ({"timeout": "60"}, "Background timeout must be a number of seconds, more than 0, not '60'."),
    ({"cleanup": -1}, "Background cleanup must be a number of seconds, more than 0, not '-1'."),
    ({"keep": True}, "Background keep must be a number of seconds, more than 0, not 'True'."),
    (
        {"interrupted": "resum"},
        "Background interrupted must be one of fail, resume, not 'resum'. Did you mean 'resume'?",
    ),
    ({"session": "close"}, "Background session must be one of detached, cancel, fail, not 'close'"),
]


@pytest.mark.parametrize(("declared", "words"), MISTAKES, ids=lambda value: str(value)[:40])
def test_a_value_that_makes_no_sense_is_refused(declared: dict[str, Any], words: str) -> None:
    with pytest.raises(AdapterError) as caught:
        Background(**declared)
    assert str(caught.value).startswith(words)


def test_everything_is_declared_by_name() -> None:
    with pytest.raises(TypeError):
        Background(3)  # type: ignore[call-arg]


@pytest.mark.parametrize("said", [None, 1, "yes", {"retries": 1}, Background], ids=repr)
def test_background_is_true_or_a_declaration(said: Any) -> None:
    with pytest.raises(AdapterError, match=r"background= must be True or a Background\(…\)\."):
        Adapter("x").execute(background=said, name="execute_nothing")(nothing)


def test_background_that_is_false_is_none() -> None:
    adapter = Adapter("x")
    adapter.execute(background=False, name="execute_nothing")(nothing)
    assert adapter.operations["execute_nothing"].background is None


@pytest.mark.parametrize("category", [Category.CREATE, Category.READ, Category.UPDATE, Category.DELETE])
def test_only_what_is_declared_execute_runs_in_the_background(category: Category) -> None:
    parameters = (Parameter("input", {"type": "object"}),)
    with pytest.raises(AdapterError, match=rf"is declared {category} and background: only what is declared with @adap"):
        Operation(
            "make_thing", category, nothing, parameters=parameters, summary="x", rationale="y", background=Background()
        )


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("custommer", "has the key 'custommer', which is not one of its parameters. Did you mean 'customer'?"),
        (("year", "month"), "has the key 'month', which is not one of its parameters"),
        (["year", "month"], "has the key 'month', which is not one of its parameters"),
    ],
    ids=str,
)
def test_a_key_names_parameters(key: Any, words: str) -> None:
    with pytest.raises(AdapterError) as caught:
        Adapter("x").execute(background=Background(key=key), name="execute_nothing")(nothing)
    assert words in str(caught.value)


@pytest.mark.parametrize("key", [5, ("year", 5), None, [["year"]]], ids=repr)
def test_a_key_is_made_of_names(key: Any) -> None:
    with pytest.raises(AdapterError, match="Background key must be the name of a parameter, or several, not "):
        Background(key=key)


@pytest.mark.parametrize(
    ("key", "keys"),
    [("year", ("year",)), (("year", "customer"), ("year", "customer")), (["year"], ("year",)), ((), ())],
)
def test_a_key_is_one_name_or_several(key: Any, keys: tuple[str, ...]) -> None:
    background = Background(key=key)
    assert background.keys == keys
    assert hash(background) == hash(Background(key=keys))


def test_an_async_function_cannot_run_in_a_process() -> None:
    with pytest.raises(AdapterError, match="is an async function, which cannot run in a process: write it as a plain"):
        Adapter("x").execute(background=Background(process=True), name="execute_nothing")(nothing)


def test_a_process_must_find_its_function() -> None:
    def local() -> None:
        """Do nothing."""

    with pytest.raises(AdapterError, match="a module that can be imported, under its own name, not inside another"):
        Adapter("x").execute(background=Background(process=True), name="execute_local")(local)


class Desk:
    def plain(self) -> None:
        """Do nothing."""


NAMELESS = {"partial": functools.partial(plain), "lambda": lambda: None, "bound": Desk().plain}


@pytest.mark.parametrize("function", NAMELESS.values(), ids=NAMELESS)
def test_a_process_needs_a_function_with_a_name(function: Any) -> None:
    with pytest.raises(AdapterError, match="runs in a process, which must find it"):
        Operation(
            "execute_thing",
            Category.EXECUTE,
            function,
            summary="x",
            is_async=False,
            background=Background(process=True),
        )


@pytest.mark.parametrize("function", NAMELESS.values(), ids=NAMELESS)
def test_a_thread_needs_none(function: Any) -> None:
    made = Operation("execute_thing", Category.EXECUTE, function, summary="x", is_async=False, background=Background())
    assert made.background == Background()


def test_a_function_of_the_main_program_cannot_run_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "__module__", "__main__")
    with pytest.raises(AdapterError, match="define it in a module that can be imported"):
        Adapter("x").execute(background=Background(process=True), name="execute_plain")(plain)


def test_a_declaration_is_kept_and_read_whole() -> None:
    declared = Background(
        retries=3,
        backoff=2.5,
        timeout=60,
        concurrency=4,
        key=("customer", "year"),
        interrupted="resume",
        session="fail",
        process=True,
        cleanup=1,
        retry=False,
        keep=3600,
    )
    assert Background.read(declared.wire()) == declared
    assert Background.read(Background().wire()) == Background()


def test_the_state_object_is_described_with_the_core_states() -> None:
    assert STATE_OBJECT["properties"]["status"]["enum"] == [state.value for state in CORE]
    assert set(STATE_OBJECT["required"]) == {"execution_id", "status"}
    assert {"started_at", "finished_at", "progress", "error", "last_error"} <= STATE_OBJECT["properties"].keys()
    assert Background().lifecycle(reports=False, hides=False)["states"] == [state.value for state in State]
