"""What the tests of OpenAPI share: documents in few words, and calls of the operations that come of them."""

import json
from pathlib import Path
from typing import Any

from headgate.adapter.adapter import Adapter
from headgate.adapter.context import ANONYMOUS, Context, Session
from headgate.adapter.operations import Operation
from headgate.sources.curation import Curation
from headgate.sources.openapi.calling import Prepared
from headgate.sources.openapi.documents import OpenApiDocument, document_of
from headgate.sources.openapi.options import OpenApiOptions
from headgate.sources.openapi.source import openapi_adapter

__all__ = ["Node", "adapter_of", "call", "document", "get", "operation_of", "prepared", "told"]

Node = dict[str, Any]


def get(*parameters: Node, **more: Any) -> Node:
    """An operation without a body."""
    return {"parameters": list(parameters), "responses": {"200": {"description": "Fine"}}, **more}


def document(paths: Node, **more: Any) -> Node:
    """A document with these paths."""
    base: Node = {
        "openapi": "3.0.3",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://shop.example"}],
    }
    return {**base, "paths": paths, **more}


def adapter_of(
    tree: Node,
    options: OpenApiOptions | None = None,
    curation: Curation | None = None,
    *,
    path: Path | None = None,
    url: str | None = None,
) -> Adapter:
    """The adapter of a document."""
    read: OpenApiDocument = document_of(json.dumps(tree), "shop.json", path=path, url=url)
    return openapi_adapter(read, options, curation, name="shop")


def operation_of(node: Node, path: str = "/things", method: str = "get", **more: Any) -> Operation:
    """The operation of a document that has only one."""
    adapter = adapter_of(document({path: {method: node}}, **more))
    [operation] = adapter.operations.values()
    return operation


def prepared(operation: Operation, **params: Any) -> Prepared:
    """The request that a valid call would send."""
    assert operation.validator.is_valid(params), [error.message for error in operation.validator.iter_errors(params)]
    function: Any = getattr(operation.function, "call", operation.function)
    made: Prepared = function.prepared({**operation.defaults, **params})
    return made


async def call(operation: Operation, **params: Any) -> Any:
    """What a valid call answers."""
    assert operation.validator.is_valid(params), [error.message for error in operation.validator.iter_errors(params)]
    values = {**operation.defaults, **params}
    if operation.context_parameter:
        values[operation.context_parameter] = told()
    return await operation.function(**values)


def told() -> Context:
    """A context whose warnings can be looked at."""
    return Context("x", "req_1", ANONYMOUS, Session())
