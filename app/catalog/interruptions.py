"""How often spot instances are taken away, from what providers publish; pure.

AWS publishes for each offer the share of instances reclaimed within a month, in bands: below 5 %, 5–10, 10–15, 15–20,
above 20 % (Spot Instance Advisor). Kept here is the share of a family's offers in the worst band, counted over all
regions in mid-2025. What a band means as a number is an assumption: 25 % a month for the worst, 10 % for the others
together. Chinese clouds publish none, so theirs is unknown rather than small.
"""

import math
from collections.abc import Mapping

HOURS_A_MONTH = 730.0
WORST_BAND_A_MONTH = 0.25
OTHER_BANDS_A_MONTH = 0.10
SOURCE = "AWS Spot Instance Advisor, bands counted over regions, mid-2025"

# Share of the family's offers in the worst band.
_AWS_FAMILIES: Mapping[str, float] = {
    "p3": 1.0, "g5": 0.54, "g4dn": 0.49, "g6e": 0.44, "g6": 0.32, "p4d": 0.30, "p5": 0.09,
}  # fmt: skip

# Seconds between the warning and the end, from the providers' documentation.
NOTICE_SECONDS: Mapping[str, int] = {"aws": 120, "tencent": 120, "alibaba": 300, "gcp": 30, "azure": 30}


def interruptions_per_hour(provider: str, instance_type: str) -> float | None:
    """The expected rate of a spot instance of this type; None where nothing is published."""
    if not provider.startswith("aws"):
        return None
    worst = _AWS_FAMILIES.get(instance_type.split(".")[0])
    if worst is None:
        return None
    a_month = worst * WORST_BAND_A_MONTH + (1 - worst) * OTHER_BANDS_A_MONTH
    return -math.log(1 - a_month) / HOURS_A_MONTH
