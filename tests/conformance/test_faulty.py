"""One fault, one check: each defect of the faulty server is found by the check meant for it, and by no other MUST."""

import re
from pathlib import Path

import pytest

from headgate.conformance.checks import ALL_CHECKS
from headgate.conformance.values import Demand, Verdict
from tests.conformance.faulty.defects import DEFECTS, Defect
from tests.conformance.matrix import looked_at, row_of

pytestmark = pytest.mark.anyio


async def test_a_server_without_faults_passes_every_check() -> None:
    report = await looked_at()
    complaints = [
        (result.check.id, [finding.words for finding in result.broken])
        for result in report.results
        if result.verdict in (Verdict.FAIL, Verdict.WARN)
    ]
    assert not complaints


@pytest.mark.parametrize("defect", [pytest.param(defect, id=defect.id) for defect in DEFECTS])
async def test_a_fault_is_found_by_the_check_meant_for_it_and_by_no_other_must(defect: Defect) -> None:
    row = await row_of(defect, direct=True)
    assert (row.found, row.failed) == (True, ())


@pytest.mark.parametrize(
    "defect", ["malformed-params-thrown", "surrogates-accepted", "requests-mixed-up", "batch-stops"]
)
async def test_the_direct_way_to_the_server_shows_what_the_way_through_mcp_shows(defect: str) -> None:
    through_mcp, directly = await looked_at(defect), await looked_at(defect, direct=True)
    assert [(one.check.id, one.verdict) for one in directly.results] == [
        (one.check.id, one.verdict) for one in through_mcp.results
    ]


def test_every_switch_is_a_fault_of_the_table_and_every_fault_has_a_switch() -> None:
    sources = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.joinpath("faulty").glob("*.py")]
    switched = re.compile(r'has\(\s*"([a-z0-9-]+)"|"([a-z-]+)" in defects')
    switches = {found for source in sources for found in switched.findall(source)}
    assert {name or other for name, other in switches} == {defect.id for defect in DEFECTS}


def test_every_check_of_must_level_has_a_fault_that_it_is_meant_for() -> None:
    """Servers that cannot be opened, or do not answer, are in ``test_misbehaving.py``."""
    meant = {defect.check for defect in DEFECTS}
    unmet = {check.id for check in ALL_CHECKS if check.demand is Demand.MUST} - meant
    assert unmet == {"transport.opens", "transport.answers-everything"}


def test_there_are_sixty_faults_and_most_of_them_break_a_must() -> None:
    demands = {check.id: check.demand for check in ALL_CHECKS}
    assert len({defect.id for defect in DEFECTS}) == len(DEFECTS) >= 60
    assert sum(demands[defect.check] is Demand.MUST for defect in DEFECTS) >= 45
