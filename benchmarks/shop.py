"""A small HTTP API with its OpenAPI document, a large document made by arithmetic, and FastMCP before the API.

``python -m benchmarks.shop api PORT`` serves the API, ``python -m benchmarks.shop fastmcp URL`` its tools on stdio.
"""

import sys
from importlib import import_module
from itertools import islice, product
from typing import Any, Final

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

__all__ = ["NEW_BOOK", "large_document"]

NEW_BOOK: Final[dict[str, object]] = {"isbn": "9780141439525", "title": "Emma", "author": "Jane Austen", "copies": 3}
_FIELDS: Final[dict[str, dict[str, str]]] = {
    "isbn": {"type": "string", "description": "The ISBN, with 13 digits"},
    "title": {"type": "string", "description": "The title"},
    "author": {"type": "string", "description": "Who wrote it"},
    "copies": {"type": "integer", "description": "How many there are"},
}
_THINGS: Final = ("books", "orders", "readers", "loans", "shelves", "branches", "fines", "events", "rooms", "staff")
_PARTS: Final = ("notes", "labels", "files", "reviews", "prices", "owners", "versions", "alerts", "members", "links")
_ACTS: Final = ("get", "post", "put", "delete")


async def _get_book(request: Request) -> JSONResponse:
    copies = int(request.query_params.get("copies", "1"))
    isbn = request.path_params["isbn"]
    return JSONResponse({"isbn": isbn, "title": "Pride and Prejudice", "author": "Jane Austen", "copies": copies})


async def _add_book(request: Request) -> JSONResponse:
    return JSONResponse(await request.json(), 201)


async def _document(request: Request) -> JSONResponse:
    return JSONResponse(_small_document(str(request.base_url).rstrip("/")))


def _small_document(url: str) -> dict[str, object]:
    return _whole(
        url,
        {
            "/books/{isbn}": {"get": _operation("getBook", "Get one book by its ISBN", _COPIES, keys=("isbn",))},
            "/books": {"post": _operation("addBook", "Put a book on the shelf", body=True)},
        },
    )


_COPIES: Final[tuple[dict[str, object], ...]] = (
    {"name": "copies", "in": "query", "schema": {"type": "integer", "default": 1}},
)
_PAGES: Final[tuple[dict[str, object], ...]] = tuple(
    {"name": name, "in": "query", "schema": {"type": "integer"}, "description": said}
    for name, said in (("page", "Which page, from 1"), ("per_page", "How many on a page"))
)


def large_document(size: int) -> dict[str, object]:
    """So many operations on the parts of things: four on each path."""
    paths: dict[str, dict[str, object]] = {}
    kinds = product(range(10), _THINGS, _PARTS, _ACTS)
    for place, thing, part, act in islice(kinds, size):
        group = f"/v{place + 1}/{thing}/{{{thing}_id}}/{part}"
        words = f"{part} of the {thing} in version {place + 1}"
        paths.setdefault(group, {})[act] = _operation(
            f"{act}_{thing}_{part}_v{place + 1}",
            f"{act.capitalize()} the {words}",
            _PAGES if act == "get" else (),
            keys=(f"{thing}_id",),
            body=act in ("post", "put"),
        )
    return _whole("https://shop.example", paths)


def _whole(url: str, paths: dict[str, Any]) -> dict[str, object]:
    book = {"type": "object", "properties": _FIELDS, "required": ["isbn", "title"]}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": url}],
        "paths": paths,
        "components": {"schemas": {"Book": book}},
    }


def _operation(
    name: str,
    summary: str,
    parameters: tuple[dict[str, object], ...] = (),
    *,
    keys: tuple[str, ...] = (),
    body: bool = False,
) -> dict[str, object]:
    """An operation that gives a book, and takes one if it has a body."""
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}}
    given = [{"name": key, "in": "path", "required": True, "schema": {"type": "string"}} for key in keys]
    return {
        "operationId": name,
        "summary": summary,
        "parameters": [*given, *parameters],
        "responses": {"200": {"description": "The book", "content": content}},
        **({"requestBody": {"required": True, "content": content}} if body else {}),
    }


def _serve_api(port: str) -> None:
    routes = [
        Route("/books/{isbn}", _get_book),
        Route("/books", _add_book, methods=["POST"]),
        Route("/openapi.json", _document),
    ]
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=int(port), log_level="warning")


def _serve_fastmcp(url: str) -> None:
    """As its documentation shows it."""
    document = httpx2.get(f"{url}/openapi.json").json()
    client = httpx2.AsyncClient(base_url=url)
    server = import_module("fastmcp").FastMCP.from_openapi(openapi_spec=document, client=client, name="shop")
    server.run(show_banner=False, log_level="warning")


if __name__ == "__main__":
    {"api": _serve_api, "fastmcp": _serve_fastmcp}[sys.argv[1]](sys.argv[2])
