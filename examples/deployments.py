"""A team's servers, builds and logs, to try policies on: ``headgate serve examples/deployments.py:deployments``.

Everything lives in memory and starts anew with each server.
"""

from dataclasses import dataclass
from typing import Annotated

from headgate import Adapter, Param

__all__ = ["deployments"]

deployments = Adapter("deployments", description="Servers, builds and logs of a team", version="1.0.0")

Environment = Annotated[str, Param(description="Where, such as staging.", examples=["staging"])]

SERVERS = {"test-1": "test", "staging-1": "staging", "staging-2": "staging", "prod-1": "production"}
LOGS = {"test": 40, "staging": 1200, "production": 90_000}


@dataclass
class Deployment:
    """What runs where."""

    app: str
    version: str
    environment: str


@deployments.read
async def list_servers() -> dict[str, str]:
    """List the servers, each with its environment."""
    return SERVERS


@deployments.execute
async def execute_build(app: str) -> str:
    """Build an app on machines that are paid for."""
    return f"{app}-1.4.0.tar.gz"


@deployments.execute
async def execute_deployment(app: str, version: str, environment: Environment) -> Deployment:
    """Bring a version of an app to an environment."""
    return Deployment(app, version, environment)


@deployments.execute
async def execute_restart(servers: Annotated[list[str], Param(min_length=1, examples=[["staging-1"]])]) -> list[str]:
    """Restart some servers."""
    return servers


@deployments.delete
async def delete_logs(environment: Environment, *, dry_run: bool = False) -> dict[str, object]:
    """Delete the logs of an environment."""
    found = LOGS.get(environment, 0)
    if not dry_run:
        LOGS.pop(environment, None)
    return {"dry_run": dry_run, "affected": found}
