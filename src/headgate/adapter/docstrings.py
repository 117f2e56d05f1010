"""What an author's docstring says of the operation and its parameters."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Documentation", "read_docstring"]

_HAS_SECTIONS: Final = re.compile(
    r"^\s*(Args|Arguments|Parameters|Params|Returns|Raises)\s*:?\s*$|:param |@param ", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Documentation:
    """One line, all the prose, and a description for each parameter that has one."""

    summary: str = ""
    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""


def read_docstring(text: str | None) -> Documentation:
    """The parts of a docstring in Google's, NumPy's or reST style, or of one without any style."""
    if not text or not text.strip():
        return Documentation()
    if _HAS_SECTIONS.search(text):
        return _with_sections(text)
    return _prose(inspect.cleandoc(text))


def _prose(text: str) -> Documentation:
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.strip())]
    return Documentation(paragraphs[0], "\n".join(paragraphs))


def _with_sections(text: str) -> Documentation:
    from docstring_parser import parse  # noqa: PLC0415  (only the few docstrings with sections pay for it)

    parsed = parse(inspect.cleandoc(text))
    prose = _prose(parsed.description or "")
    parameters = {parameter.arg_name: " ".join((parameter.description or "").split()) for parameter in parsed.params}
    returns = " ".join((parsed.returns.description or "").split()) if parsed.returns else ""
    return Documentation(prose.summary, prose.description, parameters, returns)
