"""A small authorization server on loopback: it publishes its keys and signs tokens."""

import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.server.processes import until

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@dataclass(frozen=True)
class SigningKey:
    """A key pair and what it is called."""

    key_id: str
    algorithm: str
    private: PrivateKey

    @classmethod
    def make(cls, key_id: str, algorithm: str) -> "SigningKey":
        if algorithm.startswith("ES"):
            return cls(key_id, algorithm, ec.generate_private_key(ec.SECP256R1()))
        return cls(key_id, algorithm, rsa.generate_private_key(65537, 2048))

    def published(self, **more: str) -> dict[str, Any]:
        """The public half, as a JSON Web Key."""
        public = self.private.public_key()
        half = RSAAlgorithm.to_jwk(public) if isinstance(public, rsa.RSAPublicKey) else ECAlgorithm.to_jwk(public)
        return {**json.loads(half), "kid": self.key_id, **more}

    def token(self, claims: Mapping[str, Any], **header: Any) -> str:
        return jwt.encode(dict(claims), self.private, self.algorithm, {"kid": self.key_id, **header})


@dataclass
class Authority:
    """What the authorization server says, to be changed while it runs."""

    url: str
    key_set: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    pages: dict[str, Callable[[Request], Awaitable[Response]]] = field(default_factory=dict)
    """What else it answers, by path."""

    def claims(self, **changed: Any) -> dict[str, Any]:
        """Good claims, changed in some way; None leaves one out."""
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": "http://127.0.0.1/mcp",
            "sub": "alice",
            "client_id": "assistant",
            "scope": "library read",
            "exp": now + 600,
            "iat": now,
            **changed,
        }
        return {name: value for name, value in claims.items() if value is not None}

    async def answer(self, request: Request) -> Response:
        path = request.url.path
        self.asked.append(path)
        if path == "/keys":
            return Response(self.key_set) if isinstance(self.key_set, bytes) else JSONResponse(self.key_set)
        if path in self.pages:
            return await self.pages[path](request)
        if path in self.metadata:
            return JSONResponse(self.metadata[path])
        return Response("not here", 404)


@contextmanager
def authority() -> Iterator[Authority]:
    """An authorization server that runs."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        made = Authority(f"http://127.0.0.1:{sock.getsockname()[1]}")
        made.metadata["/.well-known/oauth-authorization-server"] = {"issuer": made.url, "jwks_uri": f"{made.url}/keys"}
        app = Starlette(routes=[Route("/{path:path}", made.answer, methods=["GET", "POST"])])
        web = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off"))
        thread = threading.Thread(target=web.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            until(lambda: web.started, "the authorization server")
            yield made
        finally:
            web.should_exit = True
            thread.join()
