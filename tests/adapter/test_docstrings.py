"""What a docstring says of an operation and its parameters, in three styles."""

import pytest

from headgate.adapter.docstrings import Documentation, read_docstring
from tests.adapter.making import operation

GOOGLE = """
    Find books.

    They are found by
    title.

    Args:
        title: What to look
            for.
        limit (int): How many.

    Returns:
        The books.
"""
NUMPY = """
    Find books.

    They are found by
    title.

    Parameters
    ----------
    title : str
        What to look
        for.
    limit : int
        How many.

    Returns
    -------
    list
        The books.
"""
REST = """
    Find books.

    They are found by
    title.

    :param title: What to look
        for.
    :param limit: How many.
    :returns: The books.
"""


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST], ids=["Google", "NumPy", "reST"])
def test_a_docstring_with_sections_is_taken_apart(text: str) -> None:
    assert read_docstring(text) == Documentation(
        summary="Find books.",
        description="Find books.\nThey are found by title.",
        parameters={"title": "What to look for.", "limit": "How many."},
        returns="The books.",
    )


@pytest.mark.parametrize(
    ("text", "summary", "description"),
    [
        pytest.param("Find books.", "Find books.", "Find books.", id="one line"),
        pytest.param("Find\n    books.", "Find books.", "Find books.", id="a wrapped line"),
        pytest.param("Find.\n\n    All of\n    them.", "Find.", "Find.\nAll of them.", id="two paragraphs"),
        pytest.param("Find.\n\nArgs are not needed.", "Find.", "Find.\nArgs are not needed.", id="a word in prose"),
    ],
)
def test_a_docstring_without_sections_is_prose(text: str, summary: str, description: str) -> None:
    assert read_docstring(text) == Documentation(summary, description)


@pytest.mark.parametrize("text", [None, "", "  \n "], ids=repr)
def test_no_docstring_says_nothing(text: str | None) -> None:
    assert read_docstring(text) == Documentation()


def test_sections_that_cannot_be_read_stay_prose() -> None:
    assert read_docstring("Find books.\n\n:param x y z w: What").summary == "Find books."


def test_only_a_section_of_what_is_returned_has_no_parameters() -> None:
    found = read_docstring("Find books.\n\n:raises KeyError: never")
    assert (found.summary, dict(found.parameters), found.returns) == ("Find books.", {}, "")


def test_the_parameters_of_a_docstring_describe_those_of_the_operation() -> None:
    async def find_books(title: str, limit: int = 5) -> None:
        """Find books.

        Args:
            title: What to look for.

        Returns:
            Nothing yet.
        """

    made = operation(find_books)
    assert made.summary == "Find books."
    assert made.returns_description == "Nothing yet."
    assert [parameter.description for parameter in made.parameters] == ["What to look for.", ""]


def test_a_description_given_to_the_decorator_replaces_the_prose_and_keeps_the_rest() -> None:
    async def find_books(title: str) -> None:
        """Look into the old catalogue.

        Args:
            title: What to look for.

        Returns:
            The books.
        """

    made = operation(find_books, description="Find books.\n\nIn the catalogue.")
    assert (made.summary, made.description) == ("Find books.", "Find books.\nIn the catalogue.")
    assert made.parameters[0].description == "What to look for."
    assert made.returns_description == "The books."
