"""Words in a drawing: how wide they are whatever the font, in lines, cut to fit; numbers as people write them."""

from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["are_whole", "clean", "number", "shortened", "width_of", "wrapped"]

_WIDTHS: Final = {
    sign: width
    for width, signs in {
        0.3: "'Iijl",
        0.4: " !(),-./:;[\\]ft|\u00b7",
        0.5: '"_`r',
        0.6: "*?FJLcksvxyz",
        0.7: "$0123456789ABCEKPRSTVXYZabdeghnopqu{}",
        0.8: "&DGHNOQU",
        0.9: "#+<=>M^w~",
    }.items()
    for sign in signs
}
"""In parts of the size: the wider of DejaVu Sans and Aileron, since nobody knows which font a reader has."""
_WIDEST: Final = 1.2
_BOLD: Final = 1.12
_ELLIPSIS: Final = "\u2026"


def clean(text: str) -> str:
    """The text as one line of signs that can be seen, and that any format can hold."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def width_of(text: str, size: float, *, is_bold: bool = False) -> float:
    """How much room a text needs at most."""
    return (
        sum(_WIDTHS.get(sign, 1.0 if sign.isascii() else _WIDEST) for sign in text) * size * (_BOLD if is_bold else 1)
    )


def shortened(text: str, room: float, size: float, *, is_bold: bool = False) -> str:
    """The text, cut where it is wider than the room."""
    if width_of(text, size, is_bold=is_bold) <= room:
        return text
    while text and width_of(text + _ELLIPSIS, size, is_bold=is_bold) > room:
        text = text[:-1]
    return text.rstrip() + _ELLIPSIS


def wrapped(text: str, room: float, size: float, *, is_bold: bool = False) -> Iterator[str]:
    """The text in lines that fit."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}".lstrip()
        if line and width_of(longer, size, is_bold=is_bold) > room:
            yield shortened(line, room, size, is_bold=is_bold)
            longer = word
        line = longer
    if line:
        yield shortened(line, room, size, is_bold=is_bold)


def number(value: float, *, is_whole: bool = True) -> str:
    """A number with three digits that matter, or all of those before the point; ``1.00`` among such as ``1.04``."""
    if value >= 100 or value == 0 or (is_whole and value == int(value)):
        return f"{value:,.0f}"
    if value < 0.001:
        return f"{value:.2g}"
    return f"{value:.{1 if value >= 10 else 2 if value >= 1 else 3}f}"


def are_whole(values: Iterable[float]) -> bool:
    """Whether none of them has anything behind its point."""
    return all(value == int(value) for value in values)
