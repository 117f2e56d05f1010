"""A policy is checked against the adapter that it is for, so that a slip is found before it lets something pass."""

from dataclasses import replace

import pytest

from headgate.protocol.danger import Trust
from headgate.safety.policy.checking import check_policy
from headgate.safety.policy.reading import PolicyError
from tests.safety.policies import policy
from tests.safety.shop import build_shop

SHOP = build_shop()
FEW = (
    "; there are get_order, delete_order, delete_draft, create_refund, update_order, purge_orders, list_books, "
    "get_book, search_books, count_books …"
)
NONE_HAS_IT = "none of the matched operations has such a parameter"
NEEDLESS = "it changes nothing: an allow rule lifts no other, and without any rule all is allowed already"
MESSAGE = "danger '{}', key 'confirmation_message'"


def rule(said: str, decision: str = "confirm", name: str = "r") -> str:
    return f'[[rule]]\nname = "{name}"\ndecision = "{decision}"\n{said}\n'


def warnings_of(toml: str, trust: Trust | None = None) -> list[str]:
    return check_policy(policy(toml), "shop", SHOP.operations, trust=trust)


def mistakes_of(toml: str) -> list[str]:
    with pytest.raises(PolicyError) as refused:
        warnings_of(toml)
    return [one.removeprefix("p: ") for one in refused.value.mistakes]


@pytest.mark.parametrize(
    ("operations", "mistakes"),
    [
        pytest.param(
            '"delete_oder"', ["there is no operation 'delete_oder'. Did you mean 'delete_order'?"], id="misspelt"
        ),
        pytest.param('"zap"', [f"there is no operation 'zap'{FEW}"], id="nothing near"),
        pytest.param('"zap_*"', [f"no operation fits 'zap_*': correct it or leave it out{FEW}"], id="a star"),
        pytest.param(
            '["delete_*", "!delete_draf"]',
            ["there is no operation 'delete_draf'. Did you mean 'delete_draft'?"],
            id="misspelt where it is taken out",
        ),
        pytest.param(
            '["get_ordr", "delete_*", "delete_drafts"]',
            [
                "there is no operation 'get_ordr'. Did you mean 'get_order'?",
                "there is no operation 'delete_drafts'. Did you mean 'delete_draft'?",
            ],
            id="two of three",
        ),
        pytest.param(
            '"introspect"',
            ["introspection is open in every case, so there is nothing to rule: leave it out"],
            id="introspection",
        ),
    ],
)
def test_operations_that_do_not_exist(operations: str, mistakes: list[str]) -> None:
    said = f"operations = {operations}\n"
    assert mistakes_of(rule(said)) == [f"rule 1 ('r'), key 'operations': {one}" for one in mistakes]
    assert warnings_of(rule(said + "optional = true")) == []


@pytest.mark.parametrize(
    ("said", "mistake"),
    [
        pytest.param('operations = "delete_*"\ncategories = "read"', " in READ", id="of another category"),
        pytest.param('operations = ["get_order", "!get_*"]', "", id="all taken out"),
    ],
)
def test_a_rule_that_matches_nothing(said: str, mistake: str) -> None:
    assert mistakes_of(rule(said)) == [
        f"rule 1 ('r'): it matches no operation{mistake}: correct it, or add optional = true"
    ]
    assert warnings_of(rule(f"{said}\noptional = true")) == []


@pytest.mark.parametrize(
    ("sources", "hint"),
    [
        pytest.param('"library"', "", id="another"),
        pytest.param('"shpo"', ". Did you mean 'shop'?", id="misspelt"),
        pytest.param('"!shop"', "", id="all but this"),
    ],
)
def test_a_rule_for_another_adapter_is_odd_and_not_checked_further(sources: str, hint: str) -> None:
    assert warnings_of(rule(f'sources = {sources}\noperations = "zap"\nwhen = {{ zap = 1 }}')) == [
        f"rule 1 ('r'), key 'sources': it is not for this adapter, 'shop'{hint}"
    ]


def on(operation: str, when: str) -> str:
    return rule(f'operations = "{operation}"\nwhen = {{ {when} }}')


@pytest.mark.parametrize(
    ("operation", "when", "parameter", "mistake"),
    [
        pytest.param("create_refund", "amout = 1", "amout", f"{NONE_HAS_IT}. Did you mean 'amount'?", id="misspelt"),
        pytest.param(
            "delete_draft",
            "zebra = 1",
            "zebra",
            f"{NONE_HAS_IT}; known are number, dry_run",
            id="nothing near",
        ),
        pytest.param(
            "create_refund",
            '"address.contry" = "NO"',
            "address.contry",
            f"{NONE_HAS_IT}. Did you mean 'address.country'?",
            id="misspelt inside an object",
        ),
        pytest.param(
            "create_refund",
            '"items.sky" = "NO"',
            "items.sky",
            f"{NONE_HAS_IT}. Did you mean 'items.sku'?",
            id="misspelt inside the objects of a list",
        ),
        pytest.param(
            "create_refund",
            '"amount.currency" = "NOK"',
            "amount.currency",
            f"{NONE_HAS_IT}. Did you mean 'amount'?",
            id="inside a number",
        ),
        pytest.param(
            "update_order", "price = 1", "price", f"{NONE_HAS_IT}. Did you mean 'input.price'?", id="not inside input"
        ),
        pytest.param(
            "get_order",
            'number = "5"',
            "number",
            "the parameter is of type integer, and so never the text '5'",
            id="a text for an integer",
        ),
        pytest.param(
            "get_order",
            "number = 1.5",
            "number",
            "the parameter is of type integer, and so never the number 1.5",
            id="a fraction for an integer",
        ),
        pytest.param(
            "get_order",
            "number = true",
            "number",
            "the parameter is of type integer, and so never true",
            id="a flag for an integer",
        ),
        pytest.param(
            "get_order",
            'number = { matches = "^1" }',
            "number",
            "the parameter is of type integer, and so never the text '^1'",
            id="an expression for an integer",
        ),
        pytest.param(
            "get_order",
            "number = { eq = [1] }",
            "number",
            "the parameter is of type integer, and so never a list: write { in = […] } to mean any of these",
            id="a list for an integer",
        ),
        pytest.param(
            "create_refund",
            'notify = "yes"',
            "notify",
            "the parameter is of type boolean, and so never the text 'yes'",
            id="a text for a flag",
        ),
        pytest.param(
            "create_refund",
            'address = "x"',
            "address",
            "the parameter is of type object, and so never the text 'x'",
            id="a text for an object",
        ),
        pytest.param(
            "create_refund",
            "tags = { in = [5] }",
            "tags",
            "the parameter is of type string, and so never the number 5",
            id="a number for the texts of a list",
        ),
        pytest.param(
            "create_refund",
            '"items.price" = { gt = "x" }',
            "items.price",
            "the parameter is of type number, and so never the text 'x'",
            id="a text for a number inside a list",
        ),
        pytest.param(
            "create_refund",
            'amount = { gt = "100" }',
            "amount",
            "the parameter is a decimal number: write '100' without quotes, so it is compared as a number",
            id="a text for a decimal",
        ),
        pytest.param(
            "delete_order",
            'status = "clsed"',
            "status",
            "'clsed' is none of the parameter's values, which are open, closed. Did you mean 'closed'?",
            id="not among the values",
        ),
        pytest.param(
            "delete_order",
            'status = { not_in = ["open", "shut"] }',
            "status",
            "'shut' is none of the parameter's values, which are open, closed",
            id="one of two not among the values",
        ),
    ],
)
def test_a_condition_that_can_never_hold(operation: str, when: str, parameter: str, mistake: str) -> None:
    assert mistakes_of(on(operation, when)) == [f"rule 1 ('r'), key 'when', parameter '{parameter}': {mistake}"]


@pytest.mark.parametrize(
    ("operation", "when"),
    [
        pytest.param("create_refund", "amount = { gt = 100, lte = 99.5 }", id="numbers for a decimal"),
        pytest.param("create_refund", '"address.country" = "NO", "address.verified" = true', id="inside an object"),
        pytest.param("create_refund", '"items.sku" = { matches = "^X" }', id="inside the objects of a list"),
        pytest.param("create_refund", 'tags = "x", "address.lines" = { eq = ["a", "b"] }', id="lists"),
        pytest.param("create_refund", 'extra = 5, "extra.deep.down" = "x"', id="anything"),
        pytest.param("get_order", "number = { gt = 1.5 }, view = { ne = 'full' }", id="more than a fraction"),
        pytest.param("update_order", '"input.price" = { gt = 5 }', id="inside input"),
        pytest.param("delete_*", 'status = "closed"', id="a parameter of one of several"),
        pytest.param("delete_order", "reason = { present = false }", id="absent"),
    ],
)
def test_a_condition_that_may_hold(operation: str, when: str) -> None:
    assert warnings_of(on(operation, when)) == []


@pytest.mark.parametrize(
    ("operation", "when", "parameter", "warning"),
    [
        pytest.param(
            "get_order",
            "number = { present = true }",
            "number",
            "the parameter is always given or has a default, so this always holds",
            id="required",
        ),
        pytest.param(
            "get_order",
            "view = { present = false }",
            "view",
            "the parameter is always given or has a default, so this never holds",
            id="with a default",
        ),
        pytest.param(
            "create_refund",
            'due = { gt = "2026-01-01T00:00:00Z" }',
            "due",
            "it is compared as text, and the same may be written with another offset from UTC",
            id="a time",
        ),
        pytest.param(
            "create_refund",
            'ticket = { in = ["123e4567-e89b-12d3-a456-426614174000"] }',
            "ticket",
            "it is compared as text, and the same may be written in capital letters",
            id="an id",
        ),
    ],
)
def test_a_condition_that_is_odd(operation: str, when: str, parameter: str, warning: str) -> None:
    assert warnings_of(on(operation, when)) == [f"rule 1 ('r'), key 'when', parameter '{parameter}': {warning}"]


@pytest.mark.parametrize(
    ("decision", "follows"),
    [("confirm", "always applies to"), ("deny", "always applies to"), ("allow", "never allows")],
)
def test_rows_that_no_dry_run_tells(decision: str, follows: str) -> None:
    said = 'default = "confirm"\n' + rule('categories = "delete"\naffected_rows = { gt = 5 }', decision)
    [warning] = warnings_of(said)
    assert warning == (
        f"rule 1 ('r'), key 'affected_rows': these cannot be tried without effect, so the rule {follows} them, however "
        "few the rows: delete_order, delete_draft"
    )


def test_rows_that_a_dry_run_tells() -> None:
    assert warnings_of(rule('operations = "*_book"\ncategories = "delete"\naffected_rows = { gt = 5 }')) == []


def test_all_mistakes_are_said_together() -> None:
    toml = on("delete_oder", "number = 1") + rule('operations = "get_order"\nwhen = { nmber = 1 }', name="s")
    toml += '[danger.zap]\nlevel = "safe"\n'
    assert [one.split(": ")[0] for one in mistakes_of(toml)] == [
        "rule 1 ('r'), key 'operations'",
        "rule 2 ('s'), key 'when', parameter 'nmber'",
        "danger 'zap'",
    ]


DENY_ALL_DELETES = rule('categories = "delete"', "deny", "never")


@pytest.mark.parametrize(
    ("toml", "warnings"),
    [
        pytest.param(
            rule('operations = "get_*"', "allow"),
            [f"rule 1 ('r'): {NEEDLESS}"],
            id="allows what is allowed",
        ),
        pytest.param(
            'default = "deny"\n' + rule('operations = "get_*"', "allow"), [], id="allows what is denied by default"
        ),
        pytest.param(
            rule('operations = "delete_order"\nwhen = { status = "open" }') + DENY_ALL_DELETES,
            ["rule 1 ('r'): it changes nothing: rule 2 ('never') denies all of it in any case"],
            id="asks for what a later rule denies",
        ),
        pytest.param(
            rule('categories = "delete"\ncallers = "alice"', "deny", "never")
            + rule('categories = "delete"\ncallers = "bob"'),
            [],
            id="denied to somebody else",
        ),
        pytest.param(
            DENY_ALL_DELETES + rule('operations = "delete_order"\ncallers = "bob"'),
            ["rule 2 ('r'): it changes nothing: rule 1 ('never') denies all of it in any case"],
            id="denied to all",
        ),
        pytest.param(
            rule('callers = "bob"', "deny", "never") + rule('operations = "get_order"\ncallers = "bob"'),
            ["rule 2 ('r'): it changes nothing: rule 1 ('never') denies all of it in any case"],
            id="denied to the same",
        ),
        pytest.param(
            rule('operations = "get_*"', name="a") + rule('operations = "get_*"', name="b"),
            ["rule 2 ('b'): it changes nothing: rule 1 ('a') asks for all of it in any case"],
            id="twins: the first stays",
        ),
        pytest.param(
            rule('operations = "get_*"', name="a") + rule('operations = "get_order"\nconfirm = "person"', name="b"),
            [],
            id="asks more of some",
        ),
        pytest.param(
            rule('operations = "get_*"\nconfirm = "person"', name="a") + rule('operations = "get_order"', name="b"),
            ["rule 2 ('b'): it changes nothing: rule 1 ('a') asks for all of it in any case"],
            id="asks less of some",
        ),
        pytest.param(
            rule('operations = "get_*"\nremember = "session"', name="a") + rule('operations = "get_order"', name="b"),
            [],
            id="asks each time",
        ),
        pytest.param(
            rule('operations = "get_order"\nwhen = { number = 1 }', "deny", "a")
            + rule('operations = "get_order"', name="b"),
            [],
            id="a condition covers nothing for sure",
        ),
        pytest.param(
            rule('operations = "get_book"', "deny", "a") + rule('operations = "get_*"', "deny", "b"),
            ["rule 1 ('a'): it changes nothing: rule 2 ('b') denies all of it in any case"],
            id="a special case of a later rule",
        ),
    ],
)
def test_a_rule_that_changes_nothing_beside_others(toml: str, warnings: list[str]) -> None:
    assert warnings_of(toml) == warnings


EASED = "danger: these count as less dangerous than usual: "
BY_TRUST = "rule 1 ('r'): it changes nothing: danger and trust ({}) decide as much for all of it by themselves"


@pytest.mark.parametrize(
    ("toml", "trust", "is_idle"),
    [
        pytest.param(rule('operations = "delete_*"'), Trust.VALIDATED, True, id="asks for what is asked for"),
        pytest.param(rule('operations = "delete_*"'), Trust.CERTIFIED, False, id="asks for what is allowed"),
        pytest.param(rule('operations = "delete_*"'), Trust.GENERATED, True, id="asks for what is denied"),
        pytest.param(rule('operations = "delete_*"'), None, False, id="nobody knows the trust"),
        pytest.param(rule('operations = ["delete_*", "get_*"]'), Trust.VALIDATED, False, id="asks for more"),
        pytest.param(rule('operations = "delete_*"\nconfirm = "person"'), Trust.VALIDATED, False, id="asks a person"),
        pytest.param(
            rule('operations = "delete_*"\nconfirm = "person"') + '[confirmation]\nby = "person"',
            Trust.VALIDATED,
            True,
            id="asks a person where persons are asked",
        ),
        pytest.param(rule('operations = "delete_*"\nremember = "session"'), Trust.VALIDATED, False, id="asks once"),
        pytest.param(rule('operations = "purge_*"', "deny"), Trust.VALIDATED, True, id="denies what is denied"),
        pytest.param(rule('operations = "delete_*"', "deny"), Trust.VALIDATED, False, id="denies what is asked for"),
        pytest.param(
            'default = "deny"\n' + rule('operations = "delete_*"'), Trust.VALIDATED, False, id="keeps the default away"
        ),
        pytest.param(
            rule('operations = "delete_*"') + '[danger."delete_*"]\nlevel = "safe"\n',
            Trust.VALIDATED,
            False,
            id="declared safe",
        ),
    ],
)
def test_a_rule_that_changes_nothing_beside_danger_and_trust(toml: str, trust: Trust | None, is_idle: bool) -> None:
    told = [one for one in warnings_of(toml, trust) if not one.startswith(EASED)]
    assert told == ([BY_TRUST.format(trust)] if is_idle else [])


def test_the_trust_of_the_policy_counts_where_no_other_is_given() -> None:
    toml = 'trust = "validated"\n' + rule('operations = "delete_*"')
    assert warnings_of(toml) == [BY_TRUST.format("validated")]
    assert warnings_of(toml, Trust.CERTIFIED) == []


@pytest.mark.parametrize(
    ("toml", "mistakes"),
    [
        pytest.param(
            '[danger.purge_order]\nlevel = "safe"',
            ["danger 'purge_order': there is no operation 'purge_order'. Did you mean 'purge_orders'?"],
            id="danger of none",
        ),
        pytest.param(
            '[danger."purge_*"]\nlevel = "safe"\nconfirmation_message = "Purge {befor} by {whom}, {before}?"',
            [
                f"{MESSAGE.format('purge_*')}: '{{befor}}' is no parameter of purge_orders. Did you mean 'before'?",
                f"{MESSAGE.format('purge_*')}: '{{whom}}' is no parameter of purge_orders",
            ],
            id="a message with a slip",
        ),
        pytest.param(
            '[danger."delete_*"]\nlevel = "safe"\nconfirmation_message = "{status} {number}?"',
            [
                f"{MESSAGE.format('delete_*')}: '{{status}}' is no parameter of delete_draft, delete_book",
                f"{MESSAGE.format('delete_*')}: '{{number}}' is no parameter of delete_book",
            ],
            id="a message that fits only some",
        ),
        pytest.param(
            '[[api_limit]]\nscope = "endpoint"\nendpoint = "zap_*"\nlimit = 1\nwindow = "day"',
            [f"api_limit 1, key 'endpoint': no operation fits 'zap_*': correct it or leave it out{FEW}"],
            id="a limit of none",
        ),
        pytest.param(
            '[[quota]]\nmetric = "tokens_per_day"\nwarn = 1\noperations = ["get_order", "!get_*"]',
            ["quota 1: it matches no operation: correct it or leave it out"],
            id="a quota of none",
        ),
        pytest.param(
            '[cost]\ncurrency = "USD"\npricing = [{ operations = "get_oder", cost_per_call = 1 }]',
            ["cost, price 1, key 'operations': there is no operation 'get_oder'. Did you mean 'get_order'?"],
            id="a price of none",
        ),
    ],
)
def test_danger_and_limits_of_what_does_not_exist(toml: str, mistakes: list[str]) -> None:
    assert mistakes_of(toml) == mistakes


def test_a_limit_of_a_category_that_the_adapter_lacks() -> None:
    reading = {name: one for name, one in SHOP.operations.items() if one.category.read_only}
    limited = policy('[[api_limit]]\nscope = "category"\ncategory = "execute"\nlimit = 1\nwindow = "day"')
    with pytest.raises(PolicyError, match=r"^p: api_limit 1: it matches no operation: correct it or leave it out$"):
        check_policy(limited, "shop", reading)
    assert check_policy(limited, "shop", SHOP.operations) == []


@pytest.mark.parametrize(
    ("toml", "warning"),
    [
        pytest.param(
            '[danger."purge_*"]\nlevel = "forbidden"\n[danger.purge_orders]\nlevel = "dangerous"',
            "danger 'purge_orders': it changes nothing: danger 'purge_*' stands before it and matches all of it",
            id="danger declared before",
        ),
        pytest.param(
            '[[quota]]\nmetric = "cost_per_day"\nwarn = 1\noperations = "get_*"\n[cost]\ncurrency = "USD"\n'
            'pricing = [{ operations = "delete_*", cost_per_call = 1 }]',
            "quota 1: none of its operations has a price, so it counts nothing",
            id="a quota of what is free",
        ),
        pytest.param(
            "[confirmation]\nclock_skew_seconds = 60.5",
            "confirmation, key 'clock_skew_seconds': 60.5 is a lot: better set the clocks right",
            id="clocks that differ a lot",
        ),
    ],
)
def test_other_oddities(toml: str, warning: str) -> None:
    assert warnings_of(toml) == [warning]


def test_a_policy_without_a_name_is_called_so() -> None:
    with pytest.raises(PolicyError, match=r"^policy: rule 1"):
        check_policy(replace(policy(rule('operations = "zap"')), name=""), "shop", SHOP.operations)


def test_a_message_may_name_the_parameters_of_the_operations_that_it_counts_for() -> None:
    toml = (
        '[danger.delete_order]\nlevel = "dangerous"\nconfirmation_message = "Delete {number}, {status}?"\n'
        '[danger."delete_*"]\nlevel = "destructive"\n[confirmation]\nclock_skew_seconds = 60\n'
    )
    assert warnings_of(toml) == []


def test_what_counts_as_less_dangerous_than_usual_is_told() -> None:
    toml = '[danger."delete_*"]\nlevel = "reversible"\n[danger."get_*"]\nlevel = "dangerous"\n'
    (warning,) = warnings_of(toml)
    assert warning.startswith(EASED)
    assert "'delete_order' (destructive)" in warning
    assert "get_" not in warning, "what is taken more seriously needs no warning"
