"""The types of the museum, in full."""

from typing import Any, Final

from tests.conformance.faulty.declarations import EXHIBIT_FIELDS, HALLS

__all__ = ["TYPES"]


def _typed(name: str, kind: str, required: bool, description: str) -> dict[str, Any]:
    return {"name": name, "type": kind, "required": required, "description": description}


def _object(name: str, description: str, *fields: tuple[str, str, bool, str]) -> dict[str, Any]:
    return {"name": name, "kind": "object", "description": description, "fields": [_typed(*one) for one in fields]}


def _enum(name: str, description: str, *values: str) -> dict[str, Any]:
    return {"name": name, "kind": "enum", "description": description, "values": list(values)}


def _page(name: str, of: str, metadata: str) -> dict[str, Any]:
    rows = (("items", f"{of}[]", False, "The items"), (metadata, "object", False, "Where this page stands"))
    return _object(name, "One page of a list", *rows, ("aggregations", "object", False, "Summaries by label"))


def _types() -> tuple[dict[str, Any], ...]:
    """Every type in full."""
    told = [(one.name, one.type, one.required, one.description) for one in EXHIBIT_FIELDS]
    return (
        _enum("SemanticCategory", "What an operation does", "CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"),
        _object(
            "OperationInput",
            "A request",
            ("operation", "string", True, "The operation"),
            ("params", "object", False, "Its parameters"),
        ),
        {
            "name": "OperationResult",
            "kind": "union",
            "description": "An answer",
            "members": ["OperationSuccess", "OperationFailure"],
        },
        _object(
            "OperationSuccess",
            "It worked",
            ("success", "boolean", True, "true"),
            ("data", "object", True, "What came of it"),
        ),
        _object(
            "OperationFailure",
            "It did not",
            ("success", "boolean", True, "false"),
            ("error", "object", True, "Why not"),
        ),
        _object(
            "EndpointPermissions",
            "What an operation may do",
            ("readOnly", "boolean", True, "It changes nothing"),
            ("destructive", "boolean", True, "It can destroy"),
        ),
        _enum("Hall", "The halls", *HALLS),
        _object(
            "Exhibit",
            "A thing on the books; id, accession and created_at are read-only",
            ("id", "string", True, "Its id (read-only)"),
            *told,
            ("accession", "string", True, "Its number on the books (read-only)"),
            ("created_at", "string", True, "When it was entered (read-only)"),
        ),
        _object(
            "Room",
            "A room",
            ("id", "string", True, "Its id"),
            ("name", "string", True, "Its name"),
            ("floor", "integer", True, "Its floor"),
            ("seats", "integer", True, "Its seats"),
            ("plan", "string", True, "Its plan, in base64"),
            ("plan_encoding", "string", True, "How the plan is encoded"),
            ("plan_mime_type", "string", True, "What the plan is"),
        ),
        _object(
            "Loan",
            "Something lent",
            ("id", "string", True, "Its id"),
            ("exhibit_id", "string", True, "What is lent"),
            ("borrower", "string", True, "To whom"),
            ("due_on", "string", True, "Until which day, in the museum's own time zone"),
            ("returned", "boolean", True, "Whether it is back"),
        ),
        _page("ExhibitPage", "Exhibit", "pageInfo"),
        _page("RoomPage", "Room", "pagination"),
        _page("LoanPage", "Loan", "pagination"),
        _object(
            "Introspection",
            "What this server offers",
            ("operations", "object[]", False, "Its operations"),
            ("types", "object[]", False, "Its types"),
        ),
        _object(
            "Deletion",
            "What was deleted",
            ("id", "string", True, "Its id"),
            ("deleted", "boolean", True, "Whether it is gone"),
        ),
        _object(
            "Execution",
            "A stocktaking",
            ("execution_id", "string", True, "Its id"),
            ("status", "string", True, "running, completed or cancelled"),
            ("started_at", "string", True, "When it began"),
            ("finished_at", "string", False, "When it ended"),
            ("progress", "object", False, "How far it is"),
        ),
        _object(
            "SupervisedRun",
            "The work of an agent",
            ("element_name", "string", True, "The agent"),
            ("status", "string", True, "running, completed or cancelled"),
            ("execution_id", "string", True, "The id of the run"),
        ),
        _object("SupervisedStep", "A reported step", ("directive", "object", True, "Whether the agent may go on")),
        _object(
            "Approval",
            "Something confirmed",
            ("approval_id", "string", True, "Its id"),
            ("confirmed", "boolean", True, "Whether it is"),
        ),
        _object(
            "Verification",
            "A lifted block",
            ("challenge_id", "string", True, "Its id"),
            ("verified", "boolean", True, "Whether it is"),
        ),
    )


TYPES: Final = _types()
