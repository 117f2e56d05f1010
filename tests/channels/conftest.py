"""What the tests of channels share."""

from pathlib import Path

import pytest

from tests.channels.certificates import Certificates, certificates


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """A certificate for this machine, and the authority behind it, which nobody trusts unless told to."""
    return certificates(Path(tmp_path_factory.mktemp("tls")))


@pytest.fixture
def trusted(tls: Certificates, monkeypatch: pytest.MonkeyPatch) -> Certificates:
    """The same, for a machine whose owner has said that the authority is to be trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tls.authority))
    return tls
