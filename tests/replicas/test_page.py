"""What the page about scale shows is what the tests run."""

import re

from tests.replicas.proxy import SHOWN
from tests.support import ROOT


def test_the_page_shows_the_configuration_that_is_tested() -> None:
    page = (ROOT / "docs" / "scale.md").read_text()
    assert re.findall(r"```nginx\n(.*?)```", page, re.DOTALL) == [SHOWN.read_text()]
