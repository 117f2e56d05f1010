"""Stocktakings that take a while, and agents that are supervised."""

import fnmatch
import secrets
from collections.abc import Mapping
from typing import Any, Final

from tests.conformance.faulty.declarations import DENY, MOST_STEPS
from tests.conformance.faulty.keeping import Keeping
from tests.conformance.faulty.world import READS, Agent, Museum, Record, Refusal, Run, stamp

__all__ = ["Supervising"]

_APPROVED: Final = ("delete_*", "*force*", "deploy_*", "git push*")


class Supervising:
    """The operations on runs and agents, for one connection."""

    def __init__(self, museum: Museum, session: str, keeping: Keeping) -> None:
        """Watch over a museum for somebody."""
        self._museum = museum
        self._session = session
        self._keeping = keeping

    # stocktakings

    def execute_inventory(self, _params: Mapping[str, Any]) -> Record:
        """A stocktaking that begins."""
        run = Run(f"run_{len(self._museum.runs) + 1}", self._session, stamp())
        self._museum.runs[run.id] = run
        return self._state(run)

    def get_execution(self, params: Mapping[str, Any]) -> Record:
        """How far a stocktaking is."""
        run = self._run(params["execution_id"])
        run.asked += 1
        return self._state(run)

    def cancel_execution(self, params: Mapping[str, Any]) -> Record:
        """A stocktaking that ends early."""
        run = self._run(params["execution_id"])
        over = bool(run.cancelled_at) or self._is_done(run)
        if (not over and not self._museum.has("cancel-does-nothing")) or (
            self._museum.has("completed-becomes-cancelled") and over
        ):
            run.cancelled_at = stamp()
        return self._state(run)

    def _run(self, name: str) -> Run:
        if name not in self._museum.runs:
            raise Refusal(
                "NOT_FOUND_RESOURCE", f"Execution '{name}' not found", resource_type="execution", resource_id=name
            )
        return self._museum.runs[name]

    @staticmethod
    def _is_done(run: Run) -> bool:
        return run.asked >= READS

    def _state(self, run: Run) -> Record:
        museum = self._museum
        counted = 12 * min(run.asked, READS) // READS
        state: Record = {
            "execution_id": run.id,
            "status": "counting" if museum.has("status-undocumented") else "running",
            "started_at": run.started_at,
            "progress": {"current": counted, "total": 12, "message": f"{counted} of 12 counted"},
        }
        if run.cancelled_at:
            state |= {"status": "cancelled", "finished_at": run.cancelled_at}
        elif self._is_done(run):
            state |= {"status": "completed", "finished_at": run.started_at}
        if museum.has("times-as-numbers"):
            state["started_at"] = 1770200000
        if museum.has("progress-empty"):
            state["progress"] = {"done": counted}
        return state

    # agents

    def execute_agent(self, params: Mapping[str, Any]) -> Record:
        """An agent that begins."""
        agent = self._agent(params["element_name"])
        if agent.blocked and not self._museum.has("blocked-agent-starts-anew"):
            raise self._blocked(agent)
        self._keeping.confirm("execute_agent", params, "It lets an agent act by itself, step by step.")
        if self._museum.has("blocked-agent-starts-anew"):
            agent.challenge = ""
        agent.active, agent.steps = True, 0
        return self._told(agent, "running")

    def record_execution_step(self, params: Mapping[str, Any]) -> Record:
        """Whether an agent may do what it intends to."""
        agent = self._agent(params["element_name"])
        if agent.blocked and not self._museum.has("blocked-agent-goes-on"):
            raise self._blocked(agent)
        if self._museum.has("agent-optional"):
            agent.active = True
        if not agent.active:
            raise Refusal(
                "NOT_FOUND_RESOURCE",
                f"Agent '{agent.name}' is not supervised now. Begin with 'execute_agent'.",
                resource_type="agent",
            )
        agent.steps += 1
        directive = self._directive(agent, params)
        alarms = [one.alarm for one in self._museum.agents.values() if one.blocked and one is not agent]
        if alarms and not self._museum.has("block-not-broadcast"):
            directive["notifications"] = [*directive.get("notifications", ()), *alarms]
        return {"directive": directive}

    def _directive(self, agent: Agent, params: Mapping[str, Any]) -> Record:
        museum, hint = self._museum, params["next_action_hint"]
        if agent.steps > MOST_STEPS and not museum.has("steps-unlimited"):
            return self._said(False, "Step limit exceeded")
        if params.get("outcome") == "failure" and not museum.has("failure-goes-on"):
            return self._said(False, "The step before failed")
        if _matches(hint, DENY):
            return self._stop(agent, hint)
        if _matches(hint, _APPROVED):
            return self._pause(agent, hint)
        return {**self._said(True, "Nothing speaks against it"), "stepsRemaining": max(MOST_STEPS - agent.steps, 0)}

    def _said(self, go_on: bool, why: str) -> Record:
        directive: Record = {"continue": go_on, "factors": [why]}
        if not go_on:
            directive["reason"] = why
        if self._museum.has("factors-left-out"):
            del directive["factors"]
        return directive

    def _stop(self, agent: Agent, hint: str) -> Record:
        agent.challenge, agent.code = f"challenge_{secrets.token_hex(8)}", secrets.token_hex(16)
        metadata = {"operation": hint, "verificationId": agent.challenge}
        if self._museum.has("verification-id-left-out"):
            del metadata["verificationId"]
        notice = {
            "type": "danger_zone",
            "message": "A person must verify this.",
            "metadata": metadata,
            "timestamp": stamp(),
        }
        agent.alarm = notice
        directive = {**self._said(False, "It matches a denied pattern"), "stopped": True, "notifications": [notice]}
        return {**directive, "nextStepRisk": "danger_zone"}

    def _pause(self, agent: Agent, hint: str) -> Record:
        name = f"approval_{secrets.token_hex(8)}"
        agent.pending[name] = secrets.token_hex(16)
        notice = {
            "type": "permission_pending",
            "message": f"'{name}' waits for a person.",
            "metadata": {"operation": hint},
            "timestamp": stamp(),
        }
        return {**self._said(False, "A person must approve it"), "notifications": [notice], "nextStepRisk": "confirm"}

    def complete_execution(self, params: Mapping[str, Any]) -> Record:
        """An agent that is done."""
        return self._ended(params["element_name"], "completed")

    def abort_execution(self, params: Mapping[str, Any]) -> Record:
        """An agent that is broken off."""
        return self._ended(params["element_name"], "cancelled")

    def _ended(self, name: str, status: str) -> Record:
        agent = self._agent(name)
        if not agent.active:
            raise Refusal(
                "NOT_FOUND_RESOURCE", f"Agent '{name}' is not supervised now", resource_type="agent", resource_id=name
            )
        if agent.blocked and status == "completed":
            raise self._blocked(agent)
        agent.active = False
        return self._told(agent, status)

    def confirm_operation(self, params: Mapping[str, Any]) -> Record:
        """Something approved, by the one who has the token."""
        name = params["approval_id"]
        for agent in self._museum.agents.values():
            if name in agent.pending and params["token"] == agent.pending[name]:
                del agent.pending[name]
                return {"approval_id": name, "confirmed": True}
        raise Refusal(
            "PERMISSION_DENIED",
            f"Operation 'confirm_operation' is refused: only a person who has the token of '{name}' can confirm it",
            reason="token",
        )

    def verify_challenge(self, params: Mapping[str, Any]) -> Record:
        """A block that is lifted, by the one who has the code."""
        name = params["challenge_id"]
        for agent in self._museum.agents.values():
            if agent.challenge == name and (params["code"] == agent.code or self._museum.has("any-code-verifies")):
                agent.challenge = ""
                return {"challenge_id": name, "verified": True}
        raise Refusal(
            "PERMISSION_DENIED",
            f"Operation 'verify_challenge' is refused: the code for '{name}' is not right",
            reason="code",
        )

    def _agent(self, name: str) -> Agent:
        return self._museum.agents.setdefault(name, Agent(name))

    @staticmethod
    def _blocked(agent: Agent) -> Refusal:
        words = f"Agent '{agent.name}' is blocked until a person verifies '{agent.challenge}'"
        return Refusal("PERMISSION_DENIED", words, reason="blocked", verification_id=agent.challenge)

    @staticmethod
    def _told(agent: Agent, status: str) -> Record:
        return {"execution_id": f"agent_{agent.name}", "element_name": agent.name, "status": status}


def _matches(hint: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatch(word, pattern) for pattern in patterns for word in (hint, *hint.split()))
