"""How each database says what the operators mean, so that all of them give the same answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    FLOAT,
    REAL,
    BigInteger,
    Boolean,
    Dialect,
    Double,
    Enum,
    Numeric,
    String,
    Text,
    and_,
    any_,
    case,
    cast,
    func,
    literal,
    literal_column,
    or_,
)
from sqlalchemy.types import TypeEngine

from headgate.query.kinds import Kind

__all__ = ["Words", "words_for"]


@dataclass(frozen=True, slots=True)
class Words:
    """The words of standard SQL, for fields of one kind. ``exact`` tells that texts compare by characters anyway."""

    kind: Kind
    exact: bool = False
    binary_collation = ""

    def equal(self, column: Any, operand: Any) -> Any:
        """Exactly equal."""
        return self._compared(column) == operand

    def one_of(self, column: Any, operands: Sequence[Any]) -> Any:
        """Exactly equal to one of several."""
        return self._compared(column).in_(operands) if len(operands) > 1 else self.equal(column, operands[0])

    def _compared(self, column: Any) -> Any:
        return self.collated(column) if self.kind is Kind.TEXT and not self.exact else column

    def ordered(self, column: Any) -> Any:
        """As it is compared and sorted."""
        if self.kind is not Kind.TEXT:
            return column
        if isinstance(column.type, Enum) or not isinstance(column.type, String):
            return self.collated(cast(column, Text()))
        return column if self.exact else self.collated(column)

    def collated(self, column: Any) -> Any:
        """A text compared by the numbers of its characters."""
        return column.collate(self.binary_collation) if self.binary_collation else column

    def grouped(self, column: Any) -> Any:
        """As it is grouped by."""
        return self.ordered(column)

    def extreme(self, column: Any) -> Any:
        """As its least and greatest value are sought."""
        return self.ordered(column)

    def contains(self, column: Any, operand: Any) -> Any:
        """Whether a text stands in another, or a value in an array."""
        return operand == any_(column) if self.kind is Kind.ARRAY else self._position(column, operand) > 0

    def _position(self, column: Any, operand: Any) -> Any:
        return func.position(operand.op("IN")(column))

    def starts_with(self, column: Any, operand: Any) -> Any:
        """Whether a text starts with another."""
        return self.collated(func.substr(column, 1, func.char_length(operand))) == operand

    def ends_with(self, column: Any, operand: Any) -> Any:
        """Whether a text ends with another; the empty text ends all."""
        start = func.char_length(column) - func.char_length(operand) + 1
        fits = func.char_length(column) >= func.char_length(operand)
        return and_(fits, self.collated(func.substr(column, start)) == operand)

    def folded(self, column: Any) -> Any:
        """In lower case."""
        return func.lower(column)

    def inside(self, column: Any, keys: Sequence[str], kind: Kind | None) -> Any:
        """What stands inside JSON, if it is of the kind; with no kind, something that is null if nothing is there."""
        raise NotImplementedError

    def mean(self, column: Any) -> Any:
        """The average as a floating point number. That of the database may round it, or overflow on the way."""
        return cast(func.sum(column), Double()) / func.nullif(func.count(column), 0)

    def bound_type(self, column_type: TypeEngine[Any]) -> TypeEngine[Any]:
        """The type of an operand: that of the column, unless it would round or overflow."""
        match self.kind:
            case Kind.INTEGER:
                return BigInteger()
            case Kind.DECIMAL:
                return Numeric()
            case Kind.TEXT if isinstance(column_type, String) and not isinstance(column_type, Enum):
                return Text()
            case Kind.ARRAY if isinstance(column_type, ARRAY):
                return column_type.item_type
            case _:
                return column_type

    def operand(self, bound: Any) -> Any:
        """An operand as it is compared."""
        return bound

    def fetched(self, column: Any) -> Any:
        """A column as it is selected, with all of its digits."""
        return column

    @property
    def compares_rows(self) -> bool:
        """Whether ``(a, b) > (x, y)`` is understood and finds its way through an index."""
        return False

    @property
    def runs_in_turn(self) -> bool:
        """Whether several small statements cost less than one that puts their results together."""
        return False

    @property
    def places_nulls(self) -> bool:
        """Whether nulls must be told to stand before everything else."""
        return True


class SqliteWords(Words):
    """SQLite: its own lower() knows only ASCII, and declared types are no more than a hint."""

    binary_collation = "BINARY"

    def _position(self, column: Any, operand: Any) -> Any:
        return func.instr(column, operand)

    def starts_with(self, column: Any, operand: Any) -> Any:
        """Whether a text starts with another."""
        return self.collated(func.substr(column, 1, func.length(operand))) == operand

    def ends_with(self, column: Any, operand: Any) -> Any:
        """Whether a text ends with another."""
        start = func.length(column) - func.length(operand) + 1
        return and_(start > 0, self.collated(func.substr(column, start)) == operand)

    def folded(self, column: Any) -> Any:
        """In lower case, by the function that each connection has."""
        return func.headgate_fold(column)

    def inside(self, column: Any, keys: Sequence[str], kind: Kind | None) -> Any:
        """What stands inside JSON; a text that is no JSON holds nothing."""
        path = "$" + "".join(f'."{key}"' for key in keys)
        checked = case((func.json_valid(column), column))
        value, found = func.json_extract(checked, literal(path)), func.json_type(checked, literal(path))
        match kind:
            case Kind.TEXT:
                return case((found == "text", value))
            case Kind.NUMBER:
                return case((or_(found == "integer", found == "real"), value))
            case Kind.BOOLEAN:
                return case((found == "true", 1), (found == "false", 0))
            case _:
                return value

    def mean(self, column: Any) -> Any:
        """The average, which is floating anyway."""
        return func.avg(column)

    @property
    def runs_in_turn(self) -> bool:
        """They do: there is no way to the database, and putting together costs more than the page."""
        return True

    @property
    def places_nulls(self) -> bool:
        """They stand first by themselves."""
        return False


class PostgresWords(Words):
    """PostgreSQL."""

    binary_collation = "C"

    def _compared(self, column: Any) -> Any:
        """Equality is exact under every collation, and a foreign one would keep indexes from being used."""
        return column

    def operand(self, bound: Any) -> Any:
        """An operand as it is compared; beside a short floating point number it must be as short."""
        return cast(bound, REAL()) if isinstance(bound.type, REAL) else bound

    def grouped(self, column: Any) -> Any:
        """As it is grouped by: no collation is needed."""
        return column

    def extreme(self, column: Any) -> Any:
        """As its least and greatest value are sought; a uuid has none of its own."""
        return self.ordered(cast(column, Text()) if self.kind is Kind.UUID else column)

    def _position(self, column: Any, operand: Any) -> Any:
        return func.strpos(_as_text(column), operand)

    def starts_with(self, column: Any, operand: Any) -> Any:
        """Whether a text starts with another."""
        return func.starts_with(_as_text(column), operand)

    def ends_with(self, column: Any, operand: Any) -> Any:
        """Whether a text ends with another."""
        text = _as_text(column)
        return and_(
            func.char_length(text) >= func.char_length(operand),
            func.substr(text, func.char_length(text) - func.char_length(operand) + 1) == operand,
        )

    def folded(self, column: Any) -> Any:
        """In lower case."""
        return func.lower(_as_text(column))

    def inside(self, column: Any, keys: Sequence[str], kind: Kind | None) -> Any:
        """What stands inside JSON."""
        path = literal(list(keys), ARRAY(Text()))
        text = column.op("#>>")(path)
        found = _json_typeof(column)(column.op("#>")(path))
        match kind:
            case Kind.TEXT:
                return case((found == "string", cast(text, Text())))
            case Kind.NUMBER:
                return case((found == "number", cast(cast(text, Text()), Double())))
            case Kind.BOOLEAN:
                return case((found == "boolean", cast(cast(text, Text()), Boolean())))
            case _:
                return text

    @property
    def compares_rows(self) -> bool:
        """It does."""
        return True


def _as_text(column: Any) -> Any:
    return column if isinstance(column.type, String) and not isinstance(column.type, Enum) else cast(column, Text())


def _json_typeof(column: Any) -> Any:
    return func.jsonb_typeof if type(column.type).__name__ == "JSONB" else func.json_typeof


class MariaWords(Words):
    """MariaDB and MySQL: texts compare without case and trailing spaces unless told otherwise."""

    binary_collation = "utf8mb4_nopad_bin"

    def collated(self, column: Any) -> Any:
        """A text compared by the numbers of its characters, whatever set of characters its column is stored in."""
        return func.convert(column.op("USING")(literal_column("utf8mb4"))).collate(self.binary_collation)

    def equal(self, column: Any, operand: Any) -> Any:
        """Equal, and exactly so: the first comparison can use an index."""
        if self.kind is not Kind.TEXT:
            return column == operand
        return and_(column == operand, self.collated(column) == operand)

    def one_of(self, column: Any, operands: Sequence[Any]) -> Any:
        """Equal to one of several, and exactly so."""
        if self.kind is not Kind.TEXT:
            return column.in_(operands)
        return and_(column.in_(operands), self.collated(column).in_(operands))

    def fetched(self, column: Any) -> Any:
        """A column as it is selected; a short floating point number would be rounded to six digits."""
        return cast(column, Double()) if isinstance(column.type, FLOAT) else column

    def _position(self, column: Any, operand: Any) -> Any:
        return func.locate(operand, self.collated(column))

    def folded(self, column: Any) -> Any:
        """In lower case, by the letters' own rules."""
        return func.lower(column)

    def inside(self, column: Any, keys: Sequence[str], kind: Kind | None) -> Any:
        """What stands inside JSON."""
        path = "$" + "".join(f'."{key}"' for key in keys)
        value = func.json_extract(column, literal(path))
        found, text = func.json_type(value), cast(func.json_unquote(value), Text())
        match kind:
            case Kind.TEXT:
                return case((found == "STRING", text))
            case Kind.NUMBER:
                numeric = or_(*(found == name for name in ("INTEGER", "DOUBLE", "DECIMAL")))
                return case((numeric, cast(text, Double())))
            case Kind.BOOLEAN:
                return case((found == "BOOLEAN", text == "true"))
            case _:
                return func.nullif(found, "NULL")

    @property
    def places_nulls(self) -> bool:
        """They stand first by themselves."""
        return False


class MysqlWords(MariaWords):
    """MySQL, whose binary collation has another name."""

    binary_collation = "utf8mb4_0900_bin"


_WORDS: Final[dict[str, type[Words]]] = {
    "sqlite": SqliteWords,
    "postgresql": PostgresWords,
    "mariadb": MariaWords,
    "mysql": MysqlWords,
}


def words_for(dialect: Dialect) -> type[Words]:
    """The words of a database."""
    name = "mariadb" if getattr(dialect, "is_mariadb", False) else dialect.name
    return _WORDS.get(name, Words)
