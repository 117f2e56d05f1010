"""Documents of real services: each becomes an adapter that can be served, with every operation that it describes."""

import pytest

from headgate.adapter.adapter import Adapter
from headgate.adapter.examples import examples_of
from headgate.protocol.categories import Category
from headgate.protocol.names import RESERVED_OPERATIONS, is_snake_case
from headgate.sources.openapi.options import OpenApiOptions
from headgate.sources.openapi.parsing import parsed
from headgate.sources.openapi.source import openapi_adapter
from tests.sources.openapi.real import DOCUMENTS, Document, real_documents

_METHODS = ("get", "head", "options", "post", "put", "patch", "delete")


@pytest.fixture(scope="module", autouse=True)
def documents() -> None:
    real_documents()


@pytest.fixture(scope="module", params=DOCUMENTS, ids=lambda document: document.service)
def document(request: pytest.FixtureRequest) -> Document:
    found: Document = request.param
    return found


@pytest.fixture(scope="module")
def adapter(document: Document) -> Adapter:
    return openapi_adapter(document.file, OpenApiOptions(base_url="https://upstream.example"))


def described(document: Document) -> int:
    """How many operations a document has, counted in the plainest way."""
    tree = parsed(document.file.read_text(), document.service)
    assert isinstance(tree, dict)
    return sum(method in item for item in tree["paths"].values() for method in _METHODS)


def test_every_operation_is_there(document: Document, adapter: Adapter) -> None:
    assert len(adapter.operations) == described(document) == document.operations


def test_names_are_unique_and_have_their_form(adapter: Adapter) -> None:
    for name in adapter.operations:
        assert is_snake_case(name)
        assert len(name) <= 64
        assert name not in RESERVED_OPERATIONS


def test_every_schema_compiles_and_every_example_is_valid(adapter: Adapter) -> None:
    shown = 0
    for operation in adapter.operations.values():
        for example in examples_of(operation):
            assert operation.validator.is_valid(dict(example.params))
            shown += 1
    assert shown > 0.9 * len(adapter.operations)


def test_nothing_that_removes_is_taken_for_a_read(adapter: Adapter) -> None:
    for operation in adapter.operations.values():
        assert operation.origin is not None
        method = operation.origin.maps_to.partition(" ")[0]
        if operation.category is Category.READ:
            assert method in ("GET", "HEAD", "OPTIONS") or operation.origin.needs_review
        if method == "DELETE":
            assert operation.category is Category.DELETE
