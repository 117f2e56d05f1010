"""An operation: a named function with a category, parameters and words (Operations 5.1)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any, Final

import jsonschema_rs

from headgate.adapter.background import RUNS_IN_BACKGROUND, STATE_OBJECT, Background
from headgate.adapter.origins import Origin
from headgate.adapter.parameters import SENSITIVE, Convert, Deprecated, Parameter, Schema
from headgate.adapter.schemas import dereference
from headgate.adapter.text_formats import FORMATS
from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.categories import Category
from headgate.protocol.danger import Danger
from headgate.protocol.names import (
    RESERVED_OPERATIONS,
    canonical_verb,
    category_of_verb,
    is_snake_case,
    resource_of,
    verb_of,
)
from headgate.protocol.suggestions import did_you_mean, nearest

__all__ = ["DRY_RUN", "IF_MATCH", "INPUT", "Example", "Operation"]

INPUT: Final = "input"
"""Where an UPDATE carries the fields to change (Spec 4.5)."""

IF_MATCH: Final = "if_match"
"""Where a conditional change carries the version that it was made for (Spec 9.3.2)."""

DRY_RUN: Final = "dry_run"
"""Where a change says that it is only to be tried (Operations 4.4.1)."""

_MAX_NAME: Final = 64
_TOLD_BY_NAME: Final = frozenset({"full_description", "brief", "resource"})
"""What is kept of an operation and would be different if it had another name."""


@dataclass(frozen=True, slots=True)
class Example:
    """A request that works, for introspection."""

    params: Mapping[str, object]
    description: str = ""


@dataclass(frozen=True, eq=False)
class Operation:
    """What an adapter can be asked to do. One that breaks a rule of the specification cannot be built.

    ``function`` is called with the parameters by name, after ``bind`` where they need putting together.
    ``definitions`` holds the named schemas that parameters and the answer refer to as ``#/$defs/Name``.
    ``checked`` says that they are known to be right, because they come from type hints.
    """

    name: str
    category: Category
    function: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    summary: str = ""
    description: str = ""
    short: str = ""
    """What introspection says in its short form in place of the description and of the words of every parameter."""
    returns: Schema = field(default_factory=dict)
    returns_description: str = ""
    definitions: Mapping[str, Schema] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    endpoint: str | None = None
    deprecated: Deprecated | None = None
    locks: tuple[str, ...] | None = None
    rationale: str = ""
    is_async: bool = True
    context_parameter: str | None = None
    bind: Callable[[dict[str, object]], Mapping[str, object]] | None = None
    features: Mapping[str, object] = field(default_factory=dict)
    """What introspection shows of it beside its parameters, such as aggregation_support."""
    danger: Danger | None = None
    """What its author declares; else its category and its name tell."""
    tries_nothing: bool = False
    """Whether the function cannot try without effect, so that a dry run does not call it."""
    background: Background | None = None
    """How it runs if a call only starts it."""
    repeats: bool = False
    """Whether it runs again what another operation has started, so that the gate judges that one."""
    asks_user: bool = False
    """Whether its function may ask the user of whoever calls while it works."""
    rules: Schema = field(default_factory=dict)
    """What its parameters must satisfy together, as keywords of JSON Schema; they may also let in further ones."""
    tabular: bool = False
    """Whether its answer is a list of objects, which it also gives as a table; its function does not hear of that."""
    source: str = ""
    """The source that it comes from, where a server has several."""
    local: str = ""
    """Its name in its source, where it has another here because several sources have operations of that name."""
    group: str = ""
    """What it belongs to inside its source, such as a tag or a table."""
    origin: Origin | None = None
    """What it is where it comes from, if that is not an author's own code."""
    checked: InitVar[bool] = False

    def __post_init__(self, checked: bool) -> None:
        self._check_words()
        self._check_parameters()
        if self.examples or self.rules or (self.definitions and not checked):
            self._check_schema()

    def _check_words(self) -> None:
        if len(self.name) > _MAX_NAME:
            raise AdapterError(
                f"The operation name '{self.name}' is too long: {len(self.name)} characters, {_MAX_NAME} are allowed."
            )
        if not is_snake_case(self.name):
            raise AdapterError(
                f"The operation name '{self.name}' is not snake_case: use lower-case letters, digits and underscores, "
                f"starting with a letter, {_MAX_NAME} characters at most (Spec 8.5.2). Example: 'get_book'."
            )
        if not _is_category(self.category):
            known = ", ".join(Category)
            raise AdapterError(
                f"Operation '{self.name}' has no semantic category: it must be one of {known} (Spec 6.2)."
            )
        if not self.summary.strip():
            raise AdapterError(f"Operation '{self.name}' has no description: write a docstring (Operations 5.1).")
        self._check_verb()

    def _check_verb(self) -> None:
        """A change must not pass for a READ, which hosts run without asking; a reserved name is refused elsewhere."""
        named_like = category_of_verb(verb_of(self.local or self.name))
        is_suspicious = self.category is Category.READ and named_like not in (None, Category.READ)
        if is_suspicious and not self.rationale and self.name not in RESERVED_OPERATIONS:
            raise AdapterError(
                f"Operation '{self.name}' is declared READ but named like {named_like}: a caller would trust it to "
                "change nothing. Correct one of the two, or say with rationale= why it is right (Spec 8.1)."
            )

    def _check_parameters(self) -> None:
        names = [parameter.name for parameter in self.parameters]
        for name in names:
            if names.count(name) > 1:
                raise AdapterError(f"Operation '{self.name}' has two parameters named '{name}'.")
        for name in self.locks or ():
            if name not in names:
                raise AdapterError(f"Operation '{self.name}' locks '{name}', which is not one of its parameters.")
        for name in self.danger.named_parameters if self.danger else ():
            if name not in names:
                raise AdapterError(
                    f"The confirmation message of operation '{self.name}' names '{{{name}}}', which is not one of its "
                    f"parameters{did_you_mean(nearest(name, names, 1))}"
                )
        self._check_background(names)
        given = self.parameter(INPUT)
        if self.category is Category.UPDATE and (given is None or not given.required):
            raise AdapterError(
                f"UPDATE operation '{self.name}' needs a required parameter '{INPUT}' holding the fields to change, "
                "such as 'input: Patch[Book]'; identifiers stay beside it (Spec 4.5)."
            )

    def _check_background(self, names: list[str]) -> None:
        if self.background is None:
            return
        if self.category is not Category.EXECUTE:
            raise AdapterError(
                f"Operation '{self.name}' is declared {self.category} and background: only what is declared with "
                "@adapter.execute runs in the background (Spec 8.4)."
            )
        for name in self.background.keys:
            if name not in names:
                raise AdapterError(
                    f"Operation '{self.name}' has the key '{name}', which is not one of its "
                    f"parameters{did_you_mean(nearest(name, names, 1))}"
                )
        if self.background.process and self.is_async:
            raise AdapterError(
                f"Operation '{self.name}' is an async function, which cannot run in a process: write it as a plain one."
            )
        if self.background.process and not _can_be_found(self.function):
            raise AdapterError(
                f"Operation '{self.name}' runs in a process, which must find it: define it in a module that can be "
                "imported, under its own name, not inside another function."
            )

    def _check_schema(self) -> None:
        """Compile at once what comes from foreign or nested schemas, where a mistake is likely."""
        try:
            _ = self.validator
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise AdapterError(f"Operation '{self.name}' has a schema that cannot be used: {error}") from None
        for example in self.examples:
            if not self.validator.is_valid(example.params):
                raise AdapterError(
                    f"Operation '{self.name}' has an example that it would refuse itself: check its parameters."
                )

    def as_part_of(self, source: str, name: str) -> "Operation":
        """The same as one source's among several, perhaps under another name; what is compiled stays compiled."""
        made = object.__new__(type(self))
        kept = {key: value for key, value in vars(self).items() if key not in _TOLD_BY_NAME}
        local = self.local or (self.name if name != self.name else "")
        vars(made).update(kept, name=name, source=source, local=local)
        made._check_words()
        return made

    @property
    def known_as(self) -> tuple[str, ...]:
        """The names by which rules may mean it: its own, and the one that it has in its source."""
        return (self.name, self.local) if self.local else (self.name,)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name, if there is one."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @cached_property
    def full_description(self) -> str:
        """The description with all that introspection has no field for."""
        own = self.local or self.name
        near = canonical_verb(own, self.category)
        reason = self.rationale
        if near:
            reason = reason or f"'{verb_of(own)}' says more exactly what happens here"
            reason = f"Similar to '{near}'; {reason}."
        return "\n".join(filter(None, (self.description or self.summary, reason, *self._remarks())))

    @property
    def notes(self) -> tuple[str, ...]:
        """The same part by part, without the verb that it is similar to."""
        return tuple(filter(None, (self.description or self.summary, *self._remarks())))

    def _remarks(self) -> Iterator[str]:
        if self.background:
            yield RUNS_IN_BACKGROUND
            yield f"Result: {self.returns_description}" if self.returns_description else ""
        if self.deprecated:
            yield self.deprecated.sentence

    @property
    def answer(self) -> Schema:
        """What a call is answered: the handler's answer, or the state of what was started."""
        return dict(STATE_OBJECT) if self.background else self.returns

    @property
    def answer_description(self) -> str:
        """The same in words."""
        return "The state of the execution" if self.background else self.returns_description

    @property
    def shown_features(self) -> Mapping[str, object]:
        """What introspection shows of it beside its parameters."""
        if self.background is None:
            return self.features
        reports = self.context_parameter is not None
        return {**self.features, "lifecycle": self.background.lifecycle(reports=reports, hides=self.has_secrets)}

    @cached_property
    def brief(self) -> str:
        """One line for lists."""
        return f"{self.summary} (deprecated)" if self.deprecated else self.summary

    @cached_property
    def schema(self) -> Schema:
        """The JSON Schema of the whole of ``params``."""
        schema: Schema = {
            "type": "object",
            "properties": {parameter.name: self._schema_of(parameter) for parameter in self.parameters},
            "required": [parameter.name for parameter in self.parameters if parameter.required],
            "additionalProperties": False,
            **self.rules,
        }
        return {**schema, "$defs": dict(self.definitions)} if self.definitions else schema

    def _schema_of(self, parameter: Parameter) -> Schema:
        """A parameter's schema; the ``input`` of an UPDATE takes none of the identifiers in (Spec 4.5.3)."""
        if self.category is not Category.UPDATE or parameter.name != INPUT:
            return parameter.schema
        full = dereference(parameter.schema, self.definitions)
        is_open = full.get("additionalProperties", True) is not False
        taken = [name for name in self.identifiers if is_open or name in full.get("properties", ())]
        return {**parameter.schema, "propertyNames": {"not": {"enum": taken}}} if taken else parameter.schema

    @cached_property
    def identifiers(self) -> tuple[str, ...]:
        """The parameters that say which resource is meant (Spec 4.5)."""
        return tuple(p.name for p in self.parameters if p.required and p.name != INPUT)

    @cached_property
    def validator(self) -> jsonschema_rs.Draft202012Validator:
        """The schema compiled, on first use: a registry of thousands starts at once."""
        return jsonschema_rs.Draft202012Validator(self.schema, validate_formats=True, formats=FORMATS)

    @cached_property
    def converters(self) -> tuple[tuple[str, Convert], ...]:
        """The parameters whose JSON value becomes another Python value, and how."""
        return tuple((parameter.name, parameter.convert) for parameter in self.parameters if parameter.convert)

    @cached_property
    def defaults(self) -> Mapping[str, object]:
        """What stands in for each optional parameter that is not given."""
        return {parameter.name: parameter.default for parameter in self.parameters if not parameter.required}

    @cached_property
    def lock_parameters(self) -> tuple[str, ...] | None:
        """The parameters that name the resource which a call must have for itself, or None if it needs none.

        A write without identifiers has all of its kind of resource for itself (Spec 9.3.1).
        """
        if self.locks is not None:
            return self.locks or None
        return self.identifiers if self.category in (Category.UPDATE, Category.DELETE) else None

    @cached_property
    def resource(self) -> str:
        """The resource that the name speaks of."""
        return resource_of(self.local or self.name)

    @cached_property
    def has_secrets(self) -> bool:
        """Whether any parameter, or a field inside one, must never be shown."""
        return SENSITIVE in str(self.schema)

    @cached_property
    def deprecated_parameters(self) -> Mapping[str, Deprecated]:
        """The parameters that will go."""
        return {parameter.name: parameter.deprecated for parameter in self.parameters if parameter.deprecated}


def _is_category(value: object) -> bool:
    return isinstance(value, Category)


def _can_be_found(function: Callable[..., Any]) -> bool:
    """Whether another process finds a function by its name in a module."""
    name = getattr(function, "__qualname__", "<nameless>")
    is_bound = getattr(function, "__self__", None) is not None
    return "<" not in name and not is_bound and function.__module__ != "__main__"
