"""Every operator: what it says of values, of null, and of what it cannot be used on."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.query.kinds import Kind
from headgate.query.operators import OPERATORS, Arity, operators_for
from tests.query.shop import KINDS, Shop, one_of_each, refusal


def holds(kind: Kind, value: object, operator: str, operand: object, *, negated: bool = False) -> bool:
    """Whether a filter finds the one item that has a value in the field of a kind."""
    item = {**dict.fromkeys(KINDS.fields), "id": 1, kind.name.lower(): value}
    condition: dict[str, Any] = {kind.name.lower(): {operator: operand}}
    asked = {"not": condition} if negated else condition
    return bool(Shop(KINDS, items={"samples": [item]}).keys("samples", filter=asked))


NOON = datetime(2024, 1, 2, 12, tzinfo=UTC)
UUID = "123e4567-e89b-12d3-a456-426614174000"

CASES: list[tuple[str, Kind, object, object, bool]] = [
    # operator, kind, the item's value, the operand, whether it holds
    ("eq", Kind.TEXT, "a", "a", True),
    ("eq", Kind.TEXT, "a", "A", False),
    ("eq", Kind.TEXT, "a", "a ", False),
    ("eq", Kind.TEXT, "é", "e", False),
    ("eq", Kind.TEXT, "", "", True),
    ("eq", Kind.TEXT, "", None, False),
    ("eq", Kind.TEXT, None, "", False),
    ("eq", Kind.TEXT, None, None, True),
    ("eq", Kind.INTEGER, 2**53 + 1, str(2**53 + 1), True),
    ("eq", Kind.INTEGER, 2**53 + 1, str(2**53), False),
    ("eq", Kind.INTEGER, 0, None, False),
    ("eq", Kind.NUMBER, 0.5, "0.5", True),
    ("eq", Kind.DECIMAL, Decimal("1.50"), "1.5", True),
    ("eq", Kind.DECIMAL, Decimal("0.1"), 0.1, True),
    ("eq", Kind.BOOLEAN, False, False, True),
    ("eq", Kind.BOOLEAN, None, False, False),
    ("eq", Kind.DATE, date(2024, 1, 2), "2024-01-02", True),
    ("eq", Kind.TIME, time(12), "12:00:00", True),
    ("eq", Kind.DATETIME, NOON, "2024-01-02T13:00:00+01:00", True),
    ("eq", Kind.UUID, UUID, UUID.upper(), True),
    ("eq", Kind.JSON, "a", "a", True),
    ("eq", Kind.JSON, 1, 1.0, True),
    ("eq", Kind.JSON, 1, True, False),
    ("eq", Kind.JSON, True, 1, False),
    ("eq", Kind.JSON, "1", 1, False),
    ("eq", Kind.JSON, [1], 1, False),
    ("eq", Kind.JSON, None, None, True),
    ("ne", Kind.TEXT, "a", "b", True),
    ("ne", Kind.TEXT, "a", "a", False),
    ("ne", Kind.TEXT, None, "a", True),
    ("ne", Kind.TEXT, None, None, False),
    ("ne", Kind.TEXT, "a", None, True),
    ("ne", Kind.BOOLEAN, None, True, True),
    ("ne", Kind.JSON, "1", 1, True),
    ("gt", Kind.INTEGER, 2, 1, True),
    ("gt", Kind.INTEGER, 2, 2, False),
    ("gt", Kind.INTEGER, None, 0, False),
    ("gt", Kind.TEXT, "b", "a", True),
    ("gt", Kind.TEXT, "a", "Z", True),
    ("gt", Kind.TEXT, "é", "z", True),
    ("gt", Kind.TEXT, "10", "9", False),
    ("gt", Kind.DATE, date(2024, 1, 3), "2024-01-02", True),
    ("gt", Kind.DATETIME, NOON, "2024-01-02", True),
    ("gte", Kind.DECIMAL, Decimal("1.00"), "1", True),
    ("gte", Kind.DECIMAL, Decimal("0.99"), "1", False),
    ("gte", Kind.NUMBER, None, 0, False),
    ("lt", Kind.NUMBER, -1.5, -1, True),
    ("lt", Kind.NUMBER, -1, -1, False),
    ("lt", Kind.TEXT, None, "z", False),
    ("lt", Kind.TIME, time(9), "10:00", True),
    ("lte", Kind.INTEGER, 2, 2, True),
    ("lte", Kind.INTEGER, 3, 2, False),
    ("lte", Kind.UUID, UUID, UUID, True),
    ("lte", Kind.INTEGER, None, 2, False),
    ("in", Kind.TEXT, "a", ["b", "a"], True),
    ("in", Kind.TEXT, "a", ["b"], False),
    ("in", Kind.TEXT, "a", [], False),
    ("in", Kind.TEXT, None, ["a"], False),
    ("in", Kind.TEXT, None, ["a", None], True),
    ("in", Kind.TEXT, None, [None], True),
    ("in", Kind.TEXT, "b", ["a", None], False),
    ("in", Kind.TEXT, None, [], False),
    ("in", Kind.DATE, date(2024, 1, 2), ["2024-01-02"], True),
    ("in", Kind.BOOLEAN, True, [True, False], True),
    ("in", Kind.JSON, 2, [1, 2.0], True),
    ("in", Kind.JSON, "2", [1, 2], False),
    ("not_in", Kind.TEXT, "a", ["b"], True),
    ("not_in", Kind.TEXT, "a", ["a", "b"], False),
    ("not_in", Kind.TEXT, "a", [], True),
    ("not_in", Kind.TEXT, None, ["a"], True),
    ("not_in", Kind.TEXT, None, [None], False),
    ("not_in", Kind.TEXT, None, [], True),
    ("between", Kind.INTEGER, 1, [1, 3], True),
    ("between", Kind.INTEGER, 3, [1, 3], True),
    ("between", Kind.INTEGER, 4, [1, 3], False),
    ("between", Kind.INTEGER, 2, [3, 1], False),
    ("between", Kind.INTEGER, None, [1, 3], False),
    ("between", Kind.DATE, date(2024, 2, 29), ["2024-02-01", "2024-02-29"], True),
    ("between", Kind.TEXT, "bb", ["a", "b"], False),
    ("contains", Kind.TEXT, "a%b_c", "%b_", True),
    ("contains", Kind.TEXT, "aXbYc", "%b_", False),
    ("contains", Kind.TEXT, "Abc", "abc", False),
    ("contains", Kind.TEXT, "abc", "", True),
    ("contains", Kind.TEXT, None, "", False),
    ("contains", Kind.ARRAY, ["a", "b"], "b", True),
    ("contains", Kind.ARRAY, ["ab"], "b", False),
    ("contains", Kind.ARRAY, [], "", False),
    ("contains", Kind.ARRAY, None, "a", False),
    ("starts_with", Kind.TEXT, "100%", "100%", True),
    ("starts_with", Kind.TEXT, "1000", "100%", False),
    ("starts_with", Kind.TEXT, "Abc", "abc", False),
    ("starts_with", Kind.TEXT, "abc", "", True),
    ("starts_with", Kind.TEXT, None, "", False),
    ("ends_with", Kind.TEXT, "a\\b", "\\b", True),
    ("ends_with", Kind.TEXT, "abc", "ab", False),
    ("ends_with", Kind.TEXT, "b", "ab", False),
    ("ends_with", Kind.TEXT, "abc", "", True),
    ("ends_with", Kind.TEXT, None, "a", False),
    ("icontains", Kind.TEXT, "Straße ÆRØ", "ærø", True),
    ("icontains", Kind.TEXT, "ab", "B", True),
    ("icontains", Kind.TEXT, "Straße", "SS", False),
    ("icontains", Kind.TEXT, "a_b", "A_B", True),
    ("icontains", Kind.TEXT, "acb", "a_b", False),
    ("icontains", Kind.TEXT, None, "a", False),
    ("is_null", Kind.TEXT, None, True, True),
    ("is_null", Kind.TEXT, "", True, False),
    ("is_null", Kind.TEXT, "", False, True),
    ("is_null", Kind.TEXT, None, False, False),
    ("is_null", Kind.BYTES, b"", True, False),
    ("is_null", Kind.JSON, {}, True, False),
    ("is_null", Kind.ARRAY, None, True, True),
]


def told(case: tuple[str, Kind, object, object, bool]) -> Any:
    operator, kind, value, operand, expected = case
    words = f"{kind.word} {value!r} {'' if expected else 'never '}{operator} {operand!r}"
    return pytest.param(*case, id=words.replace(UUID, "uuid").replace(UUID.upper(), "UUID"))


@pytest.mark.parametrize(("operator", "kind", "value", "operand", "expected"), [told(case) for case in CASES])
def test_an_operator_holds_or_not_and_its_opposite_is_the_contrary(
    operator: str, kind: Kind, value: object, operand: object, expected: bool
) -> None:
    assert holds(kind, value, operator, operand) is expected
    assert holds(kind, value, operator, operand, negated=True) is not expected


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_cases_that_hold_some_that_do_not_and_one_of_null(name: str) -> None:
    mine = [case for case in CASES if case[0] == name]
    assert {case[4] for case in mine} == {True, False}
    assert any(case[2] is None for case in mine)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.word)
def test_an_operator_is_used_on_its_own_kinds_and_refused_on_others_with_those_that_apply(
    name: str, kind: Kind
) -> None:
    operator, value = OPERATORS[name], one_of_each()[kind]
    operand = {Kind.ARRAY: "a", Kind.JSON: "a", Kind.BYTES: "AP8="}.get(kind, _as_json(value))
    given = {Arity.ONE: operand, Arity.TWO: [operand, operand], Arity.MANY: [operand], Arity.FLAG: True}[operator.arity]
    if kind in operator.kinds:
        assert holds(kind, value, name, given) in (True, False)
        return
    error = refusal(lambda: holds(kind, value, name, given))
    assert error.code == "VALIDATION_INVALID_VALUE"
    assert f"'{name}' does not apply to {kind.word}. Use one of: {', '.join(operators_for(kind))}" in error.message
    assert error.details == {"param_name": f"filter.{kind.name.lower()}", "allowed": operators_for(kind)}


def _as_json(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal | int) and not isinstance(value, bool) else _written(value)


def _written(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_says_in_words_what_it_means(name: str) -> None:
    assert OPERATORS[name].words
    assert OPERATORS[name].name == name


@pytest.mark.parametrize("name", [name for name, row in OPERATORS.items() if row.negates])
def test_a_negating_operator_is_the_opposite_of_another_for_every_value(name: str) -> None:
    other = OPERATORS[name].negates
    assert other is not None
    operand = ["a", None] if OPERATORS[name].arity is Arity.MANY else "a"
    for value in ("a", "b", "", None):
        assert holds(Kind.TEXT, value, name, operand) is not holds(Kind.TEXT, value, other, operand)


@pytest.mark.parametrize("name", [name for name, row in OPERATORS.items() if row.arity is Arity.ONE])
def test_null_is_an_operand_of_equality_alone(name: str) -> None:
    if name in ("eq", "ne"):
        assert holds(Kind.TEXT, None, name, None) is (name == "eq")
        return
    error = refusal(lambda: holds(Kind.TEXT, None, name, None))
    assert error.code == "VALIDATION_INVALID_TYPE"
    assert error.message == f"Parameter 'filter.text.{name}' expected 'string', got 'null'"


texts = st.none() | st.text(max_size=3)


@given(texts, st.text(max_size=3), st.text(max_size=3))
def test_what_holds_of_order_is_consistent(value: str | None, one: str, other: str) -> None:
    def is_so(operator: str, operand: object) -> bool:
        return holds(Kind.TEXT, value, operator, operand)

    assert is_so("gte", one) == (is_so("gt", one) or is_so("eq", one))
    assert is_so("lte", one) == (is_so("lt", one) or is_so("eq", one))
    assert is_so("between", [one, other]) == (is_so("gte", one) and is_so("lte", other))
    assert is_so("in", [one, other]) == (is_so("eq", one) or is_so("eq", other))
    assert [is_so("lt", one), is_so("eq", one), is_so("gt", one)].count(True) == (value is not None)
