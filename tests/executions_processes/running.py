"""Servers and workers of the workshop as a user starts them, and what somebody asks of them."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.executions_processes.workshop import LIFE, TRACES, WORKSHOP, Trace, traces_in
from tests.server.processes import HEADGATE, PATIENCE, Serving, environment, serve_http, until
from tests.server.requests import modern

__all__ = ["Asked", "Place"]


@dataclass(frozen=True)
class Asked:
    """A server that answers."""

    serving: Serving

    def call(self, operation: str, *, tool: str = "mcp_aql_execute", **params: Any) -> Any:
        """What an operation gives."""
        envelope = modern(self.serving.port).call(operation, params, tool=tool).envelope
        assert envelope["success"], envelope
        return envelope["data"]

    def start(self, operation: str, **params: Any) -> str:
        """The id of an execution that is started."""
        return str(self.call(operation, **params)["execution_id"])

    def state(self, execution_id: str, wait: float = 0) -> Any:
        """The state of an execution."""
        return self.call("get_execution", tool="mcp_aql_read", execution_id=execution_id, wait_seconds=wait)

    def result(self, execution_id: str) -> Any:
        """The result of an execution that has completed, or will."""
        found = self.call("get_execution_result", tool="mcp_aql_read", execution_id=execution_id, wait_seconds=60)
        return found["result"]


@dataclass(frozen=True)
class Place:
    """A state that processes share, and the traces of the work that they do."""

    state: str
    folder: Path

    @property
    def _traces(self) -> Path:
        path = self.folder / "traces"
        path.mkdir(exist_ok=True)
        return path

    @contextmanager
    def served(self, life: str) -> Iterator[Asked]:
        """A server, ready to be called."""
        with serve_http(WORKSHOP, "--state", self.state, env={TRACES: str(self._traces), LIFE: life}) as serving:
            yield Asked(serving)

    @contextmanager
    def worked(self, life: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """A worker, as soon as it takes work."""
        env = environment({TRACES: str(self._traces), LIFE: life})
        command = [HEADGATE, "worker", WORKSHOP, "--state", self.state, "--log-level", "warning", *words]
        with subprocess.Popen(command, env=env) as process:
            try:
                yield process
            finally:
                process.terminate()
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()

    def open(self, gate: str) -> None:
        """Let the work come to its end that waits for a gate."""
        (self.folder / gate).touch()

    def trace(self, execution_id: str, *words: str, attempt: int = 1) -> Trace:
        """Wait for a trace of an attempt: of its beginning, unless words say which others."""
        wanted = words or ("began",)

        def found() -> list[Trace]:
            return [
                trace
                for trace in traces_in(self._traces)
                if (trace.execution_id, trace.attempt) == (execution_id, attempt) and trace.word in wanted
            ]

        return until(found, f"a trace of {wanted}")[0]

    def attempts(self, execution_id: str) -> list[str]:
        """The lives in which each attempt of an execution has begun."""
        return [
            trace.life
            for trace in traces_in(self._traces)
            if trace.execution_id == execution_id and trace.word == "began"
        ]
