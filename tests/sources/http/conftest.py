"""Certificates for servers on this machine, made for the tests and believed by nobody else."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Authority:
    """A certificate authority with one word of trust: its own file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority for tests")])
        self.file = folder / "authority.pem"
        self.file.write_bytes(self._signed(self._name, self._key, None).public_bytes(Encoding.PEM))

    def context(self, *hosts: str) -> ssl.SSLContext:
        """What a server with a certificate for these hosts needs."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
        alternatives = x509.SubjectAlternativeName([_general(host) for host in hosts])
        file = self._folder / f"{hosts[0]}.pem"
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        file.write_bytes(secret + self._signed(name, key, alternatives).public_bytes(Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, alternatives: x509.SubjectAlternativeName | None
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=alternatives is None, path_length=None), critical=True)
        )
        if alternatives is not None:
            builder = builder.add_extension(alternatives, critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def trusted(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """The authority, believed by whoever asks the environment."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    return authority
