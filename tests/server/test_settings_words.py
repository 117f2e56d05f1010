"""Settings: every mistake stops the start and names the nearest right word."""

from typing import Any

import pytest

from headgate import Adapter, Category, Concurrency, Family, Limits, Mode, Profile, mcp_server
from headgate.protocol.profiles import PROFILES
from headgate.server.settings import SettingError, Settings, with_limits

MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "name": ({"mdoe": "single"}, "There is no setting 'mdoe'. Did you mean 'mode'?"),
    "strange name": ({"colour": 1}, "There is no setting 'colour'"),
    "mode": (
        {"mode": "sinlge"},
        "'sinlge' is not a value of mode; known are semantic, single, all. Did you mean 'single'?",
    ),
    "mode of another type": ({"mode": 7}, "'7' is not a value of mode; known are semantic, single, all"),
    "profile": (
        {"profile": "databse"},
        (
            "'databse' is not a value of profile; known are crude, crude_authorize, discover, database, device, "
            "content. Did you mean 'database'?"
        ),
    ),
    "concurrency": (
        {"concurrency": "resource_locked"},
        (
            "'resource_locked' is not a value of concurrency; known are serialized, read-concurrent, fully-concurrent, "
            "resource-locked. Did you mean 'resource-locked'?"
        ),
    ),
    "no requests at all": (
        {"max_concurrent_requests": 0},
        "max_concurrent_requests must be a whole number, 1 or more, not '0'",
    ),
    "index": ({"index_tokens": -1}, "index_tokens must be a whole number, 0 or more, not '-1'"),
    "cache": ({"cache_seconds": "60"}, "cache_seconds must be a whole number, 0 or more, not '60'"),
    "truth": ({"cache_seconds": True}, "cache_seconds must be a whole number, 0 or more, not 'True'"),
    "no patience": (
        {"session_idle_seconds": 0},
        "session_idle_seconds must be a whole number, 1 or more, not '0'",
    ),
    "no sessions": ({"max_sessions": 0}, "max_sessions must be a whole number, 1 or more, not '0'"),
    "replica": (
        {"replica": "b.2"},
        "replica must be up to 32 letters, digits and dashes, such as 'b-2', not 'b.2'",
    ),
    "replica of another type": (
        {"replica": 2},
        "replica must be up to 32 letters, digits and dashes, such as 'b-2', not '2'",
    ),
    "prefix of another type": ({"prefix": None}, "prefix must be a text, not 'None'"),
    "strictness": ({"strict": "no"}, "strict must be true or false, not 'no'"),
    "structure": ({"structured_content": 1}, "structured_content must be true or false, not '1'"),
    "profile of another type": ({"profile": 7}, "profile must be a name or a Profile, not '7'"),
    "limits": ({"limits": 5}, "limits must be Limits or a dictionary, not '5'"),
    "limit": (
        {"limits": {"max_request_sise": 5}},
        "There is no limit 'max_request_sise'. Did you mean 'max_request_size'?",
    ),
    "limit of another type": (
        {"limits": {"max_nesting_depth": "8"}},
        "max_nesting_depth must be a whole number, 0 or more, not '8'",
    ),
    "listeners": ({"listeners": print}, f"listeners must be a list of functions, not '{print}'"),
    "listener": ({"listeners": ["print"]}, "listeners must be a list of functions, not '['print']'"),
    "prefix": (
        {"prefix": "Hub"},
        (
            "The tool prefix 'Hub' must be lower-case letters, digits and underscores, end with an underscore and have "
            "fewer than 20 characters, such as 'github_'."
        ),
    ),
    "long prefix": (
        {"prefix": "a" * 19 + "_"},
        (
            "The tool prefix 'aaaaaaaaaaaaaaaaaaa_' must be lower-case letters, digits and underscores, end with an "
            "underscore and have fewer than 20 characters, such as 'github_'."
        ),
    ),
}


@pytest.mark.parametrize(("settings", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as refused:
        mcp_server(Adapter("shelf"), **settings)
    assert str(refused.value) == message


LIMITS = {
    "max_request_size": (64 * 1024, 10 * 1024 * 1024, "bytes"),
    "max_response_size": (1024 * 1024, 100 * 1024 * 1024, "bytes"),
    "max_string_length": (64 * 1024, 10 * 1024 * 1024, "bytes"),
    "max_array_elements": (100, 100_000, "elements"),
    "max_nesting_depth": (8, 64, "levels"),
}


@pytest.mark.parametrize(("name", "bounds"), LIMITS.items())
def test_a_limit_may_reach_its_bounds_and_not_pass_them(name: str, bounds: tuple[int, int, str]) -> None:
    lowest, highest, unit = bounds
    for allowed in (lowest, highest):
        assert getattr(with_limits(Limits(), {name: allowed}), name) == allowed
    for beyond in (lowest - 1, highest + 1):
        with pytest.raises(
            SettingError, match=f"{name} is {beyond}; it must lie between {lowest} and {highest} {unit}"
        ):
            with_limits(Limits(), {name: beyond})


def test_words_are_read_where_a_name_is_enough() -> None:
    settings = Settings.of(mode="single", profile="device", concurrency="serialized", index_tokens=None, listeners=[])
    assert settings.mode is Mode.SINGLE
    assert settings.profile is PROFILES["device"]
    assert settings.concurrency is Concurrency.SERIALIZED
    assert settings.index_tokens is None
    assert settings.listeners == ()


def test_values_are_taken_as_they_are() -> None:
    own = Profile("own", (Family("everything", "All there is", frozenset(Category)),))
    limits = Limits(max_nesting_depth=8)
    settings = Settings.of(mode=Mode.ALL, profile=own, prefix="x_", limits=limits, strict=False, listeners=[print])
    assert (settings.mode, settings.profile, settings.prefix) == (Mode.ALL, own, "x_")
    assert (settings.limits, settings.strict, settings.listeners) == (limits, False, (print,))
    assert Settings.of(profile=None).profile is None


def test_limits_may_be_a_dictionary() -> None:
    assert Settings.of(limits={"max_nesting_depth": 8}).limits == Limits(max_nesting_depth=8)


def test_the_old_name_of_semantic_mode_is_known() -> None:
    assert Settings.of(mode="crude").mode is Mode.SEMANTIC


def test_the_profile_of_the_adapter_counts_unless_the_operator_chooses_another() -> None:
    adapter = Adapter("shelf", profile="database")
    assert mcp_server(adapter).tool_names == ["mcp_aql_inspect"]
    assert mcp_server(adapter, profile="discover").tool_names == ["mcp_aql_discover"]
