"""Why a call is denied, in words that tell what would have to change."""

from headgate.protocol.danger import Trust
from headgate.protocol.errors import AqlError, harmless
from headgate.safety.decisions import Decision
from headgate.safety.judging import Judgement
from headgate.safety.policy.rules import DEFAULT_RULE
from headgate.safety.trust import minimum_trust

__all__ = ["denial"]


def denial(operation: str, judgement: Judgement, trust: Trust) -> AqlError:
    """Why a call is denied, in words that tell what would have to change."""
    decision, level = judgement.decision, judgement.level
    required = minimum_trust(level)
    match decision.code:
        case "PERMISSION_TRUST_LEVEL_INSUFFICIENT":
            return AqlError(
                decision.code,
                f"Operation '{operation}' requires trust level '{required}', adapter has '{trust}'",
                {
                    "operation": operation,
                    "required_trust": required.value,
                    "actual_trust": trust.value,
                    "danger_level": level.value,
                },
            )
        case "PERMISSION_DANGER_LEVEL_DENIED":
            return AqlError(
                decision.code,
                f"Operation '{operation}' (danger: {level}) denied for adapter trust level '{trust}'",
                {
                    "operation": operation,
                    "danger_level": level.value,
                    "adapter_trust": trust.value,
                    "minimum_trust_required": required.value,
                    "reasons": list(judgement.danger.reasons),
                },
            )
        case _:
            return _by_rule(decision, operation)


def _by_rule(decision: Decision, operation: str) -> AqlError:
    """What a rule says; an operator's words stand in the message unless they could be taken for a program's."""
    if decision.rule == DEFAULT_RULE:
        why = f"no rule of the policy allows '{operation}'"
    else:
        why = f"the rule '{decision.rule}' denies '{operation}'" + (f": {decision.reason}" if decision.reason else "")
    said = why if harmless(f"{why} ") else f"a rule of the policy denies '{operation}', see details"
    details = {"reason": decision.reason or why, "operation": operation, "rule": decision.rule}
    return AqlError("PERMISSION_DENIED", f"Permission denied: {said}", details)
