"""All ways to update one thing, tried one after another: what was there, what was asked, and what is there now."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from headgate.conformance.agreeing import call_agreed
from headgate.conformance.probe import Probe
from headgate.conformance.survey import SeenOperation, SeenParameter
from headgate.conformance.trips import INPUT, Made, sample_of, thing_in
from headgate.conformance.values import Exchange
from headgate.conformance.variation import another, misfit

__all__ = ["Step", "Updates", "read_only"]

_TRIES: Final = 4
_ENOUGH: Final = 2
_NO_OBJECTS: Final = (5, "probe", ["probe"], None)
_PLAIN: Final = (str, int, float, bool)


@dataclass(frozen=True, slots=True)
class Step:
    """One update."""

    field: str
    """What was to be changed."""
    given: object
    """What ``input`` said of it."""
    before: Mapping[str, Any]
    """The thing as it was read before."""
    asked: Exchange
    after: Exchange
    """The thing as it was read afterwards; where nothing was read, the update itself."""
    now: Mapping[str, Any] | None
    """The thing afterwards."""
    beside: tuple[Exchange, ...] = ()
    """Another thing, which was read twice before the update and once after it."""

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """What shows it."""
        return (self.asked, self.after) if self.after is not self.asked else (self.asked,)


def read_only(parameter: SeenParameter) -> bool:
    """Whether a field is documented as one that cannot be changed."""
    told = parameter.raw.get("readOnly") or parameter.raw.get("read_only")
    words = parameter.description.lower().replace("-", " ")
    return told is True or "read only" in words or "immutable" in words


class Updates:
    """The updates of one thing."""

    def __init__(
        self,
        probe: Probe,
        made: Made,
        fields: Mapping[str, SeenParameter],
        update: SeenOperation,
        thing: Mapping[str, Any],
    ) -> None:
        self._probe = probe
        self._made = made
        self._fields = fields
        self._update = update
        self._now = thing
        self._keys = made.trip.naming(update, made.keys)

    async def all(self) -> dict[str, list[Step]]:
        """Every kind of update that can be tried here, by its name; nothing if updates take no ``input``."""
        if self._update.parameter(INPUT) is None:
            return {}
        kinds: dict[str, Callable[[], Awaitable[list[Step]]]] = {
            "change": self._change,
            "array": self._array,
            "object": self._object,
            "null": self._null,
            "missing": self._missing,
            "no-object": self._no_object,
            "unknown": self._unknown,
            "identifier": self._identifier,
            "misfit": self._misfit,
            "unstrict": self._unstrict,
            "read-only": self._read_only,
            "undocumented": self._undocumented,
            "dry-run": self._dry_run,
            "stale": self._tags,
        }
        return {name: await kind() for name, kind in kinds.items()}

    # one update

    async def _ask(self, field: str, params: Mapping[str, Any], given: object, *, read: bool = True) -> Step:
        """Update, and read again unless it was refused."""
        before = self._now
        asked = await call_agreed(self._probe, self._update, {**self._keys, **params})
        after = asked
        if read and asked.succeeded:
            after = await self._probe.call(self._made.trip.get, self._made.keys)
            self._now = thing_in(after, self._made.trip) or self._now
        return Step(
            field, given, before, asked, after, thing_in(after, self._made.trip) if after is not asked else None
        )

    async def _set(self, field: str, value: object, **beside: object) -> Step:
        return await self._ask(field, {INPUT: {field: value}, **beside}, value)

    async def _first_taken(self, candidates: Iterator[tuple[str, object]]) -> list[Step]:
        """The first update that is not refused; failing that, all that were."""
        tried: list[Step] = []
        for (field, value), _ in zip(candidates, range(_TRIES), strict=False):
            tried.append(await self._set(field, value))
            if tried[-1].asked.succeeded:
                return tried[-1:]
        return tried

    # what there is to change

    def _changeable(self) -> list[str]:
        """The fields that may be changed, plain texts first."""
        names = [
            name
            for name in {**self._fields, **self._made.params}
            if name in self._now and name not in self._made.keys and not self._is_bound(name)
        ]
        return sorted(names, key=lambda name: not isinstance(self._now[name], str) or bool(self._raw(name)))

    def _is_bound(self, name: str) -> bool:
        declared = self._fields.get(name)
        return name == "id" or name.endswith("_id") or (declared is not None and read_only(declared))

    def _raw(self, name: str) -> Mapping[str, Any]:
        """The rules of a field beside what everyone has."""
        told = self._fields[name].raw if name in self._fields else {}
        return {key: value for key, value in told.items() if key not in ("name", "type", "required", "description")}

    def _others(self, salt: str = "") -> Iterator[tuple[str, object]]:
        for name in self._changeable():
            value = another(self._now[name], self._raw(name), f"{self._probe.seed}{salt}")
            if value is not None:
                yield name, value

    async def _sample(self) -> Mapping[str, Any]:
        _, exchange = await sample_of(self._probe, self._made.trip)
        return (thing_in(exchange, self._made.trip) if exchange is not None else None) or {}

    # what is tried

    async def _change(self) -> list[Step]:
        """One plain field. Another thing is read before and after, if one is known."""
        get = self._made.trip.get
        keys, known = await sample_of(self._probe, self._made.trip)
        there = known is not None and keys != dict(self._made.keys)
        before = [await self._probe.call(get, keys) for _ in range(_ENOUGH)] if there else []
        steps = await self._first_taken(self._others())
        if not there or not steps or not steps[-1].asked.succeeded:
            return steps
        return [replace(steps[-1], beside=(*before, await self._probe.call(get, keys)))]

    async def _array(self) -> list[Step]:
        """A list of several is replaced by a list of one."""
        sample = await self._sample()
        for name in self._changeable():
            if not self._is_list(name):
                continue
            texts = ["probe one", "probe two"]
            for several in (self._now[name], sample.get(name), texts):
                step = await self._replaced(name, several)
                if step is not None:
                    return [step]
        return []

    def _is_list(self, name: str) -> bool:
        """Whether a field holds a list, and is not documented as one that only grows."""
        declared = self._fields.get(name)
        given = self._update.parameter(INPUT)
        told_of = re.search(rf"\b{re.escape(name)}\b[^,.]*append", given.description if given is not None else "")
        words = declared.description.lower().replace("-", " ") if declared is not None else ""
        told = declared is not None and "array" in declared.types
        return (told or isinstance(self._now[name], list)) and "append only" not in words and not told_of

    async def _replaced(self, name: str, several: object) -> Step | None:
        if not isinstance(several, list) or len(several) < _ENOUGH:
            return None
        if self._now.get(name) != several:
            first = await self._set(name, several)
            if not first.asked.succeeded or self._now.get(name) != several:
                return first if first.asked.succeeded else None
        free = all(isinstance(one, str) for one in several) and not self._raw(name).get("items", {}).get("enum")
        step = await self._set(name, ["probe three"] if free else several[:1])
        return step if step.asked.succeeded else None

    async def _object(self) -> list[Step]:
        """One member of an object of several is changed."""
        sample = await self._sample()
        for name in [one for one in self._changeable() if self._may_be_object(one, sample)]:
            for several in (self._now[name], sample.get(name), {"probe_one": "a", "probe_two": "b"}):
                step = await self._merged(name, several)
                if step is not None:
                    return [step]
        return []

    def _may_be_object(self, name: str, sample: Mapping[str, Any]) -> bool:
        declared = self._fields.get(name)
        told = declared is not None and {"object", "any"} & set(declared.types)
        return bool(told) or isinstance(self._now[name], Mapping) or isinstance(sample.get(name), Mapping)

    async def _merged(self, name: str, several: object) -> Step | None:
        if not isinstance(several, Mapping) or len(several) < _ENOUGH:
            return None
        if self._now.get(name) != several and not (await self._set(name, several)).asked.succeeded:
            return None
        there = self._now.get(name)
        for member, value in there.items() if isinstance(there, Mapping) and len(there) >= _ENOUGH else ():
            other = another(value, {}, self._probe.seed) if isinstance(value, _PLAIN) else None
            if other is not None:
                step = await self._set(name, {member: other})
                if step.asked.succeeded:
                    return step
        return None

    async def _null(self) -> list[Step]:
        """Once more with another value if nothing changed: the value may have been the one that stands for none."""
        steps = await self._first_taken((name, None) for name in self._changeable() if self._removable(name))
        for step in steps:
            value = self._now.get(step.field)
            other = another(value, self._raw(step.field), f"{self._probe.seed}n")
            if step.now is not None and value is not None and value == step.before[step.field] and other is not None:
                await self._set(step.field, other)
                return [await self._set(step.field, None)]
        return steps

    def _removable(self, name: str) -> bool:
        declared = self._fields.get(name)
        value = self._now.get(name)
        if declared is None or value in (None, [], {}, "") or isinstance(value, bool):
            return False
        optional = "null" in declared.types or declared.raw.get("required") is False
        create = self._made.trip.create
        wanted = create.parameter(name) if create is not None else None
        has_default = any(one.raw.get("default") is not None for one in (declared, wanted) if one is not None)
        return optional and not has_default and not (wanted is not None and wanted.required)

    async def _missing(self) -> list[Step]:
        return [await self._ask(INPUT, {}, None, read=False)]

    async def _no_object(self) -> list[Step]:
        return [await self._ask(INPUT, {INPUT: value}, value, read=False) for value in _NO_OBJECTS]

    async def _unknown(self) -> list[Step]:
        name = f"probe_{self._probe.seed}"
        return [await self._ask(name, {INPUT: {name: "probe"}}, "probe", read=False)]

    async def _identifier(self) -> list[Step]:
        """The thing's own identifier inside ``input``, beside a change that is fine."""
        name, value = next(iter(self._keys.items()))
        field, other = next(self._others("i"), (name, value))
        return [await self._ask(name, {INPUT: {field: other, name: value}}, value, read=False)]

    async def _misfit(self) -> list[Step]:
        for name in self._changeable():
            value = misfit(self._fields[name].types) if name in self._fields else None
            if value is not None:
                return [await self._set(name, value)]
        return []

    async def _unstrict(self) -> list[Step]:
        """Whether wrong types and absent parameters are refused elsewhere: if not, that is another check's matter."""
        name, declared = next(iter(self._keys)), self._update.parameter(next(iter(self._keys)))
        wrong = misfit(declared.types if declared is not None else ())
        tried = [await self._ask(name, {name: wrong, INPUT: {}}, wrong, read=False)] if wrong is not None else []
        bare = await call_agreed(self._probe, self._made.trip.get, {})
        return [*tried, Step("", None, self._now, bare, bare, None)]

    async def _read_only(self) -> list[Step]:
        names = [name for name, one in self._fields.items() if read_only(one) and self._is_plain(name)]
        named = [name for name in names if name not in {"id", *self._keys, *self._made.keys}][:_ENOUGH]
        return [await self._set(name, self._other_text(name)) for name in named]

    async def _undocumented(self) -> list[Step]:
        """Fields that the server made by itself."""
        told = {**self._fields, **self._made.params, **self._keys}
        names = [name for name in self._now if name not in told and not name.startswith("_") and self._is_plain(name)]
        own = [name for name in names if name != "id"][:_ENOUGH]
        return [await self._set(name, self._other_text(name)) for name in own]

    def _is_plain(self, name: str) -> bool:
        return isinstance(self._now.get(name), _PLAIN)

    def _other_text(self, name: str) -> object:
        other = another(self._now[name], self._raw(name), self._probe.seed)
        return self._now[name] if other is None else other

    async def _dry_run(self) -> list[Step]:
        if self._update.parameter("dry_run") is None:
            return []
        found = next(self._others("d"), None)
        return [await self._set(*found, dry_run=True)] if found is not None else []

    async def _tags(self) -> list[Step]:
        """An update with the current tag, and another with the same tag, which is stale by then."""
        tag = self._now.get("_etag", self._now.get("_version"))
        if self._update.parameter("if_match") is None or tag is None:
            return []
        steps: list[Step] = []
        for salt in ("e", "f"):
            found = next(self._others(salt), None)
            if found is not None:
                steps.append(await self._set(*found, if_match=tag))
        return steps
