"""Settings and limits in a policy file that are wrong: where each mistake is, what is wrong and what is known."""

import pytest

from tests.safety.policies import EMPTY, mistakes_in

COST = '[cost]\ncurrency = "USD"\npricing = [{ operations = "*", cost_per_call = 1 }]\n'
QUOTA = '[[quota]]\nmetric = "requests_per_hour"\nwarn = 5\n'
LIMIT = '[[api_limit]]\nlimit = 5\nwindow = "day"\n'


@pytest.mark.parametrize(
    ("toml", "mistake"),
    [
        pytest.param("[danger]", f"danger: {EMPTY}", id="empty"),
        pytest.param('[danger.x]\nreasons = "r"', "danger 'x': the key 'level' is missing: add it", id="no level"),
        pytest.param("[danger.x]", f"danger 'x': {EMPTY}", id="empty declaration"),
        pytest.param("danger.x = 3", "danger 'x': this must be a table, not the number 3", id="a number"),
        pytest.param(
            '[danger.x]\nlevel = "severe"',
            "danger 'x', key 'level': 'severe' is not known; it may be safe, reversible, destructive, dangerous or "
            "forbidden",
            id="level",
        ),
        pytest.param(
            '[danger."!x"]\nlevel = "safe"',
            "danger '!x': a '!' means nothing here: name the operations themselves",
            id="taking out",
        ),
        pytest.param(
            '[danger."Purge"]\nlevel = "safe"',
            "danger 'Purge': 'Purge' can match no operation: their names are lower-case letters, digits and "
            "underscores, and a pattern may have '*' and '?'",
            id="capitals",
        ),
        pytest.param(
            '[danger.x]\nlevel = "safe"\nreasons = []',
            "danger 'x', key 'reasons': this list is empty: fill it, or leave the key out",
            id="no reasons",
        ),
        pytest.param(
            '[danger.x]\nlevel = "safe"\ncooldown_seconds = 121',
            "danger 'x', key 'cooldown_seconds': A cooldown of 121 seconds is not possible: 0 to 120 are.",
            id="a long wait",
        ),
        pytest.param(
            '[danger.x]\nlevel = "safe"\ncooldown_seconds = nan',
            "danger 'x', key 'cooldown_seconds': this must be a finite number, not nan",
            id="a wait of no number",
        ),
        pytest.param(
            '[danger.x]\nlevel = "forbidden"\ncooldown_seconds = 120',
            "danger 'x', key 'cooldown_seconds': a confirmation of forbidden operations counts for 120 seconds, so it "
            "would be void before it may be used: choose fewer here, or more in [confirmation] seconds",
            id="a wait beyond the confirmation",
        ),
        pytest.param(
            '[danger.x]\nlevel = "safe"\nrequires_reauth = "no"',
            "danger 'x', key 'requires_reauth': this must be true or false, not the text 'no'",
            id="a text for a flag",
        ),
    ],
)
def test_danger(toml: str, mistake: str) -> None:
    assert mistakes_in(toml) == [mistake]


@pytest.mark.parametrize(
    ("said", "mistake"),
    [
        pytest.param('by = "me"', ", key 'by': 'me' is not known; it may be client or person", id="by"),
        pytest.param("elicit = 1", ", key 'elicit': this must be true or false, not the number 1", id="elicit"),
        pytest.param('batches = "stop"', ", key 'batches': 'stop' is not known; it may be halt or skip", id="batches"),
        pytest.param(
            "clock_skew_seconds = 301",
            ", key 'clock_skew_seconds': this must be 300 or less, not the number 301",
            id="too much skew",
        ),
        pytest.param(
            "clock_skew_seconds = -1",
            ", key 'clock_skew_seconds': this must be 0 or more, not the number -1",
            id="negative skew",
        ),
        pytest.param(
            "clock_skew_seconds = true",
            ", key 'clock_skew_seconds': this must be a number, not true",
            id="a flag for a number",
        ),
        pytest.param("max_live = 999", ", key 'max_live': this must be 1000 or more, not the number 999", id="too few"),
        pytest.param(
            "max_live = 1000.0", ", key 'max_live': this must be a whole number, not the number 1000.0", id="a fraction"
        ),
        pytest.param(
            "refusals_per_minute = 0",
            ", key 'refusals_per_minute': this must be 1 or more, not the number 0",
            id="no refusals",
        ),
        pytest.param("seconds = {}", f", key 'seconds': {EMPTY}", id="no seconds"),
        pytest.param(
            "seconds = { grave = 5 }",
            ", key 'seconds', key 'grave': there is no such key; known are safe, reversible, destructive, dangerous, "
            "forbidden, quota",
            id="unknown level",
        ),
        pytest.param(
            "seconds = { safe = 0 }",
            ", key 'seconds', key 'safe': this must be more than 0, not the number 0",
            id="no time",
        ),
        *(
            pytest.param(
                f"seconds = {{ {name} = {most + 1} }}",
                f", key 'seconds', key '{name}': this must be {most} or less, not the number {most + 1}",
                id=f"too long for {name}",
            )
            for name, most in [
                *(("safe", 900), ("reversible", 900), ("destructive", 900), ("dangerous", 900)),
                *(("forbidden", 300), ("quota", 600)),
            ]
        ),
    ],
)
def test_confirmation(said: str, mistake: str) -> None:
    assert mistakes_in(f"[confirmation]\n{said}") == [f"confirmation{mistake}"]


@pytest.mark.parametrize(
    ("said", "mistakes"),
    [
        pytest.param('within = "hour"', ["escalation: the key 'after' is missing: add it"], id="no number"),
        pytest.param("after = 3", ["escalation: the key 'within' is missing: add it"], id="no window"),
        pytest.param(
            'after = 0\nwithin = "week"',
            [
                "escalation, key 'after': this must be 1 or more, not the number 0",
                "escalation, key 'within': 'week' is not known; it may be second, minute, hour, day or month",
            ],
            id="wrong number and window",
        ),
        pytest.param(
            'after = 1\nwithin = "day"\nlevels = ["safe", "forbidden"]',
            ["escalation, key 'levels': 'forbidden' is the highest level already: leave it out"],
            id="nothing above",
        ),
        pytest.param(
            'after = 1\nwithin = "day"\nlevels = ["grave", "safer"]',
            [
                (
                    "escalation, key 'levels': item 1: 'grave' is not known; it may be safe, reversible, destructive, "
                    "dangerous or forbidden"
                ),
                (
                    "escalation, key 'levels': item 2: 'safer' is not known; it may be safe, reversible, destructive, "
                    "dangerous or forbidden. Did you mean 'safe'?"
                ),
            ],
            id="levels",
        ),
    ],
)
def test_escalation(said: str, mistakes: list[str]) -> None:
    assert mistakes_in(f"[escalation]\n{said}") == mistakes


@pytest.mark.parametrize(
    ("toml", "mistake"),
    [
        pytest.param(LIMIT, "api_limit 1: the key 'scope' is missing: add it", id="no scope"),
        pytest.param(
            LIMIT + 'scope = "endpoint"',
            "api_limit 1: the key 'endpoint' is missing: with scope = \"endpoint\" it says which",
            id="no endpoint",
        ),
        pytest.param(
            LIMIT + 'scope = "category"',
            "api_limit 1: the key 'category' is missing: with scope = \"category\" it says which",
            id="no category",
        ),
        pytest.param(
            LIMIT + 'scope = "global"\nendpoint = "x"',
            'api_limit 1, key \'endpoint\': this is only for scope = "endpoint", and here it is "global"',
            id="an endpoint of everything",
        ),
        pytest.param(
            LIMIT + 'scope = "endpoint"\nendpoint = []',
            "api_limit 1, key 'endpoint': this list is empty: fill it, or leave the key out",
            id="no endpoints",
        ),
        pytest.param(
            '[[api_limit]]\nscope = "global"\nlimit = 0\nwindow = "day"',
            "api_limit 1, key 'limit': this must be 1 or more, not the number 0",
            id="none at all",
        ),
        pytest.param(
            '[[api_limit]]\nscope = "global"\nlimit = 1\nwindow = "month"',
            "api_limit 1, key 'window': 'month' is not known; it may be second, minute, hour or day",
            id="a month",
        ),
        pytest.param(
            (LIMIT + 'scope = "global"\n') * 2,
            "api_limit 2: api_limit 1 counts the same already: leave one of them out",
            id="the same twice",
        ),
        pytest.param(
            QUOTA.replace("hour", "second"),
            "quota 1, key 'metric': 'requests_per_second' is not known; it may be requests_per_minute, "
            "requests_per_hour, requests_per_day, requests_per_month, tokens_per_minute, tokens_per_hour, "
            "tokens_per_day, tokens_per_month, cost_per_minute, cost_per_hour, cost_per_day or cost_per_month. "
            "Did you mean 'requests_per_hour'?",
            id="metric",
        ),
        pytest.param(
            '[[quota]]\nmetric = "tokens_per_day"', "quota 1: the key 'warn' is missing: add it", id="no warn"
        ),
        pytest.param(
            QUOTA + "pause = 4",
            "quota 1: 'warn' is above 'pause': each must be the same as the one before or more",
            id="pause below warn",
        ),
        pytest.param(
            QUOTA + "hard_stop = 4",
            "quota 1: 'warn' is above 'hard_stop': each must be the same as the one before or more",
            id="stop below warn",
        ),
        pytest.param(
            QUOTA + "pause = 9\nhard_stop = 8",
            "quota 1: 'pause' is above 'hard_stop': each must be the same as the one before or more",
            id="stop below pause",
        ),
        pytest.param(
            QUOTA + "pause = 5.5",
            "quota 1, key 'pause': this must be a whole number, not the number 5.5",
            id="a fraction of a request",
        ),
        pytest.param(
            QUOTA + 'per = "user"', "quota 1, key 'per': 'user' is not known; it may be adapter or caller", id="per"
        ),
        pytest.param(
            QUOTA + 'confirm = "person"',
            "quota 1, key 'confirm': this is only for a quota with 'pause', after which somebody must confirm",
            id="confirm without pause",
        ),
        pytest.param(
            QUOTA + 'currency = "USD"', "quota 1, key 'currency': this is only for a quota of cost", id="currency"
        ),
        pytest.param(QUOTA * 2, "quota 2: quota 1 counts the same already: leave one of them out", id="quota twice"),
        pytest.param(
            '[[quota]]\nmetric = "cost_per_day"\nwarn = 1',
            "quota 1: nothing has a price, so it would count nothing: add [cost] with prices",
            id="cost without prices",
        ),
        pytest.param(
            COST + '[[quota]]\nmetric = "cost_per_day"\nwarn = 1\ncurrency = "EUR"',
            "quota 1, key 'currency': prices are in USD, so EUR would never be counted: use the same",
            id="another currency",
        ),
        pytest.param(
            COST + '[[quota]]\nmetric = "cost_per_day"\nwarn = 0',
            "quota 1, key 'warn': this must be more than 0, not the number 0",
            id="no cost",
        ),
        pytest.param(
            COST + '[[quota]]\nmetric = "cost_per_day"\nwarn = inf',
            "quota 1, key 'warn': this must be a finite number, not inf",
            id="endless cost",
        ),
        pytest.param(
            COST.replace("= 1 }", "= 0.0000001 }"),
            "cost, price 1, key 'cost_per_call': 1e-07 is finer than a millionth, in which costs are counted",
            id="a finer price",
        ),
        pytest.param(
            COST.replace("= 1 }", "= -1 }"),
            "cost, price 1, key 'cost_per_call': this must be 0 or more, not the number -1",
            id="a price below nothing",
        ),
        pytest.param(
            COST.replace('operations = "*", ', ""),
            "cost, price 1: the key 'operations' is missing: add it",
            id="of none",
        ),
        pytest.param(
            COST.replace("USD", "usd"),
            "cost, key 'currency': 'usd' is no currency: write its three capital letters, such as USD",
            id="a currency in small letters",
        ),
        pytest.param('[cost]\ncurrency = "USD"\npricing = []', f"cost, key 'pricing': {EMPTY}", id="no prices"),
        pytest.param(
            '[audit]\noperations = "some"',
            "audit, key 'operations': 'some' is not known; it may be all or dangerous",
            id="audit",
        ),
        pytest.param(
            "[audit]\nkeep_days = 0", "audit, key 'keep_days': this must be more than 0, not the number 0", id="no days"
        ),
        pytest.param(
            f"[audit]\nkeep_days = 1{'0' * 400}",
            "audit, key 'keep_days': this must be 36500 or less, not a very large number",
            id="days without end",
        ),
    ],
)
def test_limits_and_the_audit(toml: str, mistake: str) -> None:
    assert mistakes_in(toml) == [mistake]
