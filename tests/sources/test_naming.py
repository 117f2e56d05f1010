"""Foreign names as ours: one form, no two alike, and the same each time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.names import is_snake_case
from headgate.sources.naming import HELD_OPERATIONS, HELD_PARAMETERS, operation_names, parameter_names, snake

CLOSE = ("getUser", "get_user", "get-user", "GetUser", "get user", "get_user_2", "GETUser", "introspect", "Introspect")
OWN = st.text(st.characters(exclude_categories=()), max_size=90) | st.sampled_from(
    (*CLOSE, "operation", "params", "", "_")
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("getUser", "get_user"),
        ("getHTTPUser-v2", "get_http_user_v2"),
        ("content-type", "content_type"),
        ("$filter", "filter"),
        ("userID", "user_id"),
        ("X", "x"),
        ("name__icontains", "name__icontains"),
        ("from_", "from_"),
        ("a.b/c d", "a_b_c_d"),
        ("2fa", "x_2fa"),
        ("__proto__", "proto"),
        ("Größe", "groe"),
        ("日本語", "x"),
        ("", "x"),
        ("\x1b[31mred", "x_31mred"),
        ("\ud800", "x"),
    ],
)
def test_any_name_has_a_spelling_in_snake_case(name: str, expected: str) -> None:
    assert snake(name) == expected


@given(OWN)
def test_a_name_in_snake_case_is_its_own_spelling(name: str) -> None:
    assert is_snake_case(snake(name))
    assert snake(snake(name)) == snake(name)


@given(st.lists(OWN, max_size=12), st.sets(OWN.map(snake), max_size=4))
def test_operations_have_names_of_their_own_that_fit(own: list[str], taken: set[str]) -> None:
    names = operation_names(own, taken=taken)
    assert names.keys() == set(own)
    assert len(set(names.values())) == len(names)
    assert all(is_snake_case(name) and len(name) <= 64 for name in names.values())
    assert taken.isdisjoint(names.values())
    assert HELD_OPERATIONS.isdisjoint(names.values())


@given(st.lists(OWN, max_size=8), st.randoms(use_true_random=False))
def test_the_names_of_operations_do_not_depend_on_their_order(own: list[str], chance: object) -> None:
    again = list(own)
    chance.shuffle(again)  # type: ignore[attr-defined]
    assert operation_names(own) == operation_names(again + again)


def test_who_is_spelt_so_already_has_the_name() -> None:
    names = operation_names(["getUser", "GetUser", "get_user"])
    assert names["get_user"] == "get_user"
    assert all(names[own].startswith("get_user_") for own in ("getUser", "GetUser"))


def test_long_names_that_begin_alike_stay_apart() -> None:
    names = operation_names([f"{'a' * 300}{number}" for number in range(50)])
    assert len(set(names.values())) == 50


@pytest.mark.parametrize("name", sorted(HELD_OPERATIONS))
def test_no_operation_takes_a_name_that_a_server_adds(name: str) -> None:
    assert operation_names([name])[name].startswith(f"{name[:50]}_")


@given(st.lists(OWN, max_size=12), st.sets(OWN.map(snake), max_size=4))
def test_parameters_have_names_of_their_own(own: list[str], taken: set[str]) -> None:
    names = parameter_names(own, taken=taken)
    assert list(names) == list(dict.fromkeys(own))
    assert len(set(names.values())) == len(names)
    assert all(is_snake_case(name) for name in names.values())
    assert (taken | HELD_PARAMETERS).isdisjoint(names.values())


@given(st.lists(OWN, max_size=12))
def test_inside_values_a_name_in_snake_case_always_stays(own: list[str]) -> None:
    names = parameter_names(own, held=())
    assert all(names[name] == name for name in own if is_snake_case(name))


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (["userId", "user_id"], {"userId": "user_id_2", "user_id": "user_id"}),
        (["user_id_2", "userId", "user_id"], {"user_id_2": "user_id_2", "userId": "user_id_3", "user_id": "user_id"}),
        (["operation", "params"], {"operation": "operation_value", "params": "params_value"}),
        (["operation", "operation_value"], {"operation": "operation_value_2", "operation_value": "operation_value"}),
        (["dryRun"], {"dryRun": "dry_run_value"}),
        (["input"], {"input": "input"}),
    ],
    ids=["beside", "numbered already", "fields of a request", "both", "a dry run", "input"],
)
def test_parameters_that_would_have_one_name_are_told_apart(own: list[str], expected: dict[str, str]) -> None:
    assert parameter_names(own) == expected


def test_thousands_of_names_without_letters_are_numbered_soon() -> None:
    assert len(set(parameter_names("?" * number for number in range(1, 5000)).values())) == 4999
