"""MySQL and MariaDB through PyMySQL."""

from contextlib import closing, suppress
from typing import Any, Final

from headgate.sources.sql.connections import Connection, DatabaseOptions, Driver, Parameters, Result
from headgate.sources.sql.failures import (
    ConnectionLost,
    DatabaseFailure,
    Interrupted,
    StatementTimeout,
    mysql_failure,
)

__all__ = ["MysqlConnection", "MysqlDriver", "session_settings"]

SQL_MODE: Final = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"


class MysqlDriver(Driver):
    """A server of MySQL or MariaDB; which of the two, it tells itself."""

    def raw(self) -> Any:
        """A connection whose session is strict, speaks UTF-8 and UTC, and keeps to the options."""
        arguments, named = self.dialect.create_connect_args(self.url)
        connection: Any = self.dialect.connect(*arguments, **{"charset": "utf8mb4", **named})
        with connection.cursor() as cursor:
            for statement in session_settings(self.options, is_mariadb="MariaDB" in connection.get_server_info()):
                cursor.execute(statement)
        return connection

    def connect(self) -> Connection:
        """A new connection, each statement of which stands alone until a transaction is begun."""
        try:
            raw: Any = self.raw()
            raw.autocommit(True)
        except self.dialect.loaded_dbapi.Error as error:
            raise ConnectionLost(str(error)) from None
        return MysqlConnection(raw, self)


def session_settings(options: DatabaseOptions, *, is_mariadb: bool) -> list[str]:
    """The statements that set a session up."""
    settings = ["time_zone = '+00:00'", f"sql_mode = '{SQL_MODE}'"]
    if options.statement_timeout is not None and is_mariadb:
        settings.append(f"max_statement_time = {options.statement_timeout:.6f}")
    elif options.statement_timeout is not None:
        settings.append(f"max_execution_time = {max(1, round(options.statement_timeout * 1000))}")
        settings.append(f"innodb_lock_wait_timeout = {max(1, round(options.statement_timeout))}")
    statements = [f"SET SESSION {', '.join(settings)}"]
    if options.read_only:
        statements.append("SET SESSION TRANSACTION READ ONLY")
    return statements


class MysqlConnection(Connection):
    """A connection that is stopped from another one: the protocol has no other way."""

    def __init__(self, raw: Any, driver: MysqlDriver) -> None:
        super().__init__((driver.dialect.loaded_dbapi.Error,))
        self._raw = raw
        self._driver = driver

    def run(self, sql: str, parameters: Parameters) -> Result:
        """Hand a statement to the driver."""
        with self._raw.cursor() as cursor:
            cursor.execute(sql, parameters)
            columns = tuple(column[0] for column in cursor.description or ())
            return Result(list(cursor.fetchall()) if columns else [], cursor.rowcount, columns, cursor.lastrowid)

    def failure(self, error: Exception) -> DatabaseFailure:
        """The failure that an exception of PyMySQL means."""
        number = error.args[0] if error.args and isinstance(error.args[0], int) else -1
        failure = mysql_failure(number, str(error.args[-1] if error.args else ""))
        return Interrupted() if self.interrupted and isinstance(failure, StatementTimeout) else failure

    def start(self) -> None:
        """Open a transaction, of the kind that the session's setting says."""
        self._raw.begin()

    def finish(self) -> None:
        """Commit."""
        self._raw.commit()

    def undo(self) -> None:
        """Roll back."""
        self._raw.rollback()

    def stop(self) -> None:
        """Ask the server, over a connection of its own, to stop the statement."""
        with closing(self._driver.raw()) as other, other.cursor() as cursor:
            cursor.execute(f"KILL QUERY {int(self._raw.thread_id())}")

    def close(self) -> None:
        """Leave the server."""
        with suppress(Exception):
            self._raw.close()
