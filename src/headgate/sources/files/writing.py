"""Values as the text of an adapter file: YAML from which exactly the same values are read again, and prose below."""

from collections.abc import Mapping
from typing import Any, Final

import yaml

from headgate.sources.yaml_scalars import scalar

__all__ = ["written"]

_FENCE: Final = "---"
_WIDTH: Final = 110
_TEXT: Final = "tag:yaml.org,2002:str"
_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


_Dumper: Any = type("_Dumper", (_Base,), {"ignore_aliases": lambda *_: True})
"""Writes every value out where it stands; nothing is an alias of something else."""


def _text(dumper: Any, text: str) -> Any:
    """A text: in lines if it has several, and in quotes if it could be taken for something else."""
    plain = text.encode("utf-8", "replace").decode()
    if "\n" in plain:
        return dumper.represent_scalar(_TEXT, plain, style="|")
    is_told = isinstance(scalar(plain, plain=True), str)
    return dumper.represent_scalar(_TEXT, plain, style=None if is_told else '"')


_Dumper.add_representer(str, _text)
_Dumper.add_multi_representer(str, _text)
_Dumper.add_multi_representer(dict, lambda dumper, data: dumper.represent_dict(data.items()))


def written(head: Mapping[str, object], body: str) -> str:
    """The text of a file."""
    text = yaml.dump(head, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=None)
    return f"{_FENCE}\n{text}{_FENCE}\n\n{body.strip()}\n"
