"""What judges a soak is judged itself: a leak is found however noisy the samples are, and noise alone is no leak."""

import random
from collections.abc import Callable

import pytest

from tests.soak.trends import Allowed, Point, trend_of

SAMPLES, REQUESTS = 100, 200
"""How many samples, and how many requests lie between two of them."""
MB = 1024.0
ALLOWED = Allowed(each_thousand=100.0, in_all=1.5 * MB)

Noise = Callable[[random.Random, int], float]


def series(noise: Noise, leak: float = 0.0, seed: int = 1) -> list[Point]:
    """The size of a process in KB that leaks so much with each thousand requests, beside what is noise."""
    chance = random.Random(seed)  # noqa: S311  (nothing is secret here)
    return [
        Point(place * REQUESTS, 60 * MB + noise(chance, place) + leak * place * REQUESTS / 1000)
        for place in range(SAMPLES)
    ]


def still(_chance: random.Random, _place: int) -> float:
    return 0.0


def jitter(chance: random.Random, _place: int) -> float:
    return chance.gauss(0, MB)


def saw(chance: random.Random, place: int) -> float:
    """Memory that is given back from time to time."""
    return (place % 9) * 0.4 * MB + chance.gauss(0, 100)


def jump(_chance: random.Random, place: int) -> float:
    """A cache that is filled once."""
    return 20 * MB if place > 60 else 0.0


def bursts(chance: random.Random, _place: int) -> float:
    """Now and then something large that does not stay."""
    return 30 * MB if chance.random() < 0.1 else 0.0


def settling(_chance: random.Random, place: int) -> float:
    """Caches that fill ever more slowly."""
    return 3 * MB * (1 - 0.9**place)


def shrinking(_chance: random.Random, place: int) -> float:
    return -50.0 * place


NOISES = [still, jitter, saw, jump, bursts, settling, shrinking]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", NOISES)
def test_noise_is_no_leak(noise: Noise, seed: int) -> None:
    assert not trend_of(series(noise, seed=seed)).is_growth(ALLOWED)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [one for one in NOISES if one is not shrinking])
@pytest.mark.parametrize("leak", [300.0, 1000.0])
def test_a_leak_is_found_behind_the_noise(noise: Noise, leak: float, seed: int) -> None:
    trend = trend_of(series(noise, leak, seed))
    assert trend.is_growth(ALLOWED)
    assert trend.each_thousand == pytest.approx(leak, rel=0.5)


def test_a_leak_too_small_to_matter_is_let_pass() -> None:
    assert not trend_of(series(still, 50.0)).is_growth(ALLOWED)


def test_growth_without_requests_is_no_slope() -> None:
    assert trend_of([Point(7, float(value)) for value in range(20)]).each_thousand == 0


def test_of_a_handful_of_samples_nothing_is_said() -> None:
    with pytest.raises(AssertionError, match="9 samples are too few"):
        trend_of(series(still)[:9])
