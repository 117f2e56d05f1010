"""What the types mean that only PostgreSQL has."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql.ranges import AbstractRange

from headgate.query.kinds import Kind
from headgate.sources.sql.column_kinds import Meaning, Rule, ShownAsText, meaning_of, strange

__all__ = ["RULES"]


def _domain(type_: postgresql.DOMAIN) -> Meaning:
    return replace(meaning_of(type_.data_type), check="" if type_.check is None else str(type_.check))


def _shown(hint: str = "") -> Rule:
    return lambda type_: Meaning(kind=Kind.TEXT, type=ShownAsText(type_), comparable=False, hint=hint)


RULES: Final[Mapping[type, Rule]] = MappingProxyType(
    {
        postgresql.DOMAIN: _domain,
        postgresql.OID: strange,
        postgresql.INTERVAL: _shown("A span of time, such as '1 day 02:30:00'."),
        postgresql.INET: _shown("An internet address, such as '10.0.0.1'."),
        postgresql.CIDR: _shown("A network, such as '10.0.0.0/8'."),
        postgresql.MACADDR: _shown(),
        postgresql.MACADDR8: _shown(),
        postgresql.MONEY: _shown("An amount of money, such as '$12.50'."),
        postgresql.BIT: _shown("A string of bits, such as '0101'."),
        postgresql.HSTORE: _shown("Keys and values, such as 'a=>1, b=>2'."),
        AbstractRange: _shown("A range, such as '[1,10)'."),
    }
)
