"""What is said of a soak in the environment is taken as it is meant, or refused before a server is started."""

import pytest

from tests.soak.soaking import Length
from tests.soak.wanted import Wanted, wanted


@pytest.mark.parametrize("environment", [{}, {"HEADGATE_SOAK_SECONDS": "", "HEADGATE_SOAK_VISITORS": ""}])
def test_the_suite_soaks_for_two_minutes_with_four_visitors(environment: dict[str, str]) -> None:
    assert wanted(environment) == Wanted(Length(seconds=110, visitors=4, thinking=0.02), leak=0)


def test_whoever_says_how_long_gets_a_soak_with_many_moments_of_quiet() -> None:
    said = {"HEADGATE_SOAK_SECONDS": "1800", "HEADGATE_SOAK_VISITORS": "8", "HEADGATE_SOAK_LEAK": "20000"}
    assert wanted(said) == Wanted(Length(seconds=1800, visitors=8, thinking=0.03, quiets=9), leak=20000)
    assert wanted({"HEADGATE_SOAK_SECONDS": "20"}).length.seconds == 20


@pytest.mark.parametrize("text", ["-5", "0", "19.9", "nan", "inf", "1e999", "two minutes", " "])
def test_a_soak_that_is_too_short_or_no_number_is_refused(text: str) -> None:
    with pytest.raises(pytest.fail.Exception) as failed:
        wanted({"HEADGATE_SOAK_SECONDS": text})
    assert str(failed.value) == f"HEADGATE_SOAK_SECONDS must be a number of at least 20, not '{text}'"


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "many"])
def test_a_soak_without_visitors_is_refused(text: str) -> None:
    with pytest.raises(pytest.fail.Exception) as failed:
        wanted({"HEADGATE_SOAK_VISITORS": text})
    assert str(failed.value) == f"HEADGATE_SOAK_VISITORS must be a whole number of at least 1, not '{text}'"


@pytest.mark.parametrize("text", ["-1", "a lot"])
def test_a_leak_that_is_no_number_of_bytes_is_refused(text: str) -> None:
    with pytest.raises(pytest.fail.Exception, match="HEADGATE_SOAK_LEAK must be a whole number of at least 0"):
        wanted({"HEADGATE_SOAK_LEAK": text})
