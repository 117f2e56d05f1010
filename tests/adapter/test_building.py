"""What cannot be built: every rule is checked as an operation is added (Spec 4.3, 4.5, 6.2, 8.5)."""

import functools
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from headgate import Adapter, AdapterError, Category, Context, Example, Operation, Param, Parameter, Patch, Profile
from headgate.protocol.names import RESERVED_OPERATIONS
from headgate.protocol.profiles import CRUDE
from tests.adapter.making import operation


async def nothing() -> None:
    """Do nothing."""


class Book(BaseModel):
    title: str


def made(**fields: Any) -> Operation:
    return Operation(**{"name": "get_thing", "category": Category.READ, "function": nothing, "summary": "x", **fields})


@pytest.mark.parametrize("name", sorted(RESERVED_OPERATIONS))
def test_a_reserved_name_cannot_be_used(name: str) -> None:
    with pytest.raises(AdapterError, match=rf"'{name}' is reserved for the protocol: choose another \(Spec 8.5.4\)"):
        Adapter("x").add(made(name=name, category=Category.EXECUTE))


@pytest.mark.parametrize("name", ["create_thing", "update_thing", "delete_thing", "execute_thing", "cancel_thing"])
def test_what_is_named_like_a_change_cannot_be_declared_read(name: str) -> None:
    with pytest.raises(AdapterError, match=f"Operation '{name}' is declared READ but named like"):
        made(name=name)
    assert made(name=name, rationale="'thing' is the name of a report").category is Category.READ


def test_a_name_that_is_too_long_is_called_so() -> None:
    with pytest.raises(AdapterError, match="is too long: 65 characters, 64 are allowed"):
        made(name="x" * 65)


@pytest.mark.parametrize("bounds", [{"minimum": 3, "maximum": 1}, {"min_length": 3, "max_length": 1}], ids=str)
def test_bounds_that_allow_nothing_are_refused(bounds: dict[str, Any]) -> None:
    with pytest.raises(AdapterError, match="its lower bound 3 is above its upper bound 1"):
        Param(**bounds)


@pytest.mark.parametrize("name", ["", "getThing", "get-thing", "Get", "_get", "1", "get thing"])
def test_an_operation_is_named_in_snake_case(name: str) -> None:
    with pytest.raises(AdapterError, match="is not snake_case: use lower-case letters"):
        made(name=name)


def test_a_name_of_sixty_four_characters_is_taken() -> None:
    assert made(name="x" * 64).name == "x" * 64


@pytest.mark.parametrize("category", ["READ", None, 1], ids=repr)
def test_an_operation_has_one_of_the_five_categories(category: object) -> None:
    with pytest.raises(AdapterError, match="must be one of CREATE, READ, UPDATE, DELETE, EXECUTE"):
        made(category=category)


@pytest.mark.parametrize("summary", ["", "  "], ids=repr)
def test_an_operation_needs_a_description(summary: str) -> None:
    with pytest.raises(AdapterError, match="'get_thing' has no description: write a docstring"):
        made(summary=summary)


def test_a_function_without_a_docstring_is_refused() -> None:
    async def get_thing() -> None:
        pass

    with pytest.raises(AdapterError, match="'get_thing' has no description"):
        Adapter("x").read(get_thing)


def test_an_operation_cannot_be_added_twice() -> None:
    adapter = Adapter("things")
    adapter.add(made())
    with pytest.raises(AdapterError, match="already an operation 'get_thing' in adapter 'things'"):
        adapter.add(made())


def test_two_parameters_cannot_share_a_name() -> None:
    with pytest.raises(AdapterError, match="'get_thing' has two parameters named 'a'"):
        made(parameters=(Parameter("a", {}), Parameter("a", {})))


@pytest.mark.parametrize(
    "parameters",
    [(), (Parameter("title", {}),), (Parameter("input", {}, required=False),)],
    ids=["no parameters", "fields beside", "an optional input"],
)
def test_an_update_needs_a_required_input(parameters: tuple[Parameter, ...]) -> None:
    with pytest.raises(AdapterError, match=r"UPDATE operation 'update_thing' needs a required parameter 'input'"):
        made(name="update_thing", category=Category.UPDATE, parameters=parameters)


@pytest.mark.parametrize("category", [category for category in Category if category is not Category.UPDATE])
def test_no_other_category_needs_an_input(category: Category) -> None:
    assert made(category=category).parameter("input") is None


def test_a_lock_names_a_parameter() -> None:
    with pytest.raises(AdapterError, match="'get_thing' locks 'shelf', which is not one of its parameters"):
        made(locks=("shelf",))


def test_an_example_that_the_operation_would_refuse_is_refused() -> None:
    with pytest.raises(AdapterError, match="has an example that it would refuse itself"):
        made(examples=(Example({"nonsense": 1}),))


def test_a_schema_that_leads_nowhere_is_refused() -> None:
    parameter = Parameter("a", {"$ref": "#/$defs/Missing"})
    with pytest.raises(AdapterError, match="'get_thing' has a schema that cannot be used"):
        made(parameters=(parameter,), definitions={"Other": {}})


def test_an_endpoint_family_must_be_one_of_the_profile() -> None:
    with pytest.raises(AdapterError, match="family 'curate', which profile 'crude' does not have; it has create, read"):
        Adapter("x").add(made(endpoint="curate"))


def test_an_endpoint_family_of_the_profile_is_taken() -> None:
    adapter = Adapter("x", profile="content")
    adapter.add(made(endpoint="curate"))
    assert adapter.operations["get_thing"].endpoint == "curate"


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(AdapterError, match="no profile 'nonsense'; known are crude, crude_authorize, discover"):
        Adapter("x", profile="nonsense")


def test_a_profile_can_be_given_by_name_or_as_itself() -> None:
    own = Profile("own", CRUDE.families)
    assert Adapter("x", profile=own).profile is own
    assert Adapter("x", profile="crude").profile is Adapter("x").profile is CRUDE


@pytest.mark.parametrize("name", ["", " "], ids=repr)
def test_an_adapter_needs_a_name(name: str) -> None:
    with pytest.raises(AdapterError, match="An adapter needs a name"):
        Adapter(name)


# Functions.


async def with_args(*things: int) -> None:
    """Take things."""


async def with_kwargs(**things: int) -> None:
    """Take things."""


async def positional(thing: int, /) -> None:
    """Take a thing."""


async def named_params(params: int) -> None:
    """Take params."""


async def camel(bookId: int) -> None:  # noqa: N803
    """Take a book."""


async def lost(thing: "NotThere") -> None:  # type: ignore[name-defined]  # noqa: F821
    """Take what is not there."""


async def odd(thing: type) -> None:
    """Take a type."""


async def odd_answer() -> type:
    """Answer with a type."""
    return int


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (with_args, "Operation 'with_args': parameter 'things' cannot be given by name; write each parameter out"),
        (with_kwargs, "Operation 'with_kwargs': parameter 'things' cannot be given by name"),
        (positional, "Operation 'positional': parameter 'thing' cannot be given by name"),
        (named_params, "Operation 'named_params': The parameter name 'params' is a field of every request"),
        (camel, "Operation 'camel': The parameter name 'bookId' is not snake_case"),
        (lost, "Operation 'lost': the type hint 'NotThere' cannot be found: define it in the module"),
        (odd, "Operation 'odd': parameter 'thing': the type 'type' has no JSON form"),
        (odd_answer, "Operation 'odd_answer': the type 'type' has no JSON form"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_that_cannot_be_an_operation_says_what_to_change(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(AdapterError) as raised:
        Adapter("x").read(function)
    assert str(raised.value).startswith(words)


@pytest.mark.parametrize("callable_object", [functools.partial(nothing), Book, 5], ids=["partial", "class", "number"])
def test_only_functions_and_methods_can_be_operations(callable_object: Any) -> None:
    with pytest.raises(AdapterError, match="only a function or a method can be an operation"):
        Adapter("x").read(name="get_thing", description="x")(callable_object)


def test_two_types_of_one_name_in_one_operation_are_refused() -> None:
    def other() -> type[BaseModel]:
        class Book(BaseModel):
            pages: int

        return Book

    async def compare_books(one: Book, two: other()) -> None:  # type: ignore[valid-type]
        """Compare two books."""

    with pytest.raises(AdapterError, match="two different types of its parameters are named 'Book': rename one"):
        Adapter("x").read(compare_books)


def test_methods_and_plain_functions_can_be_operations() -> None:
    class Library:
        def get_thing(self, thing_id: int) -> int:
            """Get a thing."""
            return thing_id

    adapter = Adapter("x")
    adapter.read(Library().get_thing)
    found = adapter.operations["get_thing"]
    assert [parameter.name for parameter in found.parameters] == ["thing_id"]
    assert not found.is_async


def test_a_decorated_function_stays_what_it_was() -> None:
    adapter = Adapter("x")
    assert adapter.read(nothing) is nothing
    assert adapter.read(name="other")(nothing) is nothing
    assert list(adapter.operations) == ["nothing", "other"]


@pytest.mark.parametrize("category", list(Category))
def test_each_decorator_gives_its_category(category: Category) -> None:
    adapter = Adapter("x")

    async def do_thing(input: dict[str, Any]) -> None:  # noqa: A002
        """Do a thing."""

    getattr(adapter, category.value.lower())(do_thing)
    assert adapter.operations["do_thing"].category is category


def test_the_options_of_a_decorator_reach_the_operation() -> None:
    adapter = Adapter("x", profile="content")

    async def get_thing(thing_id: int, shelf: str = "") -> None:
        """Get a thing."""

    adapter.read(
        name="fetch_thing",
        description="Fetch it.",
        examples=[{"thing_id": 1}, Example({"thing_id": 2}, "Two")],
        endpoint="publish",
        deprecated="slow",
        locks="shelf",
        rationale="it is fetched",
    )(get_thing)
    found = adapter.operations["fetch_thing"]
    assert found.summary == "Fetch it."
    assert found.examples == (Example({"thing_id": 1}), Example({"thing_id": 2}, "Two"))
    assert (found.endpoint, found.rationale) == ("publish", "it is fetched")
    assert found.deprecated is not None
    assert found.deprecated.note == "slow"
    assert found.locks == ("shelf",)


def test_the_registry_cannot_be_changed_from_outside() -> None:
    operations: Any = Adapter("x").operations
    with pytest.raises(TypeError):
        operations["get_thing"] = made()


def test_a_context_is_no_parameter() -> None:
    async def get_thing(ctx: Context, thing_id: int) -> None:
        """Get a thing."""

    found = operation(get_thing)
    assert found.context_parameter == "ctx"
    assert [parameter.name for parameter in found.parameters] == ["thing_id"]


def test_a_parameter_without_a_hint_is_refused() -> None:
    def get_thing(thing):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        """Get a thing."""

    with pytest.raises(AdapterError, match="parameter 'thing' has no data type: give it a type hint"):
        operation(get_thing)


# What is locked and what identifies.


def locked(category: Category, **options: Any) -> tuple[str, ...] | None:
    async def do_thing(thing_id: int, input: Patch[Book], shelf: str = "") -> None:  # noqa: A002
        """Do a thing."""

    return operation(do_thing, category, **options).lock_parameters


@pytest.mark.parametrize(
    ("category", "options", "names"),
    [
        pytest.param(Category.READ, {}, None, id="READ locks nothing"),
        pytest.param(Category.CREATE, {}, None, id="CREATE locks nothing"),
        pytest.param(Category.EXECUTE, {}, None, id="EXECUTE locks nothing"),
        pytest.param(Category.UPDATE, {}, ("thing_id",), id="UPDATE locks its identifiers"),
        pytest.param(Category.DELETE, {}, ("thing_id",), id="DELETE locks its identifiers"),
        pytest.param(Category.EXECUTE, {"locks": ("shelf",)}, ("shelf",), id="the author's choice"),
        pytest.param(Category.DELETE, {"locks": ()}, None, id="the author's choice of none"),
    ],
)
def test_an_operation_locks_the_resource_that_it_changes(
    category: Category, options: dict[str, Any], names: tuple[str, ...] | None
) -> None:
    assert locked(category, **options) == names


def test_a_write_without_identifiers_locks_all_of_its_kind() -> None:
    async def update_settings(input: dict[str, Any]) -> None:  # noqa: A002
        """Change the settings."""

    found = operation(update_settings, Category.UPDATE)
    assert (found.lock_parameters, found.resource) == ((), "settings")


# Descriptions.


@pytest.mark.parametrize(
    ("name", "options", "description"),
    [
        pytest.param("get_thing", {}, "Get it.", id="a canonical verb needs no words"),
        pytest.param(
            "fetch_thing",
            {},
            "Get it.\nSimilar to 'get'; 'fetch' says more exactly what happens here.",
            id="another verb",
        ),
        pytest.param(
            "fetch_thing", {"rationale": "it is far"}, "Get it.\nSimilar to 'get'; it is far.", id="with a reason"
        ),
        pytest.param("get_thing", {"rationale": "It is near."}, "Get it.\nIt is near.", id="a reason alone"),
    ],
)
def test_a_full_description_explains_the_verb(name: str, options: dict[str, Any], description: str) -> None:
    assert made(name=name, summary="Get it.", **options).full_description == description
