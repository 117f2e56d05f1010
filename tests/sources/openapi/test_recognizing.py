"""Which sources are OpenAPI documents."""

from pathlib import Path

import pytest

from headgate.sources.openapi.recognizing import is_openapi


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("shop.yaml", "openapi: 3.0.3\ninfo: {}\n"),
        ("shop.YML", "# ours\nopenapi: '3.1.0'\n"),
        ("shop.json", '{"openapi": "3.0.0"}'),
        ("sorted.json", '{"components": {' + " " * 70_000 + '}, "info": {}, "openapi" : "3.1.0"}'),
        ("old.json", '{"swagger":"2.0"}'),
        ("sorted.yaml", "components: {}\ninfo: {}\nopenapi: 3.1.0\n"),
    ],
)
def test_a_file_that_says_so_is_one(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert is_openapi(str(tmp_path / name))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("servers.json", '{"mcpServers": {}}'),
        ("shop.yaml", "title: the openapi: question\n"),
        ("shop.txt", "openapi: 3.0.3\n"),
        ("shop.json", ""),
    ],
)
def test_other_files_are_none(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert not is_openapi(str(tmp_path / name))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("https://api.example/openapi.json", True),
        ("https://api.example/v3/api-docs", True),
        ("http://localhost:8000/spec.YAML?x=1", True),
        ("https://api.example/openapi", True),
        ("https://api.example/mcp", False),
        ("postgresql://localhost/openapi.json", False),
        ("missing.yaml", False),
        ("package.module:openapi", False),
    ],
)
def test_a_url_is_told_by_its_path(source: str, expected: bool) -> None:
    assert is_openapi(source) is expected
