"""The tables, the version of their schema, and the way from each version to the next."""

from collections.abc import Callable, Iterable
from typing import Final

from headgate.store.drivers.base import Transaction, Words
from headgate.store.interface import StoreError

__all__ = ["MIGRATIONS", "prepare"]

_VISIBLE: Final = ("event", "adapter", "operation", "caller", "session", "request_id", "decision", "code")
"""The texts of an entry that the view ``audit`` shows, for whoever reads it with SQL."""


def _first(words: Words) -> Iterable[str]:
    yield f"CREATE TABLE headgate.meta (name {words.text} PRIMARY KEY, value {words.text} NOT NULL)"
    yield f"""CREATE TABLE headgate.records (
        kind {words.text} NOT NULL, key {words.text} NOT NULL, version {words.integer} NOT NULL,
        owner {words.text}, expires_at DOUBLE PRECISION, value {words.text} NOT NULL,
        PRIMARY KEY (kind, key))"""
    yield "CREATE INDEX records_of_owner ON headgate.records (kind, owner, key)"
    yield "CREATE INDEX records_that_count ON headgate.records (kind, owner, expires_at)"
    yield "CREATE INDEX records_that_expire ON headgate.records (expires_at)"
    yield f"""CREATE TABLE headgate.uses (
        key {words.text} NOT NULL, slice {words.integer} NOT NULL, amount {words.integer} NOT NULL,
        latest DOUBLE PRECISION NOT NULL, seconds DOUBLE PRECISION NOT NULL,
        PRIMARY KEY (key, slice)){words.by_key}"""
    yield f"""CREATE TABLE headgate.audit_rows (
        number {words.integer} PRIMARY KEY, previous {words.text} NOT NULL, digest {words.text} NOT NULL,
        entry {words.text} NOT NULL)"""
    yield f"""CREATE TABLE headgate.audit_ends (
        name {words.text} PRIMARY KEY, number {words.integer} NOT NULL, digest {words.text} NOT NULL)"""
    yield "INSERT INTO headgate.audit_ends (name, number, digest) VALUES ('start', 0, ''), ('head', 0, '')"
    # The JSON is the only truth: columns beside it could be changed without the digest telling.
    shown = ", ".join(f"{words.field.format(name)} AS {name}" for name in _VISIBLE)
    at = f"CAST({words.field.format('at')} AS DOUBLE PRECISION) AS at"
    yield f"CREATE VIEW headgate.audit AS SELECT number, {at}, {shown}, entry FROM headgate.audit_rows"  # noqa: S608
    yield "INSERT INTO headgate.meta (name, value) VALUES ('schema_version', '0')"


def _second(words: Words) -> Iterable[str]:
    text, integer = words.text, words.integer
    yield f"""CREATE TABLE headgate.executions (
        id {text} PRIMARY KEY, adapter {text} NOT NULL, operation {text} NOT NULL, owner {text} NOT NULL,
        session {text}, origin {text}, state {text} NOT NULL, ready {integer} NOT NULL,
        slot_key {text}, capacity {integer}, attempt {integer} NOT NULL, tries {integer} NOT NULL,
        interruptions {integer} NOT NULL,
        worker {text}, job {integer}, created_at DOUBLE PRECISION NOT NULL, started_at DOUBLE PRECISION,
        finished_at DOUBLE PRECISION, due_at DOUBLE PRECISION, asked_at DOUBLE PRECISION, asked_by {text},
        expires_at DOUBLE PRECISION, done DOUBLE PRECISION, total DOUBLE PRECISION, message {text},
        params {text} NOT NULL, about {text} NOT NULL, error {text}, outcome {text})"""
    yield "CREATE INDEX executions_of_owner ON headgate.executions (adapter, owner, id)"
    live = "state IN ('pending', 'running', 'retrying', 'cancelling', 'stuck')"
    yield f"CREATE INDEX executions_at_work ON headgate.executions (worker) WHERE {live}"
    yield f"CREATE INDEX executions_that_wait ON headgate.executions (adapter, operation, ready, id) WHERE {live}"
    yield "CREATE INDEX executions_of_session ON headgate.executions (session) WHERE session IS NOT NULL"
    yield "CREATE INDEX executions_that_expire ON headgate.executions (expires_at)"
    yield f"""CREATE TABLE headgate.execution_pieces (
        execution_id {text} NOT NULL, number {integer} NOT NULL, first_item {integer} NOT NULL,
        content {text} NOT NULL, PRIMARY KEY (execution_id, number))"""
    yield f"""CREATE TABLE headgate.workers (
        id {text} PRIMARY KEY, adapter {text} NOT NULL, place {text} NOT NULL, pid {integer} NOT NULL,
        beats {integer} NOT NULL, started_at DOUBLE PRECISION NOT NULL, takes_jobs {integer} NOT NULL)"""


MIGRATIONS: tuple[Callable[[Words], Iterable[str]], ...] = (_first, _second)
"""The statements that lead from each version to the next; a new store is of version 0."""


def prepare(transaction: Transaction, where: str) -> None:
    """Bring the tables to this version; safe when many do it at once. A StoreError if they are of a later one."""
    transaction.lock("schema")
    version = _version(transaction, where)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{where} was written by a newer headgate: its schema is of version {version}, and this headgate knows"
            f" version {len(MIGRATIONS)}. Upgrade headgate, or name another store"
        )
    if version == len(MIGRATIONS):
        return
    if version == 0:
        transaction.prepare_for_tables()
    for migration in MIGRATIONS[version:]:
        for statement in migration(transaction.words):
            transaction.change(statement)
    changed = "UPDATE headgate.meta SET value = :version WHERE name = 'schema_version'"
    transaction.change(changed, version=str(len(MIGRATIONS)))


def _version(transaction: Transaction, where: str) -> int:
    if not transaction.has_table("meta"):
        return 0
    found = transaction.rows("SELECT value FROM headgate.meta WHERE name = 'schema_version'")
    if not found or not str(found[0][0]).isdecimal():
        raise StoreError(
            f"{where} does not say of which version its schema is; restore it from a backup, or name another store"
        )
    return int(found[0][0])
