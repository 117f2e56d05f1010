"""Rules in a policy file that are wrong: where each mistake is, what is wrong and what is known."""

import pytest

from tests.safety.policies import EMPTY, mistakes_in

RULE = '[[rule]]\nname = "r"\ndecision = "confirm"\n'
RULE_KEYS = (
    "name, decision, operations, categories, sources, callers, when, affected_rows, confirm, remember, reason, optional"
)
TOP_KEYS = "trust, default, rule, danger, confirmation, escalation, api_limit, quota, cost, audit, autonomy"
OPERATORS = "eq, ne, in, not_in, gt, gte, lt, lte, matches or present"


@pytest.mark.parametrize(
    ("toml", "mistake"),
    [
        pytest.param("", "it rules nothing: an empty policy is refused, so leave it out or write rules", id="nothing"),
        pytest.param(
            'defualt = "deny"',
            f"key 'defualt': there is no such key; known are {TOP_KEYS}. Did you mean 'default'?",
            id="unknown key",
        ),
        pytest.param(
            'default = "block"', "key 'default': 'block' is not known; it may be allow, confirm or deny", id="default"
        ),
        pytest.param("default = 1", "key 'default': this must be a text, not the number 1", id="default of a number"),
        pytest.param(
            'trust = "Certified"',
            "key 'trust': 'Certified' is not known; it may be untested, generated, validated, community_reviewed or "
            "certified. Did you mean 'certified'?",
            id="trust in capitals",
        ),
        pytest.param(
            "rule = 5",
            "key 'rule': this must be a list of tables: write [[rule]] with two brackets above each",
            id="rule of a number",
        ),
        pytest.param(
            '[rule]\nname = "r"',
            "key 'rule': this must be a list of tables: write [[rule]] with two brackets above each",
            id="one bracket",
        ),
        pytest.param("rule = []", f"key 'rule': {EMPTY}", id="no rules"),
        pytest.param("rule = [5]", "rule 1: this must be a table, not the number 5", id="a rule of a number"),
        pytest.param("audit = {}", f"audit: {EMPTY}", id="an empty table"),
        pytest.param(
            "cost = 2026-01-01", "cost: this must be a table, not a date or time (write it in quotes)", id="date"
        ),
    ],
)
def test_the_file_as_a_whole(toml: str, mistake: str) -> None:
    assert mistakes_in(toml) == [mistake]


@pytest.mark.parametrize(
    ("said", "mistake"),
    [
        pytest.param(
            'operatons = "x"',
            f"key 'operatons': there is no such key; known are {RULE_KEYS}. Did you mean 'operations'?",
            id="unknown key",
        ),
        pytest.param(
            "operations = []", "key 'operations': this list is empty: fill it, or leave the key out", id="none"
        ),
        pytest.param(
            "operations = true", "key 'operations': this must be a text or a list of texts, not true", id="of a flag"
        ),
        pytest.param(
            'operations = ["a", 5]', "key 'operations': item 2: this must be a text, not the number 5", id="of a number"
        ),
        pytest.param(
            'operations = ["a", ""]',
            "key 'operations': item 2: this must be a text with something in it",
            id="empty one",
        ),
        pytest.param(
            'operations = "!"',
            "key 'operations': '!' is no pattern: write one '!' and then the pattern to take out, such as '!delete_*'",
            id="takes nothing out",
        ),
        pytest.param(
            'operations = "!!x"',
            "key 'operations': '!!x' is no pattern: write one '!' and then the pattern to take out, such as "
            "'!delete_*'",
            id="takes out twice",
        ),
        pytest.param(
            'operations = " delete_x"',
            "key 'operations': ' delete_x' has a space before or after it, which no name has: take it out",
            id="a space",
        ),
        pytest.param(
            'operations = "DELETE_*"',
            "key 'operations': 'DELETE_*' can match no operation: their names are lower-case letters, digits "
            "and underscores, and a pattern may have '*' and '?'",
            id="capitals",
        ),
        pytest.param(
            'operations = "delete_[ab]"',
            "key 'operations': 'delete_[ab]' can match no operation: their names are lower-case letters, "
            "digits and underscores, and a pattern may have '*' and '?'",
            id="brackets",
        ),
        pytest.param(
            'categories = "REMOVE"',
            "key 'categories': 'REMOVE' is not known; it may be CREATE, READ, UPDATE, DELETE or EXECUTE",
            id="category",
        ),
        pytest.param(
            'categories = ["read", "delet"]',
            "key 'categories': item 2: 'delet' is not known; it may be CREATE, READ, UPDATE, DELETE or EXECUTE. "
            "Did you mean 'DELETE'?",
            id="misspelt category",
        ),
        pytest.param(
            "sources = []", "key 'sources': this list is empty: fill it, or leave the key out", id="no source"
        ),
        pytest.param("callers = []", "key 'callers': this list is empty: fill it, or leave the key out", id="nobody"),
        pytest.param(
            'callers = "scope:"',
            "key 'callers': 'scope:' names nobody: write 'scope:' and the name of a scope right after it",
            id="no scope",
        ),
        pytest.param(
            'callers = "!client: web"',
            "key 'callers': '!client: web' names nobody: write 'client:' and the name of a client right after it",
            id="a space after the colon",
        ),
        pytest.param(
            'callers = "scopes:admin"',
            "key 'callers': 'scopes:admin' is likely no name. Did you mean 'scope:admin'?",
            id="misspelt scope",
        ),
        pytest.param(
            'callers = "Client:web"',
            "key 'callers': 'Client:web' is likely no name. Did you mean 'client:web'?",
            id="client in capitals",
        ),
        pytest.param(
            'callers = "anonymus"',
            "key 'callers': 'anonymus' is likely no name. Did you mean 'anonymous'?",
            id="misspelt anonymous",
        ),
        pytest.param(
            'confirm = "human"', "key 'confirm': 'human' is not known; it may be client or person", id="confirm by"
        ),
        pytest.param(
            'remember = "ever"', "key 'remember': 'ever' is not known; it may be session", id="remember for ever"
        ),
        pytest.param("remember = true", "key 'remember': this must be a text, not true", id="remember, a flag"),
        pytest.param('reason = "  "', "key 'reason': this must be a text with something in it", id="blank reason"),
        pytest.param(
            'optional = "yes"', "key 'optional': this must be true or false, not the text 'yes'", id="optional, a text"
        ),
        pytest.param("optional = 1", "key 'optional': this must be true or false, not the number 1", id="optional, 1"),
    ],
)
def test_a_rule(said: str, mistake: str) -> None:
    assert mistakes_in(RULE + said) == [f"rule 1 ('r'), {mistake}"]


@pytest.mark.parametrize(
    ("toml", "mistakes"),
    [
        pytest.param(
            '[[rule]]\noperations = "x"',
            [f"rule 1: the key '{key}' is missing: add it" for key in ("name", "decision")],
            id="neither name nor decision",
        ),
        pytest.param(
            '[[rule]]\nname = 5\ndecision = "deny"',
            ["rule 1, key 'name': this must be a text, not the number 5"],
            id="a number for a name",
        ),
        pytest.param(
            '[[rule]]\nname = "two\\nlines"\ndecision = "deny"',
            [
                (
                    "rule 1 ('two\N{REPLACEMENT CHARACTER}lines'), key 'name': a name is one line of 100 characters or "
                    "fewer, for people and for the audit"
                )
            ],
            id="a name of two lines",
        ),
        pytest.param(
            f'[[rule]]\nname = "{"x" * 101}"\ndecision = "deny"',
            [
                (
                    f"rule 1 ('{'x' * 60}…'), key 'name': a name is one line of 100 characters or fewer, for "
                    "people and for the audit"
                )
            ],
            id="a long name",
        ),
        pytest.param(
            '[[rule]]\nname = "the policy\'s default"\ndecision = "deny"',
            [
                (
                    "rule 1 ('the policy's default'), key 'name': this is how the default itself is called: choose "
                    "another name"
                )
            ],
            id="the name of the default",
        ),
        pytest.param(
            RULE + '[[rule]]\nname = "s"\ndecision = "deny"\n' + RULE,
            ["rule 3 ('r'), key 'name': rule 1 has this name already: give each its own"],
            id="a name twice",
        ),
        pytest.param(
            '[[rule]]\nname = "r"\ndecision = "forbid"\nremember = "session"',
            ["rule 1 ('r'), key 'decision': 'forbid' is not known; it may be allow, confirm or deny"],
            id="decision",
        ),
        pytest.param(
            '[[rule]]\nname = "r"\ndecision = "deny"\nconfirm = "person"\nremember = "session"',
            [
                f"rule 1 ('r'), key '{key}': this is only for decision = \"confirm\", and here it is \"deny\""
                for key in ("confirm", "remember")
            ],
            id="confirming what is denied",
        ),
        pytest.param(
            '[[rule]]\nname = "r"\ndecision = "allow"\nremember = "session"',
            ["rule 1 ('r'), key 'remember': this is only for decision = \"confirm\", and here it is \"allow\""],
            id="remembering what is allowed",
        ),
    ],
)
def test_a_rule_as_a_whole(toml: str, mistakes: list[str]) -> None:
    assert mistakes_in(toml) == mistakes


@pytest.mark.parametrize(
    ("when", "mistake"),
    [
        pytest.param("{}", f": {EMPTY}", id="no condition"),
        pytest.param("5", ": this must be a table, not the number 5", id="no table"),
        pytest.param(
            '{ "" = 1 }', ", parameter '': this must be a name, or several with a dot between two", id="no name"
        ),
        pytest.param(
            '{ "a..b" = 1 }',
            ", parameter 'a..b': this must be a name, or several with a dot between two",
            id="two dots",
        ),
        pytest.param("{ x = {} }", f", parameter 'x': {EMPTY}", id="no operator"),
        pytest.param(
            "{ x = [1, 2] }",
            ", parameter 'x': a list needs an operator: write { in = […] } for any of these, or { eq = […] } for the "
            "whole list",
            id="a bare list",
        ),
        pytest.param(
            "{ x = { gtt = 1 } }",
            f", parameter 'x', operator 'gtt': 'gtt' is not known; it may be {OPERATORS}. Did you mean 'gt'? "
            "(for a parameter inside 'x', write 'x.gtt' as one key in quotes)",
            id="unknown operator",
        ),
        pytest.param(
            '{ address.country = "NO" }',
            f", parameter 'address', operator 'country': 'country' is not known; it may be {OPERATORS} (for a "
            "parameter inside 'address', write 'address.country' as one key in quotes)",
            id="a path without quotes",
        ),
        pytest.param("{ x = nan }", ", parameter 'x': this must be a finite number, not nan", id="not a number"),
        pytest.param(
            "{ x = { gt = inf } }",
            ", parameter 'x', operator 'gt': this must be a finite number, not inf",
            id="endless",
        ),
        pytest.param(
            "{ x = { gt = true } }",
            ", parameter 'x', operator 'gt': this must be a number or a text, not true",
            id="more than true",
        ),
        pytest.param(
            "{ x = { lt = [1] } }",
            ", parameter 'x', operator 'lt': this must be a text, a number, true or false, not a list",
            id="less than a list",
        ),
        pytest.param(
            "{ x = { eq = { a = 1 } } }",
            ", parameter 'x', operator 'eq': this must be a text, a number, true or false, not a table",
            id="equal to a table",
        ),
        pytest.param(
            "{ x = 2026-01-01 }",
            ", parameter 'x': this must be a text, a number, true or false, not a date or time (write it in quotes)",
            id="a date without quotes",
        ),
        pytest.param(
            "{ x = { eq = [1, nan] } }",
            ", parameter 'x', operator 'eq': item 2: this must be a finite number, not nan",
            id="not a number in a list",
        ),
        pytest.param(
            '{ x = { in = "a" } }',
            ", parameter 'x', operator 'in': this must be a list, not the text 'a'",
            id="in a text",
        ),
        pytest.param(
            "{ x = { not_in = [] } }",
            ", parameter 'x', operator 'not_in': this list is empty: fill it, or leave the key out",
            id="in an empty list",
        ),
        pytest.param(
            "{ x = { in = [[1]] } }",
            ", parameter 'x', operator 'in': item 1: this must be a text, a number, true or false, not a list",
            id="in a list of lists",
        ),
        pytest.param(
            "{ x = { matches = 5 } }",
            ", parameter 'x', operator 'matches': this must be a text, not the number 5",
            id="matches a number",
        ),
        pytest.param(
            '{ x = { matches = "(" } }',
            ", parameter 'x', operator 'matches': '(': it is not a regular expression (missing ), unterminated "
            "subpattern, position 0)",
            id="a bad expression",
        ),
        pytest.param(
            '{ x = { present = "yes" } }',
            ", parameter 'x', operator 'present': this must be true or false, not the text 'yes'",
            id="present, a text",
        ),
    ],
)
def test_a_condition(when: str, mistake: str) -> None:
    assert mistakes_in(f"{RULE}when = {when}") == [f"rule 1 ('r'), key 'when'{mistake}"]


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param(r"(a)\1", id="back-reference"),
        pytest.param("(?P<x>a)(?P=x)", id="named back-reference"),
        pytest.param("(?=a)", id="look-ahead"),
        pytest.param("(?<!a)b", id="look-behind"),
        pytest.param("(?:a{1,500}){1,500}", id="a product of counts"),
        pytest.param("a{100000}", id="a large count"),
        pytest.param(r"a\Z", id="an end that is not ECMA 262"),
        pytest.param("(" * 9 + "a" + "){9}" * 9, id="counts of counts"),
    ],
)
def test_an_expression_that_might_take_long_is_refused(expression: str) -> None:
    [mistake] = mistakes_in(f"{RULE}when = {{ x = {{ matches = '{expression}' }} }}")
    assert mistake.endswith(
        f"'{expression}': it cannot be used: leave out look-around, back-references, \\A, \\Z and large counts"
    )


@pytest.mark.parametrize(
    ("rows", "mistake"),
    [
        pytest.param("true", "this must be a whole number, not true", id="a flag"),
        pytest.param("1.5", "this must be a whole number, not the number 1.5", id="a fraction"),
        pytest.param("-1", "this must be 0 or more, not the number -1", id="fewer than none"),
        pytest.param("{}", EMPTY, id="empty"),
    ],
)
def test_rows(rows: str, mistake: str) -> None:
    assert mistakes_in(f"{RULE}affected_rows = {rows}") == [f"rule 1 ('r'), key 'affected_rows': {mistake}"]


def test_rows_have_no_expressions() -> None:
    assert mistakes_in(f'{RULE}affected_rows = {{ matches = "1", in = ["1"] }}') == [
        (
            "rule 1 ('r'), key 'affected_rows', operator 'matches': 'matches' is not known; it may be eq, ne, gt, gte, "
            "lt, lte, in or not_in"
        ),
        "rule 1 ('r'), key 'affected_rows', operator 'in': item 1: this must be a whole number, not the text '1'",
    ]


def test_an_expression_that_is_nested_too_deep_is_refused() -> None:
    [mistake] = mistakes_in(f"{RULE}when = {{ x = {{ matches = '{'(' * 5000}{')' * 5000}' }} }}")
    assert mistake == (
        f"rule 1 ('r'), key 'when', parameter 'x', operator 'matches': '{'(' * 60}…': it cannot be used: leave out "
        "look-around, back-references, \\A, \\Z and large counts"
    )
