"""What the CHECK constraints of a table say of single columns: choices and bounds.

The parser is tolerant: a condition that it does not understand is left to the database.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Final, TypeAlias

__all__ = ["Bound", "Rule", "rules_of"]

Literal: TypeAlias = str | Decimal


@dataclass(frozen=True, slots=True)
class Bound:
    """The least or the greatest value, or one next to it that is no longer allowed."""

    value: Decimal
    excluded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is known of the values of one column, named in lower case."""

    column: str
    choices: tuple[Literal, ...] = ()
    minimum: Bound | None = None
    maximum: Bound | None = None
    longest: int | None = None
    is_json: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str

    @property
    def word(self) -> str:
        """A keyword in lower case; empty for what is quoted."""
        return self.text.lower() if self.kind in ("word", "sign") else ""


_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<string>(?:_\w+)?[NE]?'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")+"|`(?:[^`]|``)+`|\[(?!\])[A-Za-z_][^\]]*\])
      | (?P<number>\d+(?:\.\d*)?|\.\d+)
      | (?P<word>[^\W\d][\w$]*)
      | (?P<sign>::|<=|>=|<>|!=|==|\|\||.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_CAST_WORDS: Final = frozenset({"varying", "precision", "with", "without", "time", "zone"})
_FLIPPED: Final[Mapping[str, str]] = MappingProxyType({"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "==": "="})
_LENGTHS: Final = frozenset({"length", "char_length", "character_length"})
_NAMES: Final = ("word", "quoted")
_NOT_UNDERSTOOD: Final = (ArithmeticError, LookupError, ValueError)


def rules_of(check: str) -> list[Rule]:
    """What a condition says that must hold of every row."""
    try:
        return list(_rules(_without_casts(_tokens(check))))
    except _NOT_UNDERSTOOD:
        return []


def _tokens(text: str) -> list[_Token]:
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind is not None and match[kind].strip():
            found.append(_Token(kind, match[kind]))
    return found


def _without_casts(tokens: Sequence[_Token]) -> list[_Token]:
    """Without ``::type``, and without the parentheses that held what was cast."""
    kept: list[_Token] = []
    place = 0
    while place < len(tokens):
        if tokens[place].text == "::":
            place = _after_type(tokens, place + 1)
        else:
            kept.append(tokens[place])
            place += 1
    return _unwrapped(kept)


def _after_type(tokens: Sequence[_Token], place: int) -> int:
    place += 1
    while place < len(tokens) and (tokens[place].word in _CAST_WORDS or tokens[place].text == "."):
        place += 2 if tokens[place].text == "." else 1
    if _text(tokens, place) == "(":
        place = _closing(tokens, place) + 1
    while _text(tokens, place) == "[" and _text(tokens, place + 1) == "]":
        place += 2
    return place


def _text(tokens: Sequence[_Token], place: int) -> str:
    return tokens[place].text if place < len(tokens) else ""


def _unwrapped(tokens: list[_Token]) -> list[_Token]:
    """``(x)`` as ``x``, where it is not the operand of a function or of IN."""
    kept: list[_Token] = []
    for token in tokens:
        kept.append(token)
        if token.text == ")" and len(kept) > 2 and kept[-3].text == "(" and not _is_called(kept[:-3]):
            kept[-3:] = [kept[-2]]
    return kept


def _is_called(before: Sequence[_Token]) -> bool:
    return bool(before) and before[-1].kind in _NAMES and before[-1].word not in ("and", "or", "between")


def _closing(tokens: Sequence[_Token], start: int) -> int:
    depth = 0
    for place in range(start, len(tokens)):
        depth += (tokens[place].text in "([") - (tokens[place].text in ")]")
        if depth == 0:
            return place
    raise ValueError


def _rules(tokens: Sequence[_Token]) -> Iterator[Rule]:
    tokens = _bare(tokens)
    either, both = _split(tokens, "or"), _split(tokens, "and")
    if len(either) > 1:
        yield from _one_of(either)
    elif len(both) > 1:
        for part in both:
            yield from _rules(part)
    else:
        yield from _single(tokens)


def _bare(tokens: Sequence[_Token]) -> Sequence[_Token]:
    while tokens and tokens[0].text == "(" and _closing(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def _split(tokens: Sequence[_Token], word: str) -> list[Sequence[_Token]]:
    """The parts between the word, outside of parentheses; the AND of a BETWEEN is none."""
    parts, start, depth, between = [], 0, 0, False
    for place, token in enumerate(tokens):
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        between = between or (depth == 0 and token.word == "between")
        if depth == 0 and token.word == word:
            if word == "and" and between:
                between = False
                continue
            parts.append(tokens[start:place])
            start = place + 1
    return [*parts, tokens[start:]]


def _one_of(parts: Sequence[Sequence[_Token]]) -> Iterator[Rule]:
    """One condition or null, or several values of one column."""
    telling = [part for part in map(_bare, parts) if not _is_null(part)]
    if len(telling) == 1:
        rules = list(_rules(telling[0]))
        nulls = {_name(part[0]) for part in map(_bare, parts) if _is_null(part)}
        yield from (rule for rule in rules if {rule.column} == nulls)
        return
    rules = [rule for part in telling for rule in _rules(part)]
    columns = {rule.column for rule in rules}
    if len(columns) == 1 and len(rules) == len(telling) and all(rule.choices for rule in rules):
        yield Rule(column=columns.pop(), choices=tuple(choice for rule in rules for choice in rule.choices))


def _is_null(tokens: Sequence[_Token]) -> bool:
    return len(tokens) == 3 and tokens[0].kind in _NAMES and [one.word for one in tokens[1:]] == ["is", "null"]


def _single(tokens: Sequence[_Token]) -> Iterator[Rule]:
    for pattern in _PATTERNS:
        with suppress(*_NOT_UNDERSTOOD):
            rule = pattern(tokens)
            if rule is not None:
                yield rule
                return


def _name(token: _Token) -> str:
    quote = "" if token.kind == "word" else token.text[-1]
    return (token.text[1:-1].replace(quote * 2, quote) if quote else token.text).lower()


def _literals(tokens: Sequence[_Token]) -> tuple[Literal, ...]:
    """The values of a list; a ValueError if there is anything else in it."""
    return tuple(_literal(part) for part in _split(tokens, ","))


def _literal(tokens: Sequence[_Token]) -> Literal:
    tokens = _bare(tokens)
    if len(tokens) == 1 and tokens[0].kind == "string":
        text = tokens[0].text
        return text[text.index("'") + 1 : -1].replace("''", "'")
    return _number(tokens)


def _number(tokens: Sequence[_Token]) -> Decimal:
    tokens = _bare(tokens)
    sign = tokens[0].text if tokens[0].text in ("-", "+") else ""
    number = _bare(tokens[1:] if sign else tokens)
    if len(number) != 1 or number[0].kind not in ("number", "string"):
        raise ValueError
    return Decimal(sign + number[0].text.strip("'"))


def _in_list(tokens: Sequence[_Token]) -> Rule | None:
    if len(tokens) > 3 and tokens[0].kind in _NAMES and tokens[1].word == "in" and _is_whole(tokens, 2):
        return Rule(column=_name(tokens[0]), choices=_literals(tokens[3:-1]))
    return None


def _is_whole(tokens: Sequence[_Token], start: int) -> bool:
    return tokens[start].text in ("(", "[") and _closing(tokens, start) == len(tokens) - 1


def _any_of_array(tokens: Sequence[_Token]) -> Rule | None:
    if [token.word for token in tokens[1:3]] != ["=", "any"] or not _is_whole(tokens, 3):
        return None
    array = _bare(tokens[4:-1])
    if array[0].word != "array" or not _is_whole(array, 1):
        return None
    return Rule(column=_name(tokens[0]), choices=_literals(array[2:-1]))


def _between(tokens: Sequence[_Token]) -> Rule | None:
    if len(tokens) < 5 or tokens[1].word != "between" or tokens[0].kind not in _NAMES:
        return None
    middle = next(place for place, token in enumerate(tokens) if token.word == "and")
    low, high = _number(tokens[2:middle]), _number(tokens[middle + 1 :])
    return Rule(column=_name(tokens[0]), minimum=Bound(low), maximum=Bound(high))


def _comparison(tokens: Sequence[_Token]) -> Rule | None:
    place = next((place for place, token in enumerate(tokens) if token.text in _FLIPPED), None)
    if place is None:
        return None
    left, sign, right = _bare(tokens[:place]), tokens[place].text, _bare(tokens[place + 1 :])
    if len(right) == 1 and right[0].kind in _NAMES:
        left, sign, right = right, _FLIPPED[sign], left
    if len(left) == 1 and left[0].kind in _NAMES:
        return _compared(_name(left[0]), sign, right)
    return _length(left, sign, right)


def _compared(column: str, sign: str, operand: Sequence[_Token]) -> Rule:
    if sign in ("=", "=="):
        return Rule(column=column, choices=(_literal(operand),))
    bound = Bound(_number(operand), sign in ("<", ">"))
    return Rule(column=column, minimum=bound) if sign in (">", ">=") else Rule(column=column, maximum=bound)


def _length(called: Sequence[_Token], sign: str, operand: Sequence[_Token]) -> Rule | None:
    """``length(x) <= n``."""
    column = _argument(called, _LENGTHS)
    if column is None or sign not in ("=", "==", "<", "<="):
        return None
    return Rule(column=column, longest=int(_number(operand)) - (sign == "<"))


def _json_valid(tokens: Sequence[_Token]) -> Rule | None:
    column = _argument(tokens, frozenset({"json_valid"}))
    return None if column is None else Rule(column=column, is_json=True)


def _argument(tokens: Sequence[_Token], functions: frozenset[str]) -> str | None:
    """The column that one of some functions is called with, if that is all there is."""
    if len(tokens) == 4 and tokens[0].word in functions and _is_whole(tokens, 1) and tokens[2].kind in _NAMES:
        return _name(tokens[2])
    return None


_PATTERNS: Final[tuple[Callable[[Sequence[_Token]], Rule | None], ...]] = (
    _in_list,
    _any_of_array,
    _between,
    _json_valid,
    _comparison,
)
