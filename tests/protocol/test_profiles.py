"""Endpoint families: every operation has exactly one home (Spec 3.3, 6.2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate import Category, Family, Mode, Profile
from headgate.protocol.profiles import CRUDE, PROFILES, ProfileError, tool_name

EVERYTHING = frozenset(Category)


def test_crude_has_a_family_for_each_category() -> None:
    assert {family.name: set(family.home_of) for family in CRUDE.families} == {
        "create": {Category.CREATE},
        "read": {Category.READ},
        "update": {Category.UPDATE},
        "delete": {Category.DELETE},
        "execute": {Category.EXECUTE},
    }


def test_the_profiles_are_known_by_their_names() -> None:
    assert list(PROFILES) == ["crude", "crude_authorize", "discover", "database", "device", "content"]
    assert all(name == profile.name for name, profile in PROFILES.items())


@pytest.mark.parametrize(
    ("profile", "operation", "category", "family"),
    [
        ("crude", "get_book", Category.READ, "read"),
        ("crude", "introspect", Category.READ, "read"),
        ("crude_authorize", "grant_access", Category.UPDATE, "authorize"),
        ("crude_authorize", "update_access", Category.UPDATE, "update"),
        ("discover", "introspect", Category.READ, "discover"),
        ("discover", "list_books", Category.READ, "query"),
        ("discover", "delete_book", Category.DELETE, "manage"),
        ("discover", "execute_job", Category.EXECUTE, "operate"),
        ("database", "explain_query", Category.READ, "inspect"),
        ("database", "create_row", Category.CREATE, "mutate"),
        ("device", "scan_bus", Category.READ, "discover"),
        ("device", "get_state", Category.READ, "observe"),
        ("device", "reboot_device", Category.EXECUTE, "maintain"),
        ("device", "execute_motion", Category.EXECUTE, "control"),
        ("content", "get_page", Category.READ, "search"),
        ("content", "execute_publication", Category.EXECUTE, "publish"),
    ],
)
def test_an_operation_goes_home_by_its_verb_or_its_category(
    profile: str, operation: str, category: Category, family: str
) -> None:
    assert PROFILES[profile].family_for(operation, category).name == family


@given(
    st.sampled_from(list(PROFILES.values())),
    st.from_regex(r"[a-z][a-z_]{0,20}", fullmatch=True),
    st.sampled_from(list(Category)),
)
def test_every_operation_has_a_family_in_every_profile(profile: Profile, operation: str, category: Category) -> None:
    family = profile.family_for(operation, category)
    assert profile.family(family.name) is family


def test_an_unknown_family_is_none() -> None:
    assert CRUDE.family("nonsense") is None


def test_a_category_without_a_home_is_refused() -> None:
    with pytest.raises(ProfileError, match="exactly one family that is home of EXECUTE; found none"):
        Profile("half", (Family("all", "x", EVERYTHING - {Category.EXECUTE}),))


def test_a_category_with_two_homes_is_refused() -> None:
    with pytest.raises(ProfileError, match="home of READ; found one and two"):
        Profile("twice", (Family("one", "x", EVERYTHING), Family("two", "x", frozenset({Category.READ}))))


def test_two_families_of_one_name_are_refused() -> None:
    with pytest.raises(ProfileError, match="two endpoint families of one name"):
        Profile("twice", (Family("one", "x", EVERYTHING), Family("one", "x")))


@pytest.mark.parametrize("name", ["", "Read", "read-all", "1"])
def test_a_family_is_named_in_snake_case(name: str) -> None:
    with pytest.raises(ProfileError, match="is not snake_case"):
        Family(name, "x")


@pytest.mark.parametrize(
    ("family", "prefix", "name"),
    [
        ("read", "", "mcp_aql_read"),
        (None, "", "mcp_aql"),
        ("read", "github_", "github_mcp_aql_read"),
        (None, "github_", "github_mcp_aql"),
    ],
)
def test_tools_are_named_by_family_and_prefix(family: str | None, prefix: str, name: str) -> None:
    assert tool_name(family, prefix) == name


def test_there_are_three_modes() -> None:
    assert [mode.value for mode in Mode] == ["semantic", "single", "all"]
