"""From allocated bytes to what the card must have: the allocator's reservation, the CUDA context, other moments."""

from dataclasses import dataclass

from app.estimator.memory import StepMemory
from app.estimator.recipe import Card, Cluster

MIB = 1024**2
GIB = 1024**3

# CUDA context and libraries' workspaces. 141 MiB on a T4 with recent PyTorch, 1,343 MiB on a V100 with an older
# driver; docs/formulas/memory.md lists the readings.
CONTEXT_BYTES = 450 * MIB
# What the caching allocator holds beyond what it handed out: blocks of what lives for a while do not fit one another
# exactly. Medians of the published pairs: 1.05 to 1.20 of the whole; more when more of the peak is short-lived.
SLACK_OF_SHORT_LIVED = 0.12
SLACK_OF_LASTING = 0.02
LEAST_SLACK_BYTES = 24 * MIB
# Of 90 readings in 100 the truth lay within these multiples of the requirement.
INTERVAL = (0.95, 1.18)

HOST_BYTES_WITHOUT_MODEL = 4 * GIB


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes of one card; None for what needs to know the card."""

    reserved_bytes: int | None
    required_bytes: int | None
    interval_bytes: tuple[int, int] | None
    capacity_bytes: int | None
    fits: bool | None
    headroom_bytes: int | None
    framework_bytes: int


def footprint(step: StepMemory, card: Card | None, cluster: Cluster) -> Footprint:
    """The reservation for a step on a card; a card that is nearly full makes the allocator give blocks back."""
    if card is None:
        return Footprint(None, None, None, None, None, None, 0)
    lasting = step.components["weights"] + step.components["optimizer_states"]
    short_lived = step.peak_bytes - lasting
    slack = max(LEAST_SLACK_BYTES, SLACK_OF_SHORT_LIVED * short_lived + SLACK_OF_LASTING * lasting)
    capacity = None if card.usable_bytes is None else int(card.usable_bytes * cluster.share)
    if capacity is not None:
        room = capacity - CONTEXT_BYTES - step.peak_bytes
        slack = max(LEAST_SLACK_BYTES, min(slack, room))
    reserved = step.peak_bytes + round(slack)
    required = reserved + CONTEXT_BYTES
    return Footprint(
        reserved_bytes=reserved,
        required_bytes=required,
        interval_bytes=(round(required * INTERVAL[0]), round(required * INTERVAL[1])),
        capacity_bytes=capacity,
        fits=None if capacity is None else required <= capacity,
        headroom_bytes=None if capacity is None else capacity - required,
        framework_bytes=required - step.peak_bytes,
    )


def host_ram_bytes(weights: int, cluster: Cluster) -> int:
    """Weights pass through the host when they are loaded, once for each process of a node."""
    copies = min(cluster.whole_gpus, cluster.gpus_per_node)
    return weights * copies + HOST_BYTES_WITHOUT_MODEL
