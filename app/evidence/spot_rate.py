"""How often a spot instance is taken away, from what is published and what a team has seen; pure.

Interruptions are a Poisson process with a rate that is itself uncertain: a gamma distribution about the published
rate, as sure of it as if it had been seen for some hours (the usual conjugate prior). With the team's own hours its
mean moves from the published to the team's own rate. Where nothing is published, the team's hours must speak alone,
once there are enough of them; half an interruption is added (Jeffreys), for none in a few hours does not mean never.
"""

from dataclasses import dataclass

PRIOR_HOURS = 100.0
FEWEST_HOURS = 24.0


@dataclass(frozen=True, slots=True)
class SpotHistory:
    """Instance-hours and interruptions that were seen."""

    hours: float = 0.0
    interruptions: int = 0


def expected_interruptions_per_hour(published: float | None, seen: SpotHistory | None) -> float | None:
    """The rate of one instance; None where neither says anything."""
    history = seen or SpotHistory()
    if published is not None:
        return (published * PRIOR_HOURS + history.interruptions) / (PRIOR_HOURS + history.hours)
    if history.hours < FEWEST_HOURS:
        return None
    return (history.interruptions + 0.5) / history.hours
