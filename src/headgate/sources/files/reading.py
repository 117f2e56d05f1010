"""From the text of an adapter file to what it says, or to all that is wrong in it (Adapter Element Type)."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from headgate.protocol.adapter_errors import AdapterError
from headgate.protocol.danger import Trust
from headgate.protocol.profiles import CRUDE, PROFILES
from headgate.protocol.suggestions import did_you_mean, nearest
from headgate.safety.decisions import Effect
from headgate.safety.policy.patterns import Patterns
from headgate.safety.policy.rules import Policy, Rule
from headgate.sources.files.building import operation_of
from headgate.sources.files.definitions import Read, read_operations
from headgate.sources.files.documents import Document, read_document, text_of_file
from headgate.sources.files.leaks import leaks_in, mistake_of
from headgate.sources.files.limits import Limits, read_limits
from headgate.sources.files.mistakes import AdapterFileError
from headgate.sources.files.plugins.builtin import register_builtin
from headgate.sources.files.plugins.interfaces import Plugin
from headgate.sources.files.plugins.registry import AUTHS, PROTOCOLS, SERIALIZATIONS, TRANSPORTS, Registry
from headgate.sources.files.schemas import read_schemas
from headgate.sources.files.spots import Spot, spot_of
from headgate.sources.files.values import AdapterFile, Auth, Entry, Target

__all__ = ["METADATA", "TOP_KEYS", "VERSION", "adapter_file_from", "read_adapter_file"]

_REQUIRED: Final = ("name", "type", "version", "description", "target", "operations")
METADATA: Final = ("author", "tags", "triggers", "created", "modified")
"""What a file may say of itself that changes nothing."""
TOP_KEYS: Final = (*_REQUIRED, "auth", "trust", "rate_limits", "schemas", "profile", *METADATA)

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*[a-z0-9]\Z")
VERSION: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?\Z")
"""A semantic version."""
_LONGEST_NAME: Final = 64
_LONGEST_DESCRIPTION: Final = 2_000
_TRUST_WORDS: Final[Mapping[str, str]] = {
    "untrusted": "untested",
    "low": "generated",
    "medium": "validated",
    "high": "community_reviewed",
    "verified": "certified",
}
"""What the schema of adapter files calls the levels that everything else calls otherwise."""


def read_adapter_file(path: Path) -> AdapterFile:
    """What a file says. An AdapterFileError has all of its mistakes."""
    return adapter_file_from(text_of_file(path), path.name, path.resolve().parent)


def adapter_file_from(text: str, where: str, folder: Path = Path()) -> AdapterFile:
    """What a text says; paths in it start from ``folder``."""
    register_builtin()
    document = read_document(text, where)
    top = spot_of(document)
    _refuse_credentials(document, top)
    file = _file(top, document, folder)
    top.notes.refuse()
    return file


def _refuse_credentials(document: Document, top: Spot) -> None:
    leaks = leaks_in(document)
    if any(leak.is_key for leak in leaks):
        raise AdapterFileError(document.where, [mistake_of(leak) for leak in leaks if leak.is_key])
    for leak in leaks:
        top.notes.mistakes.append(mistake_of(leak))
        if leak.steps:
            top.notes.hidden.add(leak.steps)


def _file(top: Spot, document: Document, folder: Path) -> AdapterFile:
    fields = top.fields(TOP_KEYS, _REQUIRED)
    if "type" in fields:
        fields["type"].choice(("adapter",))
    name = _name(fields["name"]) if "name" in fields else "unnamed"
    target = _target(fields["target"]) if "target" in fields else None
    auth = _auth(fields["auth"], name) if "auth" in fields else Auth()
    shared = read_schemas(fields["schemas"]) if "schemas" in fields else {}
    read = read_operations(fields["operations"], shared) if "operations" in fields else []
    entries = [one.entry for one in read]
    limits = read_limits(fields["rate_limits"], entries) if "rate_limits" in fields else Limits()
    trust = _trust(fields["trust"]) if "trust" in fields else Trust.UNTESTED
    version = _version(fields["version"]) if "version" in fields else ""
    text = fields["description"].text(longest=_LONGEST_DESCRIPTION) if "description" in fields else None
    _check_operations(read, fields.get("target"))
    return AdapterFile(
        name=name,
        version=version,
        description=" ".join((text or "").split()),
        target=target or Target(transport="", protocol="", serialization=""),
        auth=auth,
        trust=trust,
        entries=tuple(entries),
        policy=_policy(name, limits, entries),
        limits=_plain(fields.get("rate_limits")),
        telling=limits.telling,
        profile=_profile(fields.get("profile")),
        documentation=document.body.strip(),
        folder=folder,
        metadata={key: fields[key].value for key in METADATA if key in fields},
    )


def _plain(spot: Spot | None) -> Mapping[str, object]:
    return spot.value if spot is not None and isinstance(spot.value, Mapping) else {}


def _profile(spot: Spot | None) -> str:
    return (spot.choice(list(PROFILES)) if spot is not None else None) or CRUDE.name


def _name(spot: Spot) -> str:
    name = spot.text()
    if name is not None and (not _NAME.match(name) or len(name) > _LONGEST_NAME):
        expected = f"2 to {_LONGEST_NAME} lower-case letters, digits and hyphens, such as 'github-api'"
        spot.wrong(expected, "Begin with a letter, and do not end with a hyphen.", code="SCHEMA_INVALID_NAME")
        return "unnamed"
    return name or "unnamed"


def _version(spot: Spot) -> str:
    if isinstance(spot.value, int | float):
        spot.wrong('a version such as "1.0.0", in quotes', "Put it in quotes, with three numbers.")
        return ""
    version = spot.text() or ""
    if version and not VERSION.match(version):
        spot.wrong("a semantic version such as '1.0.0'", "Write three numbers with points between them.")
    return version


def _trust(spot: Spot) -> Trust:
    fields = spot.fields(None, ("level",))
    word = fields["level"].choice(list(Trust), _TRUST_WORDS) if "level" in fields else None
    return Trust(word) if word else Trust.UNTESTED


def _target(spot: Spot) -> Target | None:
    before = len(spot.notes.mistakes)
    every = spot.fields(None, ("transport", "protocol", "serialization"))
    transport = _plugin(every.get("transport"), TRANSPORTS)
    protocol = _plugin(every.get("protocol"), PROTOCOLS)
    serialization = _plugin(every.get("serialization"), SERIALIZATIONS)
    if transport is None or protocol is None or serialization is None:
        return None
    known = ("transport", "protocol", "serialization", *transport.keys, *protocol.keys, *serialization.keys)
    fields = spot.fields(known)
    transport.check(fields, spot)
    if transport.name not in protocol.transports:
        expected = f"a transport for '{protocol.name}': {', '.join(protocol.transports)}"
        every["transport"].wrong(expected, "Change one of the two.", code="PLUGIN_NOT_FOUND")
    if len(spot.notes.mistakes) > before:
        return None
    options = {name: field.value for name, field in fields.items() if name not in (*known[:3], "base_url")}
    return Target(
        transport=transport.name,
        protocol=protocol.name,
        serialization=serialization.name,
        base_url=str(fields["base_url"].value) if "base_url" in fields else "",
        options=options,
    )


def _plugin(spot: Spot | None, registry: Registry[Any]) -> Any:
    """The plugin that a file names."""
    name = spot.text() if spot is not None else None
    if spot is None or name is None:
        return None
    plugin: Plugin | None = registry.find(name)
    if plugin is None:
        hint = did_you_mean(nearest(name, registry.names, 1)).removeprefix(". ")
        expected = f"one of the {registry.category} plugins: {', '.join(registry.names)}"
        spot.wrong(expected, hint or "Choose one of them, or install its package.", code="PLUGIN_NOT_FOUND")
    return plugin


def _auth(spot: Spot, adapter: str) -> Auth:
    every = spot.fields(None, ("type",), missing="AUTH_CONFIG_INVALID")
    plugin = _plugin(every.get("type"), AUTHS)
    if plugin is None:
        return Auth()
    fields = spot.fields(("type", *plugin.keys))
    options = {name: text for name, field in fields.items() if name != "type" and (text := field.text()) is not None}
    auth = Auth(type=plugin.name, options=options)
    try:
        plugin.credentials(auth, adapter)
    except AdapterError as error:
        expected = "names under which secrets are found, never secrets"
        spot.wrong(expected, _sentence(error), found="other settings", code="AUTH_CONFIG_INVALID")
    return auth


def _sentence(error: AdapterError) -> str:
    words = str(error).rstrip(".")
    return f"{words[:1].upper()}{words[1:]}."


def _check_operations(read: list[Read], target: Spot | None) -> None:
    """What only the protocol, or the operation as a whole, can tell; also where the rest of the target is wrong."""
    word = target.value.get("protocol") if target is not None and isinstance(target.value, Mapping) else None
    protocol = PROTOCOLS.find(word) if isinstance(word, str) else None
    for one in read:
        before = len(one.spot.notes.mistakes)
        if protocol is not None:
            protocol.check(one.maps_to, one.entry)
        if len(one.spot.notes.mistakes) == before:
            _check_operation(one)


def _check_operation(read: Read) -> None:
    try:
        operation_of(read.entry, _never)
    except AdapterError as error:
        expected = "an operation by the rules of the specification"
        read.spot.wrong(expected, _sentence(error), found="a broken rule")


async def _never(**values: object) -> None:
    """Stands where a handler will be."""


def _policy(name: str, limits: Limits, entries: list[Entry]) -> Policy:
    """What the file demands of whoever serves it."""
    asked = tuple(entry.name for entry in entries if entry.requires_confirmation)
    rule = Rule(
        name=f"confirmation demanded by '{name}'",
        effect=Effect.CONFIRM,
        operations=Patterns(asked),
        reason="Its adapter file demands a confirmation",
    )
    return Policy(
        name=name,
        rules=(rule,) if asked else (),
        api_limits=limits.api_limits,
        quotas=limits.quotas,
        prices=limits.prices,
    )
