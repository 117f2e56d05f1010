"""Exhibits: reading, entering, changing and striking them off, and the confirmations that the last one wants."""

import copy
import json
import secrets
from collections.abc import Mapping
from typing import Any, Final

from tests.conformance.faulty.declarations import EXHIBIT_FIELDS, Wanted
from tests.conformance.faulty.querying import listed, shown
from tests.conformance.faulty.requests import checked_value, is_of
from tests.conformance.faulty.world import Museum, Record, Refusal, Token

__all__ = ["Keeping"]

_FIELDS: Final = {one.name: one for one in EXHIBIT_FIELDS}
_READ_ONLY: Final = ("accession", "created_at", "_etag")
_PLAIN: Final = (
    "id",
    "title",
    "year",
    "hall",
    "maker",
    "value",
    "on_display",
    "acquired_on",
    "accession",
    "created_at",
)
_OF_ROOMS: Final = ("id", "name", "floor", "seats", "plan", "plan_encoding", "plan_mime_type")
_OF_LOANS: Final = ("id", "exhibit_id", "borrower", "due_on", "returned")
_INNER: Final = {"height_cm": (int, float), "width_cm": (int, float), "note": (str,)}


class Keeping:
    """The operations on what the museum holds, for one connection."""

    def __init__(self, museum: Museum, session: str) -> None:
        """Keep the books of a museum for somebody."""
        self._museum = museum
        self._session = session

    # reading

    def list_exhibits(self, params: Mapping[str, Any]) -> Record:
        """A page of exhibits."""
        return listed(self._museum, self._rows(), params, "cursor", _PLAIN)

    def search_exhibits(self, params: Mapping[str, Any]) -> Record:
        """A page of exhibits with some word."""
        return listed(self._museum, self._rows(), {"fields": "minimal", **params}, "cursor", _PLAIN)

    def list_rooms(self, params: Mapping[str, Any]) -> Record:
        """A page of rooms."""
        return listed(self._museum, list(self._museum.rooms.values()), params, "page", _OF_ROOMS)

    def list_loans(self, params: Mapping[str, Any]) -> Record:
        """A page of loans."""
        rows = list(self._museum.loans.values())
        if self._museum.has("dates-in-words"):
            rows = [{**row, "due_on": "1 March 2026"} for row in rows]
        return listed(self._museum, rows, params, "offset", _OF_LOANS)

    def query_loans(self, params: Mapping[str, Any]) -> Record:
        """A page of loans that meet conditions."""
        wanted = {**params["query"], **params.get("filter", {})}
        return self.list_loans({**params, "filter": wanted})

    def get_exhibit(self, params: Mapping[str, Any]) -> Record:
        """One exhibit."""
        record = self._record(params["exhibit_id"])
        fields = params.get("fields", params.get("preset", "full"))
        return shown(self._museum, self._as_read(record), fields, _PLAIN)

    def _rows(self) -> list[Record]:
        return [self._as_read(record) for record in self._museum.exhibits.values()]

    def _as_read(self, record: Record) -> Record:
        museum = self._museum
        if museum.has("times-local"):
            record = {**record, "created_at": "2026-02-04T11:30:00+01:00"}
        if museum.has("etag-left-out"):
            record = {name: value for name, value in record.items() if name != "_etag"}
        if museum.has("reading-counts"):
            museum.views += 1
            record = {**record, "views": museum.views}
        if museum.has("numbers-unsafe"):
            record = {**record, "serial": 2**60 + 1}
        return record

    def _record(self, name: str) -> Record:
        found = self._museum.exhibits.get(name)
        if found is None:
            code = (
                "VALIDATION_INVALID_VALUE" if self._museum.has("missing-resource-code-other") else "NOT_FOUND_RESOURCE"
            )
            raise Refusal(
                code,
                f"Exhibit '{name}' not found. Ask 'list_exhibits' for those there are.",
                resource_type="exhibit",
                resource_id=name,
            )
        return found

    # writing

    def create_exhibit(self, params: Mapping[str, Any]) -> Record:
        """A new exhibit."""
        fields = {"on_display": True, **{name: value for name, value in params.items() if name in _FIELDS}}
        self._refuse_inner(fields.get("dimensions", {}))
        if self._museum.has("create-drops-a-field") or self._museum.has("new-exhibit-without-maker"):
            fields.pop("maker", None)
        if self._museum.has("create-ignores-the-hall"):
            fields["hall"] = "north"
        if params.get("dry_run"):
            return {"would_create": fields}
        return copy.deepcopy(self._museum.add(copy.deepcopy(fields)))

    def create_new_exhibit(self, params: Mapping[str, Any]) -> Record:
        """The same under another name."""
        return self.create_exhibit(params)

    def update_exhibit(self, params: Mapping[str, Any]) -> Record:
        """An exhibit with other values."""
        museum, record = self._museum, self._record(params["exhibit_id"])
        given = {} if isinstance(params["input"], str) else params["input"]
        if "if_match" in params and params["if_match"] != record["_etag"] and not museum.has("stale-match-taken"):
            raise Refusal(
                "CONFLICT_VERSION_MISMATCH",
                "The exhibit has changed since. Read it again.",
                current_etag=record["_etag"],
            )
        given = self._fit(given)
        merged = self._merged(record, given)
        if params.get("dry_run") and not museum.has("dry-run-runs"):
            return {"would_become": merged}
        if not museum.has("update-not-kept"):
            number, _, version = record["_etag"].partition("-")
            merged["_etag"] = f"{number}-{int(version) + 1}"
            museum.exhibits[record["id"]] = merged
        if museum.has("update-touches-others") and "title" in given:
            for other in museum.exhibits.values():
                other["title"] = given["title"]
        return copy.deepcopy(merged)

    def _fit(self, given: Record) -> Record:
        museum = self._museum
        unknown = [name for name in given if name not in _FIELDS and name not in _READ_ONLY]
        if museum.has("identifier-in-input-taken"):
            unknown = [name for name in unknown if name not in ("id", "exhibit_id")]
        if museum.has("unknown-field-in-input-ignored"):
            unknown = [name for name in unknown if name in ("id", "exhibit_id")]
        if unknown:
            words = f"Unknown field(s) in 'input': {', '.join(map(repr, unknown))}"
            raise Refusal(
                "VALIDATION_UNKNOWN_FIELD",
                words,
                operation="update_exhibit",
                unknown_fields=unknown,
                valid_fields=list(_FIELDS),
            )
        for name in given:
            if name in _READ_ONLY and not museum.has("read-only-taken"):
                words = f"Field '{name}' is read-only and cannot be updated"
                raise Refusal("VALIDATION_READ_ONLY_FIELD", words, operation="update_exhibit", field=name)
        if not museum.has("input-not-validated"):
            for name, value in given.items():
                if name in _FIELDS:
                    self._refuse_field(_FIELDS[name], value)
        return {name: value for name, value in given.items() if name in (*_FIELDS, *_READ_ONLY)}

    def _refuse_field(self, one: Wanted, value: object) -> None:
        if value is None:
            if one.required:
                raise Refusal("VALIDATION_INVALID_VALUE", f"Field '{one.name}' cannot be removed", param_name=one.name)
            return
        if not is_of(value, one.type):
            raise Refusal(
                "VALIDATION_INVALID_TYPE",
                f"Field '{one.name}' expected '{one.type}'",
                param_name=one.name,
                expected_type=one.type,
            )
        words, code = checked_value(self._museum, one, value)
        if words:
            raise Refusal(code, words, param_name=one.name)
        if one.name == "dimensions":
            self._refuse_inner(value)

    def _refuse_inner(self, dimensions: Any) -> None:
        for name, value in dimensions.items():
            if name not in _INNER:
                raise Refusal(
                    "VALIDATION_UNKNOWN_FIELD",
                    f"Field 'dimensions' knows no '{name}'",
                    unknown_fields=[name],
                    valid_fields=list(_INNER),
                )
            if value is not None and (not isinstance(value, _INNER[name]) or isinstance(value, bool)):
                raise Refusal(
                    "VALIDATION_INVALID_TYPE", f"Field 'dimensions.{name}' has the wrong type", param_name="dimensions"
                )

    def _merged(self, record: Record, given: Record) -> Record:
        museum = self._museum
        if museum.has("update-drops-the-rest"):
            kept = ("id", "title", "year", "hall", "accession", "created_at", "_etag")
            record = {name: value for name, value in record.items() if name in kept or isinstance(value, dict)}
        merged = copy.deepcopy(record)
        if museum.has("update-resets-the-display"):
            merged["on_display"] = True
        for name, value in given.items():
            old = merged.get(name)
            if value is None and museum.has("null-ignored"):
                continue
            if value is None:
                merged.pop(name, None)
            elif isinstance(value, dict) and isinstance(old, dict) and not museum.has("objects-replaced"):
                merged[name] = {key: part for key, part in {**old, **value}.items() if part is not None}
            elif isinstance(value, list) and isinstance(old, list) and museum.has("arrays-joined"):
                merged[name] = [*old, *value]
            else:
                merged[name] = copy.deepcopy(value)
        return merged

    def delete_exhibit(self, params: Mapping[str, Any]) -> Record:
        """One exhibit less, once a person has agreed."""
        if "confirmation_token" not in params or params.get("dry_run"):
            record = self._record(params["exhibit_id"])
            if params.get("dry_run"):
                return {"id": record["id"], "deleted": False}
            if self._museum.has("deleted-before-asking"):
                self._museum.exhibits.pop(record["id"])
        self.confirm("delete_exhibit", params, "It strikes the exhibit off the books for good.")
        record = self._record(params["exhibit_id"])
        if not self._museum.has("delete-keeps"):
            self._museum.exhibits.pop(record["id"])
        return {"id": record["id"], "deleted": True}

    # confirmation

    def confirm(self, operation: str, params: Mapping[str, Any], reason: str) -> None:
        """Let pass what a person has agreed to, once; ask for the rest."""
        critical = json.dumps(
            {name: value for name, value in params.items() if name != "confirmation_token"}, sort_keys=True
        )
        if "confirmation_token" in params:
            self._redeem(params["confirmation_token"], operation, critical)
            return
        name = f"conf_{secrets.token_urlsafe(24)}"
        self._museum.tokens[name] = Token(operation, critical, self._session)
        details = {
            "operation": operation,
            "danger_level": "destructive",
            "reasons": [reason],
            "confirmation_token": name,
            "expires_at": "2099-01-01T00:00:00Z",
        }
        if self._museum.has("token-left-out"):
            details = {"operation": operation}
        raise Refusal("CONFIRMATION_REQUIRED", f"Operation '{operation}' requires confirmation", **details)

    def _redeem(self, name: str, operation: str, critical: str) -> None:
        museum = self._museum
        token = museum.tokens.get(name)
        alien = token is not None and token.session != self._session and not museum.has("token-survives-session")
        if token is None or alien or museum.has("token-never-works"):
            raise Refusal(
                "TOKEN_INVALID", "The confirmation token is none of this session. Ask again without it.", token=name
            )
        if token.used and not museum.has("token-reusable"):
            raise Refusal(
                "TOKEN_ALREADY_USED", "The confirmation token was used before. Ask again without it.", token=name
            )
        if (token.operation, token.params) != (operation, critical) and not museum.has("token-unbound"):
            raise Refusal(
                "TOKEN_SCOPE_MISMATCH",
                "The confirmation token belongs to another request. Ask again without it.",
                token=name,
            )
        token.used = True
