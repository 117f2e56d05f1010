"""The adapter file of the examples, and those of the page about them, do what they say."""

import re
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from examples.weather_station import KEY, STATIONS, Station
from headgate.adapter.examples import examples_of
from headgate.protocol.danger import Trust
from headgate.protocol.errors import AqlError
from headgate.sources.files.definitions import OPERATION_KEYS
from headgate.sources.files.exporting import exported
from headgate.sources.files.limits import LIMIT_KEYS
from headgate.sources.files.pagination import PAGING_KEYS
from headgate.sources.files.parameters import OWN_KEYS
from headgate.sources.files.plugins.builtin import register_builtin
from headgate.sources.files.plugins.registry import AUTHS, PROTOCOLS, SERIALIZATIONS, TRANSPORTS
from headgate.sources.files.reading import TOP_KEYS, adapter_file_from
from headgate.sources.files.source import load_adapter_file
from tests.sources.files.test_exporting import assert_same, read_back
from tests.sources.files.texts import called
from tests.support import ROOT

FILE = ROOT / "examples" / "weather-adapter.md"
PAGE = (ROOT / "docs" / "adapter-files.md").read_text()


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Path]:
    """The file of the example, before a station that runs."""

    class Fresh(Station):
        stations: ClassVar = {name: dict(one) for name, one in STATIONS.items()}

    with ThreadingHTTPServer(("127.0.0.1", 0), Fresh) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        file = tmp_path / FILE.name
        file.write_text(FILE.read_text().replace(":8090", f":{server.server_address[1]}"))
        yield file
        server.shutdown()


@pytest.mark.anyio
async def test_the_example_works(station: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEATHER_KEY", KEY)
    adapter = load_adapter_file(station)
    try:
        first = await called(adapter, "list_stations", first=2, fields=["id"])
        assert first["items"] == [{"id": "harbour"}, {"id": "hill"}]
        assert first["pageInfo"]["totalCount"] == 3
        rest = await called(adapter, "list_stations", first=2, after=first["pageInfo"]["endCursor"])
        assert [one["title"] for one in rest["items"]] == ["Moor"]
        assert not rest["pageInfo"]["hasNextPage"]
        for example in examples_of(adapter.operations["get_forecast"]):
            answer = await called(adapter, "get_forecast", None, **example.params)
            assert answer == {"station": "harbour", "days": [{"day": 0, "sky": "sunny"}]}
        changed = await called(adapter, "update_station", station_id="hill", input={"title": "Top", "height": 613})
        assert changed == {"id": "hill", "title": "Top", "height": 613}
        with pytest.raises(AqlError) as caught:
            await called(adapter, "get_forecast", station_id="valley")
        assert caught.value.error.code == "NOT_FOUND_RESOURCE"
    finally:
        await adapter.close()


@pytest.mark.anyio
async def test_a_wrong_key_is_told_and_not_shown(station: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEATHER_KEY", "another-key-7")
    adapter = load_adapter_file(station)
    with pytest.raises(AqlError) as caught:
        await called(adapter, "update_station", station_id="hill", input={"title": "Top"})
    await adapter.close()
    assert caught.value.error.code == "PERMISSION_DENIED"
    assert "another-key-7" not in str(caught.value.error.wire())


def test_the_example_comes_back_the_same() -> None:
    adapter = load_adapter_file(FILE)
    assert adapter.trust is Trust.VALIDATED
    assert_same(adapter, read_back(exported(adapter)))


def files_shown() -> list[str]:
    return re.findall(r"```yaml\n(---\n.*?\n---\n.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", files_shown())
def test_a_file_that_the_page_shows_is_right(text: str) -> None:
    assert adapter_file_from(text, "shown-adapter.md").entries


def test_the_page_shows_files() -> None:
    assert len(files_shown()) >= 2


def plugins() -> list[str]:
    register_builtin()
    return [name for one in (TRANSPORTS, PROTOCOLS, SERIALIZATIONS, AUTHS) for name in one.names]


def auth_keys() -> list[str]:
    register_builtin()
    return [key for name in AUTHS.names for key in AUTHS.named(name).keys]


@pytest.mark.parametrize(
    "keys",
    [TOP_KEYS, OPERATION_KEYS, PAGING_KEYS, LIMIT_KEYS, OWN_KEYS, plugins(), auth_keys()],
    ids=["file", "operation", "pagination", "limits", "parameter", "plugins", "auth"],
)
def test_every_field_and_plugin_is_documented(keys: Any) -> None:
    rows = "".join(line for line in PAGE.splitlines() if line.startswith("| "))
    assert [key for key in keys if f"`{key}`" not in rows] == []
