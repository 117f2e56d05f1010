"""The six operations of the safety loop, as the protocol names them (Spec 8.5.4)."""

from collections.abc import Mapping
from typing import Any, Final

from headgate.adapter.context import Context
from headgate.adapter.operations import Example, Operation
from headgate.adapter.parameters import SENSITIVE, Parameter, Schema
from headgate.protocol.autonomy import LoopMode, StepOutcome, Tolerance
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger, DangerLevel
from headgate.protocol.names import camel_to_snake
from headgate.safety.autonomy.rules import Tightening
from headgate.safety.loop.agents import EXECUTE_AGENT, LONGEST_NAME, RECORD_STEP, Party
from headgate.safety.loop.deciding import Deciding
from headgate.safety.loop.overseeing import party
from headgate.safety.loop.service import SafetyLoop
from headgate.safety.loop.steps import Reported

__all__ = ["loop_operations", "startable"]

_LONGEST_HINT: Final = 10_000
_AGENT: Final = "The agent's name; the same name in each of its calls."


def _party(context: Context) -> Party:
    return party(context.caller, context.session)


def loop_operations(loop: SafetyLoop) -> Mapping[str, Operation]:
    """The operations by name."""
    deciding = Deciding(loop.adapter, loop.store, loop.settings, loop.clock)
    made = (
        _execute_agent(loop),
        _record_step(loop),
        _complete(loop),
        _abort(loop),
        _confirm(deciding),
        _verify(deciding),
    )
    return {operation.name: operation for operation in made}


def startable(loop: SafetyLoop) -> Mapping[str, Operation]:
    """The one of them that a gate stands before."""
    return {EXECUTE_AGENT: _execute_agent(loop)}


# executions


def _execute_agent(loop: SafetyLoop) -> Operation:
    async def execute_agent(ctx: Context, **params: Any) -> object:
        own = _tightening(params["autonomy"] or {})
        agent = await loop.start(_party(ctx), ctx.caller, params["element_name"], params["task"] or "", own)
        ctx.session.agents.add(agent.key)
        execution = agent.execution
        return {
            "agent": agent.name,
            "execution_id": execution.id if execution else None,
            "state": "running",
            "execution_safety_loop": (loop.settings.mode or LoopMode.DISABLED).value,
            "configuration": loop.rules_of(agent.key, execution).wire() if execution else None,
            "next": f"Report every action with {RECORD_STEP} before you take it; do it only if 'continue' is true.",
        }

    asks = loop.enforces and not loop.settings.starts_freely
    danger = Danger(
        DangerLevel.REVERSIBLE,
        ("An agent will act by itself, step by step under supervision",),
        "Let agent {element_name} work under supervision? Its task: {task}",
        requires_reauth=asks,
    )
    return Operation(
        name=EXECUTE_AGENT,
        category=Category.EXECUTE,
        function=execute_agent,
        parameters=(
            _text("element_name", _AGENT, longest=LONGEST_NAME),
            _optional("task", "What the agent is to do, for the person who lets it."),
            Parameter("autonomy", _AUTONOMY, required=False, default=None),
        ),
        summary="Start an agent under the safety loop",
        description="Starts a monitored execution of an agent. A person must agree to it first. From then on every "
        f"action must be reported with {RECORD_STEP} before it is taken (Spec 8.6).",
        returns={"type": "object"},
        returns_description="The execution, the rules that it is under, and what to do next",
        examples=(Example({"element_name": "release-bot", "task": "Publish version 1.4"}, "Start an agent"),),
        danger=danger if asks else Danger(DangerLevel.REVERSIBLE),
        context_parameter="ctx",
    )


def _record_step(loop: SafetyLoop) -> Operation:
    async def record_execution_step(ctx: Context, **params: Any) -> object:
        outcome = params["outcome"]
        report = Reported(
            hint=params["next_action_hint"],
            description=params["step_description"] or "",
            outcome=StepOutcome(outcome) if outcome else None,
            findings=params["findings"] or "",
        )
        directive = await loop.step(_party(ctx), params["element_name"], report)
        return {"directive": directive.wire()}

    hint = _text("next_action_hint", "What you are about to do, with target and means.", longest=_LONGEST_HINT)
    outcome: Schema = {
        "type": ["string", "null"],
        "enum": [*map(str, StepOutcome), None],
        "description": "How the previous step went.",
    }
    example = {
        "element_name": "release-bot",
        "next_action_hint": "calling write_file on project/config.json to update the database URL",
        "step_description": "Read project/config.json",
        "outcome": "success",
    }
    return Operation(
        name=RECORD_STEP,
        category=Category.CREATE,
        function=record_execution_step,
        parameters=(
            _text("element_name", _AGENT, longest=LONGEST_NAME),
            hint,
            _optional("step_description", "What was just done."),
            Parameter("outcome", outcome, required=False, default=None),
            _optional("findings", "What was found by it."),
        ),
        summary="Report the next action, and learn whether it may be taken",
        description="Every action of an agent is reported here before it is taken: tool calls of any server, files, "
        "commands, network, databases. The answer's directive is authoritative: take the action only if 'continue' is "
        "true; if 'stopped' is true, do nothing more until a person has verified it (Spec 8.6.4).",
        returns={"type": "object"},
        returns_description="The AutonomyDirective, as 'directive'",
        examples=(Example(example, "Report a step"),),
        context_parameter="ctx",
        rationale="it records a step of an execution",
    )


def _complete(loop: SafetyLoop) -> Operation:
    async def complete_execution(ctx: Context, **params: Any) -> object:
        execution = await loop.complete(_party(ctx), params["element_name"], params["summary"] or "")
        return {"execution_id": execution.id, "state": "completed", "steps": execution.steps}

    return _ending(
        "complete_execution", complete_execution, "summary", "What was reached.", "that has reached its goal"
    )


def _abort(loop: SafetyLoop) -> Operation:
    async def abort_execution(ctx: Context, **params: Any) -> object:
        execution = await loop.abort(_party(ctx), params["element_name"], params["reason"] or "")
        return {"execution_id": execution.id, "state": "aborted", "steps": execution.steps}

    return _ending("abort_execution", abort_execution, "reason", "Why it ends early.", "that cannot go on")


def _ending(name: str, function: Any, word: str, meaning: str, which: str) -> Operation:
    return Operation(
        name=name,
        category=Category.EXECUTE,
        function=function,
        parameters=(_text("element_name", _AGENT, longest=LONGEST_NAME), _optional(word, meaning)),
        summary=f"End an execution {which}",
        returns={"type": "object"},
        returns_description="The execution's id, its state and how many steps it took",
        examples=(Example({"element_name": "release-bot"}, "End it"),),
        context_parameter="ctx",
        rationale="it ends what execute_agent has begun",
    )


# decisions of persons


def _confirm(deciding: Deciding) -> Operation:
    async def confirm_operation(ctx: Context, approval_id: str, token: str) -> object:
        grant = await deciding.confirm(_party(ctx), ctx.caller, approval_id, token)
        return {"confirmed": True, "approval_id": grant.approval_id, "operation": grant.binding.operation}

    return _decision(
        "confirm_operation",
        Category.EXECUTE,
        confirm_operation,
        ("approval_id", "What waits, such as appr_…"),
        ("token", "The token that the operator's console shows for it."),
        "Approve what waits for a person",
    )


def _verify(deciding: Deciding) -> Operation:
    async def verify_challenge(ctx: Context, challenge_id: str, code: str) -> object:
        challenge = await deciding.verify(_party(ctx), ctx.caller, challenge_id, code)
        return {"verified": True, "challenge_id": challenge.id, "agent": challenge.name}

    return _decision(
        "verify_challenge",
        Category.CREATE,
        verify_challenge,
        ("challenge_id", "The id of the challenge, which directives call verificationId."),
        ("code", "The code that only the operator's own channel shows."),
        "Release an agent with a verification code",
    )


def _decision(
    name: str, category: Category, function: Any, what: tuple[str, str], secret: tuple[str, str], summary: str
) -> Operation:
    hidden = _text(*secret, longest=LONGEST_NAME)
    return Operation(
        name=name,
        category=category,
        function=function,
        parameters=(
            _text(*what, longest=LONGEST_NAME),
            Parameter(hidden.name, {**hidden.schema, SENSITIVE: True}),
        ),
        summary=summary,
        description=f"{summary}. It is refused to the agent that is held up, whatever it shows (Spec 8.7.3).",
        returns={"type": "object"},
        returns_description="What was decided",
        context_parameter="ctx",
        rationale="a person decides here, in another session than the agent's",
    )


# parameters


def _text(name: str, description: str, *, longest: int) -> Parameter:
    schema: Schema = {"type": "string", "minLength": 1, "maxLength": longest, "pattern": r"\S"}
    return Parameter(name, {**schema, "description": description})


def _optional(name: str, description: str) -> Parameter:
    schema: Schema = {"type": ["string", "null"], "maxLength": _LONGEST_HINT, "description": description}
    return Parameter(name, schema, required=False, default=None)


def _patterns(description: str) -> Schema:
    item = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
    return {"type": "array", "items": item, "maxItems": 100, "description": description}


_OWN: Final[Mapping[str, Schema]] = {
    "max_autonomous_steps": {"type": "integer", "minimum": 1, "description": "Fewer steps before a pause."},
    "risk_tolerance": {
        "type": "string",
        "enum": list(map(str, Tolerance)),
        "description": "Less risk without a pause.",
    },
    "deny": _patterns("More patterns that block."),
    "requires_approval": _patterns("More patterns that a person must approve."),
    "auto_approve": _patterns("The only patterns that need no evaluation, of those that the operator allows."),
}
_CAMEL: Final = {"maxAutonomousSteps", "riskTolerance", "requiresApproval", "autoApprove"}
_AUTONOMY: Final[Schema] = {
    "type": ["object", "null"],
    "properties": {**_OWN, **{name: _OWN[camel_to_snake(name)] for name in sorted(_CAMEL)}},
    "additionalProperties": False,
    "description": "How the agent restricts itself further. It can tighten the operator's rules, never loosen them.",
}


def _tightening(given: Mapping[str, Any]) -> Tightening:
    said = {camel_to_snake(name): value for name, value in given.items()}
    tolerance, auto = said.get("risk_tolerance"), said.get("auto_approve")
    return Tightening(
        max_autonomous_steps=said.get("max_autonomous_steps"),
        risk_tolerance=Tolerance(tolerance) if tolerance else None,
        deny=tuple(said.get("deny", ())),
        requires_approval=tuple(said.get("requires_approval", ())),
        auto_approve=None if auto is None else tuple(auto),
    )
