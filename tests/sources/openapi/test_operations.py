"""What operations are made of: names, categories, words, groups and answers; and what an operator says of them."""

import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.adapter.origins import Provenance
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.danger import DangerLevel
from headgate.protocol.errors import AqlError
from headgate.protocol.names import RESERVED_OPERATIONS, is_snake_case
from headgate.sources.curation import Curation
from headgate.sources.openapi.documents import document_of
from headgate.sources.openapi.naming import Spot, name_spots
from headgate.sources.openapi.options import OpenApiOptions
from headgate.sources.selecting import selected
from tests.sources.http.upstream import always, reply, running
from tests.sources.openapi.making import Node, adapter_of, call, document, get, operation_of

# names


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/pets", "list_pets"),
        ("GET", "/pets/{petId}", "get_pet"),
        ("POST", "/pets", "create_pet"),
        ("PUT", "/pets/{petId}", "update_pet"),
        ("PATCH", "/api/v2/pets/{petId}", "update_pet"),
        ("DELETE", "/pets/{petId}", "delete_pet"),
        ("POST", "/pets/{petId}", "execute_pet"),
        ("HEAD", "/pets", "get_pets"),
        ("GET", "/users/{id}/openOrders", "list_users_open_orders"),
        ("GET", "/v1", "list_v1"),
        ("GET", "/", "list_root"),
        ("GET", "/{any}", "get_root"),
    ],
)
def test_what_has_no_id_is_named_after_its_method_and_path(method: str, path: str, name: str) -> None:
    spot = Spot(method, path)
    assert name_spots([spot]) == {spot: name}


def test_names_are_those_of_the_document_in_snake_case() -> None:
    spots = [Spot("GET", "/a", "getHTTPUser-v2"), Spot("GET", "/b", "issues/list.all")]
    assert list(name_spots(spots).values()) == ["get_http_user_v2", "issues_list_all"]


_spots = st.builds(
    Spot,
    st.sampled_from(["GET", "POST", "PUT", "DELETE"]),
    st.text("ab/{}-é", max_size=8).map(lambda text: f"/{text}"),
    st.one_of(st.just(""), st.text(max_size=90), st.sampled_from(["introspect", "a" * 100, "getA", "get_a", "GetA"])),
)


@given(st.lists(_spots, unique_by=lambda spot: spot.maps_to, max_size=8), st.randoms())
def test_names_are_unique_short_and_the_same_in_any_order(spots: list[Spot], random: Any) -> None:
    names = name_spots(spots)
    assert len(set(names.values())) == len(spots)
    for name in names.values():
        assert is_snake_case(name)
        assert len(name) <= 64
        assert name not in RESERVED_OPERATIONS
    shuffled = random.sample(spots, len(spots))
    assert name_spots(shuffled) == names


# categories


@pytest.mark.parametrize(
    ("method", "path", "own", "category", "review"),
    [
        ("get", "/pets", "listPets", Category.READ, False),
        ("head", "/pets", "checkPets", Category.READ, False),
        ("get", "/pets/{id}", "deletePet", Category.DELETE, True),
        ("get", "/mail", "sendMail", Category.EXECUTE, True),
        ("get", "/pods/{id}/exec", "connectPodExec", Category.EXECUTE, True),
        ("get", "/logs", "downloadLogs", Category.READ, False),
        ("get", "/keys", "repos/get-deploy-key", Category.READ, False),
        ("get", "/runs", "getWorkflowRun", Category.READ, False),
        ("delete", "/pets/{id}", "getRidOfPet", Category.DELETE, False),
        ("put", "/pets/{id}", "removePet", Category.DELETE, True),
        ("post", "/pets", "createPet", Category.CREATE, False),
        ("post", "/pets", "PostPets", Category.CREATE, None),
        ("post", "/pets/{id}", "PostPetsPet", Category.EXECUTE, None),
        ("post", "/pets/{id}/confirm", "PostPetsPetConfirm", Category.EXECUTE, None),
        ("post", "/pets/{id}", "deletePet", Category.DELETE, False),
        ("post", "/issues/search", "searchIssues", Category.READ, True),
        ("post", "/issues", "listIssues", Category.EXECUTE, True),
        ("post", "/jobs", "runJob", Category.EXECUTE, False),
    ],
)  # fmt: skip
def test_the_method_tells_unless_the_name_is_riskier(
    method: str, path: str, own: str, category: Category, review: bool | None
) -> None:
    operation = operation_of(get(operationId=own), path, method)
    assert operation.category is category
    assert operation.origin is not None
    assert operation.origin.category.value == category
    assert operation.origin.category.evidence
    assert operation.origin.maps_to == f"{method.upper()} {path}"
    assert operation.origin.own_name == own
    assert review is None or operation.origin.needs_review is review


@pytest.mark.parametrize(
    ("path", "own", "words", "category"),
    [
        ("/access-tokens/{t}/invalidate", "", "Immediately expires the access tokens passed.", Category.DELETE),
        ("/Library/Refresh", "", "Starts a library scan.", Category.EXECUTE),
        ("/Library/Refresh", "", "", Category.EXECUTE),
        ("/Library/Refresh", "getLibraryRefresh", "Starts a library scan.", Category.EXECUTE),
        ("/pods/{name}/attach", "connectGetNamespacedPodAttach", "connect GET requests to attach", Category.EXECUTE),
        ("/pods/{name}/portforward", "connectGetNamespacedPodPortforward", "", Category.EXECUTE),
        ("/nodes/{name}/proxy/{path}", "connectGetNodeProxyWithPath", "connect GET requests", Category.EXECUTE),
        ("/views.update", "views_update", "Update an existing view.", Category.EXECUTE),  # it takes nothing to change
    ],
)
def test_a_get_that_is_said_to_change_something_is_no_read(path: str, own: str, words: str, category: Category) -> None:
    operation = operation_of(get(description=words, **({"operationId": own} if own else {})), path)
    assert operation.category is category
    assert operation.origin is not None
    assert operation.origin.needs_review
    assert operation.origin.category.confidence <= 0.5


@pytest.mark.parametrize(
    ("path", "own", "words"),
    [
        ("/pulls/{id}/merge", "pulls/check-if-merged", "Check if it has been merged"),
        ("/envelopes/{id}/lock", "getLock", ""),
        ("/load_balancers", "loadBalancers_list", ""),
        ("/connect", "Connect_GetConfigs", "Gets the configurations."),
        ("/migrations/{id}/archive", "migrations/download-archive", "Download an archive"),
        ("/book", "", "Retrieval of a single book"),
        ("/orders/{id}", "", ""),
        ("/instances/{id}/backups", "getBackups", "Backups List"),
        ("/tax_codes", "GetTaxCodes", "A list of all tax codes available to add to products"),
    ],
)
def test_a_get_of_something_that_is_called_like_a_verb_is_a_read(path: str, own: str, words: str) -> None:
    operation = operation_of(get(description=words, **({"operationId": own} if own else {})), path)
    assert operation.category is Category.READ
    assert operation.origin is not None
    assert not operation.origin.needs_review


def test_a_graver_name_makes_an_operation_more_dangerous() -> None:
    operation = operation_of(get(operationId="purgeAllPets"), "/pets", "delete")
    assert operation.danger is not None
    assert operation.danger.level.rank >= DangerLevel.DANGEROUS.rank
    assert operation_of(get(), "/pets/{id}", "delete").danger is None


@pytest.mark.parametrize("method", ["get", "post"])
def test_what_runs_commands_is_dangerous(method: str) -> None:
    command = {"name": "command", "in": "query", "schema": {"type": "string"}}
    node = get(command, operationId=f"connect{method.title()}PodExec", description="connect requests to exec of Pod")
    operation = operation_of(node, "/pods/{name}/exec", method)
    assert operation.category is Category.EXECUTE
    assert operation.danger is not None
    assert operation.danger.level is DangerLevel.DANGEROUS
    assert operation.origin is not None
    assert operation.origin.needs_review


_SCRIPT = {"type": "object", "properties": {"script": {"type": "string", "description": "What is run"}}}


@pytest.mark.parametrize(
    ("schema", "level"),
    [
        (_SCRIPT, DangerLevel.DANGEROUS),
        ({"$ref": "#/components/schemas/Job"}, DangerLevel.DANGEROUS),
        ({"type": "object", "properties": {"later": _SCRIPT}}, None),
        ({"type": "object", "properties": {"script": {"type": "integer"}}}, None),
        ({"type": "object", "properties": {"script": True}}, DangerLevel.DANGEROUS),
        ({"type": "string"}, None),
    ],
    ids=["a field", "a named body", "a field of a field", "no text", "anything", "no fields"],
)
def test_code_in_a_body_is_dangerous_where_it_is_taken_itself(schema: Node, level: DangerLevel | None) -> None:
    node = get(operationId="runJob", requestBody={"content": {"application/json": {"schema": schema}}})
    operation = operation_of(node, "/jobs", "post", components={"schemas": {"Job": _SCRIPT}})
    assert (operation.danger.level if operation.danger else None) is level


def test_a_search_for_code_stays_a_read() -> None:
    command = {"name": "command", "in": "query", "schema": {"type": "string"}}
    assert operation_of(get(command, operationId="listRuns"), "/runs").category is Category.READ


def test_every_change_can_be_tried_without_effect() -> None:
    for method in ("post", "put", "patch", "delete"):
        operation = operation_of(get(), "/pets/{id}", method)
        assert operation.tries_nothing
        assert operation.parameter("dry_run") is not None
    assert operation_of(get()).parameter("dry_run") is None


# words


def test_words_and_tags_are_carried() -> None:
    node = get(
        summary="List **pets**. And more.",
        description="All [pets](https://x.example) of the <b>shop</b>.\n\nIn pages.",
        tags=["Pets", "Shop"],
        deprecated=True,
    )
    operation = operation_of(node)
    assert operation.summary == "List **pets**."
    assert operation.description == "All pets of the shop . In pages."
    assert operation.group == "Pets"
    assert operation.deprecated is not None
    assert operation_of(get(), "/shops/{id}").group == "shops"
    assert operation_of(get()).summary == "Send GET /things"


@pytest.mark.parametrize(
    ("content", "returns", "accept"),
    [
        ({"application/json": {"schema": {"type": "integer"}}}, {"type": "integer"}, "application/json"),
        ({"application/vnd.x+json": {"schema": {"type": "integer"}}}, {"type": "integer"}, "application/vnd.x+json"),
        ({"text/csv": {}}, {"type": "string"}, "text/csv"),
        ({"text/csv": {}, "application/pdf": {}}, {}, "text/csv, application/pdf"),
        ({}, {}, "application/json"),
    ],
)
def test_an_answer_is_told_and_asked_for_as_the_document_says(content: Node, returns: Node, accept: str) -> None:
    operation = operation_of(get(responses={"2XX": {"description": "x", "content": content}, "404": {}}))
    function: Any = operation.function
    assert (operation.returns, function.accept) == (returns, accept)


def test_binary_answers_say_their_form() -> None:
    operation = operation_of(get(responses={"default": {"description": "x", "content": {"image/png": {}}}}))
    assert set(operation.returns["properties"]) == {"content", "encoding", "mime_type"}
    assert operation_of(get(responses={"404": {"description": "x"}})).returns == {}
    assert operation_of({"responses": None}).returns == {}


# calls


@pytest.mark.anyio
async def test_answers_are_data_and_fields_are_picked() -> None:
    body = json.dumps({"id": 1, "owner": {"login": "ada", "id": 2}, "tags": [{"a": 1, "b": 2}, {"b": 3}]}).encode()
    async with running(always(reply(200, body, content_type="application/json"))) as upstream:
        adapter = adapter_of(document({"/pets/{id}": {"get": get()}}), OpenApiOptions(base_url=upstream.url))
        [operation] = adapter.operations.values()
        assert await call(operation, id="1") == json.loads(body)
        picked = await call(operation, id="1", fields=["owner.login", "tags.a", "gone", "id.x"])
        await adapter.close()
    assert picked == {"owner": {"login": "ada"}, "tags": [{"a": 1}, {}]}
    assert upstream.targets == ["/pets/1", "/pets/1"]


@pytest.mark.anyio
async def test_a_head_tells_what_its_headers_say() -> None:
    async with running(always(reply(200, etag='"x"'))) as upstream:
        adapter = adapter_of(document({"/pets": {"head": get()}}), OpenApiOptions(base_url=upstream.url))
        [operation] = adapter.operations.values()
        answer = await call(operation)
        await adapter.close()
    assert answer == {"status": 200, "headers": {"content-length": "0", "etag": '"x"'}}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "VALIDATION_INVALID_TYPE"),
        (401, "PERMISSION_DENIED"),
        (404, "NOT_FOUND_RESOURCE"),
        (409, "CONFLICT_ALREADY_EXISTS"),
        (500, "INTERNAL_ERROR"),
    ],
)
async def test_a_status_becomes_an_error(status: int, code: str) -> None:
    async with running(always(reply(status, b'{"why": "x"}', content_type="application/json"))) as upstream:
        adapter = adapter_of(document({"/pets/{id}": {"delete": get()}}), OpenApiOptions(base_url=upstream.url))
        [operation] = adapter.operations.values()
        with pytest.raises(AqlError) as caught:
            await call(operation, id="7")
        await adapter.close()
    error = caught.value.error
    assert error.code == code
    assert error.details is not None
    assert error.details["http_status"] == status
    if status == 404:
        assert error.message == "Resource 'pet' not found: '7'"


_json = st.recursive(st.integers() | st.text("ab"), lambda i: st.lists(i) | st.dictionaries(st.sampled_from("abc"), i))


@given(_json, st.lists(st.sampled_from(["a", "b", "a.b", "a.b.c", "b.a", "c"]), min_size=1))
def test_a_selection_only_leaves_out(data: Any, fields: list[str]) -> None:
    def is_part(one: Any, whole: Any) -> bool:
        if isinstance(one, dict):
            return isinstance(whole, dict) and all(key in whole and is_part(one[key], whole[key]) for key in one)
        if isinstance(one, list):
            return isinstance(whole, list) and all(map(is_part, one, whole))
        return bool(one == whole)

    picked = selected(data, fields)
    assert is_part(picked, data)
    assert selected(picked, fields) == picked
    if isinstance(data, dict):
        assert set(picked) <= {field.partition(".")[0] for field in fields}


# an operator's word


PETS = document(
    {"/pets": {"get": get(operationId="listPets"), "post": get()}, "/pets/{id}": {"put": get(), "delete": get()}}
)


def curated(**table: Any) -> Any:
    return adapter_of(PETS, None, Curation.of(table, "curation.toml")).operations


def test_operations_are_picked_by_any_of_their_names() -> None:
    assert list(curated(include=["list*"])) == ["list_pets"]
    assert list(curated(include=["listPets"])) == ["list_pets"]
    assert list(curated(exclude=["delete_*", "POST *", "PUT *"])) == ["list_pets"]
    assert "list_pets" not in curated(operations={"GET /pets": {"hide": True}})


def test_operations_are_renamed_grouped_and_described() -> None:
    said = {"name": "show_pets", "group": "animals", "description": "Show all pets. In a row."}
    operation = curated(operations={"listPets": said})["show_pets"]
    assert (operation.group, operation.summary) == ("animals", "Show all pets.")


@pytest.mark.parametrize(
    ("key", "chosen", "expected"),
    [
        ("create_pet", "execute", Category.EXECUTE),
        ("create_pet", "read", Category.READ),
        ("POST /pets", "update", Category.EXECUTE),
        ("list_pets", "delete", Category.DELETE),
    ],
)
def test_an_operator_decides_the_category(key: str, chosen: str, expected: Category) -> None:
    operations = curated(operations={key: {"category": chosen}})
    operation = operations["list_pets" if key == "list_pets" else "create_pet"]
    assert operation.category is expected
    assert (operation.parameter("dry_run") is None) == (expected is Category.READ)
    if expected.value.lower() == chosen:
        assert operation.origin.category.provenance is Provenance.OVERRIDE


def test_what_means_nothing_in_a_curation_is_said(caplog: pytest.LogCaptureFixture) -> None:
    curated(operations={"list_petz": {"hide": True}}, include=["*"])
    assert "Did you mean 'list_pets'?" in caplog.text


# documents that are none


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "is no OpenAPI document"),
        ('{"swagger": "2.0"}', "Convert it, for instance with 'npx swagger2openapi shop.json'"),
        ('{"openapi": "4.0.0", "paths": {}}', "is of OpenAPI '4.0.0'; 3.0 and 3.1 are read"),
        ('{"info": {}}', "has no field 'openapi'"),
        ('{"openapi": "3.0.0"}', "has no 'paths'"),
    ],
)
def test_what_is_no_document_is_refused_with_a_way_on(text: str, words: str) -> None:
    with pytest.raises(AdapterError) as caught:
        document_of(text, "shop.json")
    assert words in str(caught.value)


def test_what_cannot_be_used_is_left_out_and_said(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    paths = {
        "/ok": {"get": get(), "trace": get(), "post": 5},
        "no-slash": {"get": get()},
        "/a?b={c}": {"get": get()},
        "/x": 5,
    }
    adapter = adapter_of(document(paths | {f"/..{'/x' * n}": {"get": get()} for n in range(30)}))
    assert list(adapter.operations) == ["list_ok"]
    assert "'GET no-slash' is left out: a path must begin with '/'" in caplog.text
    assert "and 12 more of this kind" in caplog.text


def test_a_query_that_stands_in_the_path_is_always_sent() -> None:
    operation = operation_of(get({"name": "q", "in": "query", "schema": {}}), "/things?action=list all&x")
    function: Any = operation.function
    assert function.prepared({"q": 1}).query == (("action", "list%20all"), ("x", ""), ("q", "1"))


def test_a_fragment_of_a_path_is_never_sent() -> None:
    operation = operation_of(get(), "/things#list")
    function: Any = operation.function
    assert function.prepared({}).url == "https://shop.example/things"


def test_the_adapter_has_the_documents_words() -> None:
    info = {"title": "Pet shop", "version": "2.1", "description": "Sells <b>pets</b>"}
    adapter = adapter_of(document({"/a": {"get": get()}}, info=info))
    assert (adapter.description, adapter.version) == ("Pet shop. Sells pets", "2.1")
    assert adapter_of(document({}, info=None)).version == "0.1.0"
