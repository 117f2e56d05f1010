"""Conditions: what holds of a value, what is in doubt, and what an attacker cannot talk away."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.safety.policy.conditions import OPERATORS, Condition

HOLDS, FAILS, DOUBT = (True, True), (False, False), (True, False)
"""What a rule that restricts and one that allows make of a condition: in doubt they differ."""


def outcome(condition: Condition, params: dict[str, Any]) -> tuple[bool, bool]:
    return condition.holds(params, in_doubt=True), condition.holds(params, in_doubt=False)


def of_value(operator: str, operand: object, value: object) -> tuple[bool, bool]:
    return outcome(Condition("x", operator, operand), {"x": value})


@pytest.mark.parametrize(
    ("operator", "operand", "value", "expected"),
    [
        pytest.param("eq", 1, 1, HOLDS, id="equal numbers"),
        pytest.param("eq", 1, 1.0, HOLDS, id="a whole number is the same with a point"),
        pytest.param("eq", 0.1, 0.1, HOLDS, id="decimals compare by their digits"),
        pytest.param("eq", 1, True, FAILS, id="true is not 1"),
        pytest.param("eq", True, 1, FAILS, id="1 is not true"),
        pytest.param("eq", 1, "1", DOUBT, id="a number sent as text may be meant"),
        pytest.param("eq", 100, "100.00", DOUBT, id="an exact decimal sent as text may be meant"),
        pytest.param("eq", "100", 100, DOUBT, id="a number where a text is compared may be meant"),
        pytest.param("eq", 1, "2", FAILS, id="another number sent as text is none"),
        pytest.param("eq", "7", "007", FAILS, id="texts that read as one number are two texts"),
        pytest.param("eq", "NO", "NO", HOLDS, id="equal texts"),
        pytest.param("eq", "NO", "no", FAILS, id="case counts"),
        pytest.param("eq", "NO", None, FAILS, id="null is not given"),
        pytest.param("eq", "secret", ["public", "secret"], DOUBT, id="one of a list"),
        pytest.param("eq", "secret", ["secret", "secret"], HOLDS, id="all of a list"),
        pytest.param("eq", "secret", [["secret"]], DOUBT, id="a list inside a list"),
        pytest.param("eq", "secret", {"a": "secret"}, DOUBT, id="an object where a text is expected"),
        pytest.param("eq", ("a", "b"), ["a", "b"], HOLDS, id="a whole list"),
        pytest.param("eq", ("a", "b"), ["b", "a"], FAILS, id="a whole list in another order"),
        pytest.param("eq", ("a",), "a", FAILS, id="a text is not a list"),
        pytest.param("eq", "x", float("nan"), DOUBT, id="no number where a text is expected"),
        pytest.param("eq", "2026-01-01", date(2026, 1, 1), DOUBT, id="something that is not JSON"),
        pytest.param("ne", 1, 2, HOLDS, id="another number"),
        pytest.param("ne", 1, 1.0, FAILS, id="the same number is not another"),
        pytest.param("ne", 1, "1", DOUBT, id="maybe another"),
        pytest.param("ne", "EU", None, HOLDS, id="null is other than anything"),
        pytest.param("ne", "EU", [], HOLDS, id="an empty list holds nothing equal"),
        pytest.param("in", ("a", "b"), "b", HOLDS, id="among"),
        pytest.param("in", ("a", "b"), "c", FAILS, id="not among"),
        pytest.param("in", (1, 2), "2", DOUBT, id="maybe among"),
        pytest.param("in", (1, "2"), "2", HOLDS, id="among for sure beside one that is in doubt"),
        pytest.param("in", ("a",), [], FAILS, id="nothing is among"),
        pytest.param("in", ("a",), ["a", "z"], DOUBT, id="some are among"),
        pytest.param("not_in", ("a",), "b", HOLDS, id="outside"),
        pytest.param("not_in", ("a",), "a", FAILS, id="not outside"),
        pytest.param("not_in", ("a",), ["a", "z"], DOUBT, id="some are outside"),
        pytest.param("not_in", ("a",), [], HOLDS, id="an empty list is as good as none"),
        pytest.param("gt", 100, 100.01, HOLDS, id="more"),
        pytest.param("gt", 100, 100, FAILS, id="not more"),
        pytest.param("gt", 100, "100.01", HOLDS, id="more, as text"),
        pytest.param("gt", 100, "99999999999999999999", HOLDS, id="beyond any JSON number"),
        pytest.param("gt", 100, "1e3", HOLDS, id="more, with an exponent"),
        pytest.param("gt", 100, "Infinity", HOLDS, id="endless"),
        pytest.param("gt", 100, "NaN", DOUBT, id="no number"),
        pytest.param("gt", 100, "sNaN", DOUBT, id="a signalling no-number"),
        pytest.param("gt", 100, "much", DOUBT, id="a word where a number is expected"),
        pytest.param("gt", 100, True, DOUBT, id="true where a number is expected"),
        pytest.param("gt", 100, {"n": 1}, DOUBT, id="an object where a number is expected"),
        pytest.param("gt", 100, None, FAILS, id="nothing is not more"),
        pytest.param("gt", 100, [1, 200], DOUBT, id="more for some"),
        pytest.param("gt", 100, [1, "x"], DOUBT, id="more for none, in doubt for some"),
        pytest.param("gt", 100, 10**400, HOLDS, id="an integer beyond every float"),
        pytest.param("gte", 100, 100, HOLDS, id="as much"),
        pytest.param("lt", 0, -0.5, HOLDS, id="less"),
        pytest.param("lt", 0, "-0", FAILS, id="minus nothing is not less"),
        pytest.param("lte", 0, 0, HOLDS, id="as little"),
        pytest.param("gt", "m", "n", HOLDS, id="texts have an order"),
        pytest.param("gt", "m", 5, DOUBT, id="a number has no place among texts"),
        pytest.param("matches", "^X", "X1", HOLDS, id="matches"),
        pytest.param("matches", "X", "aXb", HOLDS, id="matches in the middle"),
        pytest.param("matches", "^X$", "X\n", FAILS, id="a line break is not the end"),
        pytest.param("matches", "^X", "x", FAILS, id="case counts in expressions"),
        pytest.param("matches", "(?i)^x", "X", HOLDS, id="unless it is said not to"),
        pytest.param("matches", "^X", 5, DOUBT, id="a number cannot be matched"),
        pytest.param("matches", "^X", "\ud800", DOUBT, id="half a character cannot be matched"),
        pytest.param("matches", "^X", ["X", "Y"], DOUBT, id="matches some"),
        pytest.param("present", True, 0, HOLDS, id="0 is present"),
        pytest.param("present", True, "", HOLDS, id="an empty text is present"),
        pytest.param("present", True, None, FAILS, id="null is not present"),
        pytest.param("present", False, None, HOLDS, id="null is absent"),
    ],
)
def test_a_condition_of_a_value(operator: str, operand: object, value: object, expected: tuple[bool, bool]) -> None:
    assert of_value(operator, operand, value) == expected


@pytest.mark.parametrize("operator", [*OPERATORS, "present"])
def test_of_a_value_that_is_not_given_only_negatives_hold(operator: str) -> None:
    operand = {"in": ("a",), "not_in": ("a",), "present": False}.get(operator, "a")
    expected = HOLDS if operator in ("ne", "not_in", "present") else FAILS
    assert outcome(Condition("x", operator, operand), {}) == expected


NESTED = Condition("items.price", "gt", 100)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        pytest.param({"items": {"price": 101}}, HOLDS, id="inside an object"),
        pytest.param({"items": [{"price": 101}]}, HOLDS, id="inside the objects of a list"),
        pytest.param({"items": [{"price": 1}, {"price": 101}]}, DOUBT, id="in one of a list"),
        pytest.param({"items": [[{"price": 101}]]}, HOLDS, id="in a list of lists"),
        pytest.param({"items": [{"price": 101}, {}]}, DOUBT, id="missing in one of a list"),
        pytest.param({"items": []}, FAILS, id="in an empty list"),
        pytest.param({"items": None}, FAILS, id="under null"),
        pytest.param({"items": {"prices": 101}}, FAILS, id="under another name"),
        pytest.param({"items": '{"price": 101}'}, DOUBT, id="in a text that may be read as an object"),
        pytest.param({"items": 5}, DOUBT, id="under a number"),
        pytest.param({"items.price": 101}, FAILS, id="under a name with a dot, which is no parameter"),
        pytest.param({}, FAILS, id="nowhere"),
    ],
)
def test_a_condition_of_a_value_inside_of_another(params: dict[str, Any], expected: tuple[bool, bool]) -> None:
    assert outcome(NESTED, params) == expected


DEFAULTS = {("force",): True, ("options",): {"force": True}, ("given", "force"): True}


@pytest.mark.parametrize(
    ("path", "params", "expected"),
    [
        pytest.param("force", {}, HOLDS, id="its own"),
        pytest.param("force", {"force": False}, FAILS, id="not where it is given"),
        pytest.param("force", {"force": None}, FAILS, id="not where null is given"),
        pytest.param("options.force", {}, HOLDS, id="inside the default of an object"),
        pytest.param("options.force", {"options": {}}, FAILS, id="none for an object that is given without it"),
        pytest.param("given.force", {"given": {}}, HOLDS, id="of a field of an object that is given"),
        pytest.param("given.force", {"given": [{}, {}]}, HOLDS, id="of a field of each object in a list"),
        pytest.param("given.force", {}, FAILS, id="none where the object itself is not given"),
    ],
)
def test_a_default_stands_in_for_what_is_not_given(
    path: str, params: dict[str, Any], expected: tuple[bool, bool]
) -> None:
    condition = Condition(path, "eq", True)
    found = [condition.holds(params, in_doubt=doubt, default=DEFAULTS.get) for doubt in (True, False)]
    assert tuple(found) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=6,
)
OPERANDS = {
    "eq": st.booleans() | st.integers() | st.text(),
    "ne": st.booleans() | st.integers() | st.text(),
    "in": st.tuples(st.integers(), st.text()),
    "not_in": st.tuples(st.integers(), st.text()),
    "matches": st.sampled_from(["^a", "a|b", r"\d+$"]),
    "present": st.booleans(),
    **dict.fromkeys(("gt", "gte", "lt", "lte"), st.integers() | st.text()),
}


@given(data=st.data(), operator=st.sampled_from(sorted(OPERANDS)), path=st.sampled_from(["x", "x.a", "x.a.b"]))
def test_whatever_is_sent_a_condition_answers_and_doubt_only_ever_restricts(
    data: st.DataObject, operator: str, path: str
) -> None:
    condition = Condition(path, operator, data.draw(OPERANDS[operator]))
    restricts, allows = outcome(condition, {"x": data.draw(VALUES)})
    assert restricts or not allows


@given(value=st.integers() | st.floats(allow_nan=False, allow_infinity=False), bound=st.integers(-100, 100))
def test_a_number_means_the_same_as_its_text_for_every_order(value: float, bound: int) -> None:
    for operator in ("gt", "gte", "lt", "lte"):
        assert of_value(operator, bound, value) == of_value(operator, bound, str(value))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        pytest.param("(a+)+$", "a" * 1_000_000 + "!", id="nested repetition"),
        pytest.param("^(a|a)*$", "a" * 1_000_000 + "!", id="two ways for one letter"),
        pytest.param("a*a*a*a*a*b", "a" * 1_000_000, id="many stars"),
        pytest.param(r"^(\w+\s?)*$", "word " * 200_000 + "!", id="words and spaces"),
        pytest.param("(.*,){11}P", "1," * 500_000, id="columns"),
        pytest.param("(a?){200}a{200}b", "a" * 1_000_000, id="as many as there may be"),
    ],
)
def test_no_text_keeps_an_expression_busy(expression: str, text: str) -> None:
    """With backtracking each of these would take longer than anybody waits."""
    assert of_value("matches", expression, text) == FAILS


@pytest.mark.parametrize(
    ("operands", "values"),
    [
        pytest.param(tuple(range(1000)), [0.5] * 10_000, id="numbers"),
        pytest.param(tuple(map(str, range(1000))), ["x"] * 10_000, id="texts"),
        pytest.param(tuple(range(1000)), ["1e-9999"] * 10_000, id="numbers sent as text"),
    ],
)
def test_no_list_keeps_a_long_choice_busy(operands: tuple[object, ...], values: list[object]) -> None:
    """Compared one with each other, these would be ten million comparisons."""
    assert of_value("in", operands, values) == FAILS


def test_a_choice_of_1_is_no_choice_of_true() -> None:
    for operand, value, expected in [(1, 1, HOLDS), (True, 1, FAILS), (True, True, HOLDS), (1, True, FAILS)]:
        assert of_value("in", (operand,), value) == expected
