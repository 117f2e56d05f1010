"""The servers of the tests give what they promise: fresh databases of three kinds."""

from sqlalchemy import inspect

from tests.databases import Database, Server


def test_a_fresh_database_is_empty_and_keeps_what_is_written(database: Database) -> None:
    with database.connected() as engine, engine.begin() as connection:
        assert inspect(connection).get_table_names() == []
        connection.exec_driver_sql("CREATE TABLE notes (text VARCHAR(40))")
        connection.exec_driver_sql("INSERT INTO notes VALUES ('漢字 🦉 ß')")
        assert connection.exec_driver_sql("SELECT text FROM notes").scalar_one() == "漢字 🦉 ß"


def test_two_databases_of_one_server_know_nothing_of_each_other(server: Server) -> None:
    with server.fresh() as one, server.fresh() as other, one.connected() as written, other.connected() as read:
        with written.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE notes (text VARCHAR(40))")
        assert inspect(read).get_table_names() == []


def test_a_database_is_dropped_under_a_client_that_forgot_to_leave(server: Server) -> None:
    with server.fresh() as database:
        forgotten = database.connected()
        engine = forgotten.__enter__()
        with engine.connect() as connection:
            connection.exec_driver_sql("SELECT 1")
    engine.dispose()
