"""Situations to evaluate, each with only what a test is about."""

from typing import Any

from headgate.protocol.autonomy import Risk, Scorer
from headgate.safety.autonomy.evaluation import Situation
from headgate.safety.autonomy.rules import AgentRules
from headgate.safety.autonomy.verdicts import History, PastStep, Report

__all__ = ["of_risk", "past", "situation", "unasked"]

BARE = AgentRules(deny=(), requires_approval=())
"""Rules without any pattern."""


def situation(hint: str = "walk the dog", **more: Any) -> Situation:
    """One with a harmless action, unless said otherwise."""
    known: dict[str, Any] = {"digest": hint, "history": History(), "rules": BARE, "scorer": of_risk(0)}
    outcome = more.pop("outcome", None)
    return Situation(Report(hint, outcome), **{**known, **more})


def of_risk(score: int) -> Scorer:
    """A scorer that says the same of everything."""
    return lambda _hint: Risk(score, ("as the test says",))


def unasked(_hint: str) -> Risk:
    """A scorer that must not be asked."""
    raise AssertionError("nobody should have asked for the risk")


def past(*digests: str, taken: int = 0) -> History:
    """Steps that were reported before."""
    return History(taken, tuple(PastStep(digest) for digest in digests))
