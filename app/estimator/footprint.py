"""From allocated bytes to what the card must have: the allocator's reservation, the CUDA context, other moments."""

from dataclasses import dataclass

from app.estimator.memory import StepMemory
from app.estimator.other_peaks import OtherPeaks
from app.estimator.recipe import Card, Cluster

MIB = 1024**2
GIB = 1024**3

# CUDA context and libraries' workspaces by generation: 141 MiB on a T4 with recent PyTorch, 1,343 MiB on a V100 with an
# older driver; docs/formulas/memory.md lists the readings.
CONTEXT_BYTES = {
    "Turing": 150 * MIB, "Volta": 1075 * MIB, "Ada": 900 * MIB, "Hopper": 1250 * MIB, "Blackwell": 1250 * MIB,
}  # fmt: skip
USUAL_CONTEXT_BYTES = 900 * MIB
# What the caching allocator holds beyond what it handed out: blocks of one moment do not fit the next one's tensors.
# Shares of what comes and goes, fitted to the published pairs as docs/formulas/memory.md says; 4-bit layers, which
# expand a weight of another size for each product, leave more behind.
SLACK_OF_LOGITS = {True: 1.8, False: 0.9}  # a copy that the training loop still holds, and a block that fits nothing
SLACK_OF_SCORES = {True: 0.85, False: 0.8}
SLACK_OF_REST = {True: 0.29, False: 0.25}
SLACK_OF_EARLIER = 0.75
SLACK_OF_PASSING = 1.15
SLACK_OF_LASTING = 0.036
LEAST_SLACK_BYTES = 24 * MIB
# Of 90 readings in 100 the truth lay within these multiples of the requirement.
INTERVAL = (0.84, 1.22)

HOST_BYTES_WITHOUT_MODEL = 3 * GIB
WORKER_BYTES = GIB  # of the processes that read and tokenise data, for each card


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes of one card; None for what needs to know the card."""

    reserved_bytes: int | None
    required_bytes: int | None
    interval_bytes: tuple[int, int] | None
    capacity_bytes: int | None
    fits: bool | None
    headroom_bytes: int | None
    spare_bytes: int | None  # what would be left if the allocator kept as little as it can; below 0 nothing fits
    framework_bytes: int
    other_bytes: dict[str, int]  # what other moments of the job require, by name

    @property
    def is_tight(self) -> bool:
        """Whether it fits, but not at the upper end of its interval."""
        if self.interval_bytes is None or self.capacity_bytes is None or not self.fits:
            return False
        return self.interval_bytes[1] > self.capacity_bytes

    @property
    def too_large(self) -> list[str]:
        """The other moments that do not fit."""
        capacity = self.capacity_bytes
        return [] if capacity is None else [name for name, size in self.other_bytes.items() if size > capacity]


def footprint(step: StepMemory, others: OtherPeaks, card: Card | None, cluster: Cluster) -> Footprint:
    """The reservation for a step on a card; a card that is nearly full makes the allocator give blocks back."""
    if card is None:
        return Footprint(None, None, None, None, None, None, None, 0, {})
    context = CONTEXT_BYTES.get(card.generation, USUAL_CONTEXT_BYTES)
    slack = max(LEAST_SLACK_BYTES, _slack(step))
    capacity = None if card.usable_bytes is None else int(card.usable_bytes * cluster.share)
    if capacity is not None:
        room = capacity - context - step.peak_bytes
        slack = max(LEAST_SLACK_BYTES, min(slack, room))
    reserved = step.peak_bytes + round(slack)
    required = reserved + context
    other_bytes = {
        name: size + round(SLACK_OF_LASTING * size) + context + LEAST_SLACK_BYTES for name, size in others.items()
    }
    worst = max(required, *other_bytes.values())
    least = max(step.peak_bytes + LEAST_SLACK_BYTES + context, *other_bytes.values())
    return Footprint(
        reserved_bytes=reserved,
        required_bytes=required,
        interval_bytes=(round(required * INTERVAL[0]), round(required * INTERVAL[1])),
        capacity_bytes=capacity,
        fits=None if capacity is None else worst <= capacity,
        headroom_bytes=None if capacity is None else capacity - worst,
        spare_bytes=None if capacity is None else capacity - least,
        framework_bytes=required - step.peak_bytes,
        other_bytes=other_bytes,
    )


def _slack(step: StepMemory) -> float:
    short, parts, expands = step.short_lived, step.components, step.short_lived.expands
    return (
        SLACK_OF_LOGITS[expands] * short.logits
        + SLACK_OF_SCORES[expands] * short.scores
        + SLACK_OF_REST[expands] * short.rest
        + SLACK_OF_EARLIER * short.earlier
        + SLACK_OF_PASSING * short.passing
        + SLACK_OF_LASTING * (parts["weights"] + parts["optimizer_states"])
    )


def host_ram_bytes(weights: int, offloaded: int, cluster: Cluster) -> int:
    """Weights pass through the host while they are loaded, once for each process; offloaded parts stay there."""
    copies = min(cluster.whole_gpus, cluster.gpus_per_node)
    return (max(weights, offloaded) + WORKER_BYTES) * copies + HOST_BYTES_WITHOUT_MODEL
