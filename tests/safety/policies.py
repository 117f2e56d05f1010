"""What the tests of policies share."""

import tomllib

import pytest

from headgate.safety.policy.reading import PolicyError, policy_from
from headgate.safety.policy.rules import Policy

EMPTY = "it is empty and so says nothing: fill it or leave it out"


def policy(toml: str) -> Policy:
    """The policy that a text says."""
    return policy_from(tomllib.loads(toml), "p")


def mistakes_in(toml: str) -> list[str]:
    """What is wrong in a policy, without the name of its file."""
    with pytest.raises(PolicyError) as refused:
        policy(toml)
    assert str(refused.value) == "\n".join(refused.value.mistakes)
    assert all(one.startswith("p: ") and one.isprintable() for one in refused.value.mistakes)
    return [one.removeprefix("p: ") for one in refused.value.mistakes]
