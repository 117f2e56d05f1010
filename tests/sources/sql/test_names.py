"""Names of tables and columns become those of collections and fields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.names import is_snake_case
from headgate.sources.sql.names import (
    LONGEST_COLLECTION,
    CollectionName,
    collection_name,
    field_names,
    is_faithful,
    name_collections,
    snake_case,
)
from headgate.sources.sql.plurals import plural, singular

ONE_AND_MANY = """
    address addresses, alias aliases, analysis analyses, api apis, axis axes, book books, bookshelf bookshelves,
    box boxes, branch branches, bus buses, cache caches, case cases, category categories, cause causes, child
    children, city cities, class classes, company companies, country countries, course courses, crisis crises,
    criterion criteria, data data, database databases, day days, diagnosis diagnoses, dish dishes, employee
    employees, half halves, hero heroes, house houses, human humans, index indices, invoice invoices, key keys,
    knife knives, lens lenses, license licenses, matrix matrices, media media, menu menus, movie movies, news
    news, person people, photo photos, price prices, process processes, purchase purchases, query queries, quiz
    quizzes, response responses, salesperson salespeople, series series, shoe shoes, size sizes, species
    species, staff staff, status statuses, tax taxes, tooth teeth, virus viruses, warehouse warehouses, wife
    wives, woman women
"""
PAIRS = [tuple(pair.split()) for pair in ONE_AND_MANY.split(",")]


@pytest.mark.parametrize(("one", "many"), PAIRS, ids=[one for one, _ in PAIRS])
def test_a_word_has_one_form_for_one_and_one_for_many(one: str, many: str) -> None:
    assert plural(one) == many
    assert singular(many) == one
    assert singular(one) == one


@pytest.mark.parametrize(("many", "one"), [("indexes", "index"), ("persons", "person"), ("matrixes", "matrix")])
def test_other_plurals_that_are_in_use_are_known(many: str, one: str) -> None:
    assert singular(many) == one


@pytest.mark.parametrize(
    ("table", "many", "one"),
    [
        ("books", "books", "book"),
        ("Book", "books", "book"),
        ("Order Details", "order_details", "order_detail"),
        ("PlaylistTrack", "playlist_tracks", "playlist_track"),
        ("bill_of_materials", "bills_of_materials", "bill_of_materials"),
        ("sales_by_store", "sales_by_store", "sale_by_store"),
        ("check_ins", "check_ins", "check_in"),
        ("orders_2024", "orders_2024", "order_2024"),
        ("status", "statuses", "status"),
        ("Größe", "grosses", "grosse"),
        ("顧客", "tables", "table"),
    ],
)
def test_a_table_is_a_collection_whether_named_for_one_row_or_for_all(table: str, many: str, one: str) -> None:
    assert collection_name(table) == CollectionName(many, one)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CustomerID", "customer_id"),
        ("Unit Price", "unit_price"),
        ("2nd_name", "n2nd_name"),
        ("XMLHttpRequest", "xml_http_request"),
        ("__init__", "init"),
        ("Øre", "ore"),
        ("Prénom", "prenom"),
        ("discount %", "discount_percent"),
        ("R&D", "r_and_d"),
        ("Имя", ""),
    ],
)
def test_a_name_becomes_snake_case(name: str, expected: str) -> None:
    assert snake_case(name) == expected


def test_columns_of_one_name_are_numbered_and_the_one_that_is_right_keeps_it() -> None:
    assert field_names(["Name", "NAME", "name"]) == {"Name": "name_2", "NAME": "name_3", "name": "name"}


def test_a_column_whose_letters_are_lost_is_known_by_its_place() -> None:
    assert field_names(["id", "Имя", "顧客"]) == {"id": "id", "Имя": "field_2", "顧客": "field_3"}
    assert not is_faithful("Имя")
    assert is_faithful("Prénom")


@pytest.mark.parametrize("name", ["fields", "input", "if_match", "dry_run", "preset", "operation", "params"])
def test_a_key_is_not_named_like_a_parameter_beside_it(name: str) -> None:
    assert field_names([name], key=[name]) == {name: f"{name}_value"}
    assert field_names([name]) == {name: name}


@pytest.mark.parametrize("name", ["and", "or", "not"])
def test_no_field_is_named_like_what_combines_filters(name: str) -> None:
    assert field_names([name]) == {name: f"{name}_value"}


def test_a_chosen_name_stands_and_others_step_aside() -> None:
    assert field_names(["code", "name"], chosen={"code": "name"}) == {"code": "name", "name": "name_2"}


def test_tables_of_one_name_step_aside_for_the_one_that_is_named_right() -> None:
    tables = [("", "Book"), ("", "books"), ("sales", "books")]
    expected = {
        ("", "books"): CollectionName("books", "book"),
        ("", "Book"): CollectionName("books_2", "book_2"),
        ("sales", "books"): CollectionName("sales_books", "sales_book"),
    }
    assert name_collections(tables, {}) == expected
    assert name_collections(tables[::-1], {}) == expected


def test_no_collection_takes_the_name_of_the_operation_on_relationships() -> None:
    assert name_collections([("", "relationships")], {})["", "relationships"].many == "relationships_2"


@given(st.lists(st.text(min_size=1, max_size=80), unique=True, max_size=12))
def test_whatever_tables_are_called_collections_have_legal_short_and_different_names(tables: list[str]) -> None:
    names = name_collections([("", table) for table in tables], {})
    assert len({name.many for name in names.values()}) == len({name.one for name in names.values()}) == len(tables)
    for name in names.values():
        assert is_snake_case(name.many)
        assert is_snake_case(name.one)
        assert max(len(name.many), len(name.one)) <= LONGEST_COLLECTION


@given(st.lists(st.text(min_size=1, max_size=80), unique=True, max_size=12))
def test_whatever_columns_are_called_fields_have_legal_and_different_names(columns: list[str]) -> None:
    names = field_names(columns, key=columns[:1])
    assert list(names) == columns
    assert len({*names.values()}) == len(columns)
    assert all(is_snake_case(name) for name in names.values())
