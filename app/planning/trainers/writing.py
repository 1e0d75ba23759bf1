"""Settings that the trainers share, as they are written."""

from collections.abc import Mapping

from app.i18n import Message
from app.planning.trainers.draft import LEARNING_RATES, Draft, Plan
from app.planning.trainers.words import OPTIMIZER_NAMES


def put_learning(draft: Draft, plan: Plan) -> None:
    """A trainer needs a learning rate, a plan of money does not."""
    draft.note(Message("The plan does not set the learning rate; this is a usual one."))
    draft.put(learning_rate=LEARNING_RATES[plan.method])


def put_optimizer(draft: Draft, plan: Plan, key: str = "optim") -> None:
    """The optimizer, or the closest that there is."""
    draft.put_or_miss("optimizer", key, OPTIMIZER_NAMES.get(plan.optimizer), "sgd")


def put_deepspeed(draft: Draft, plan: Plan, configurations: Mapping[tuple[str, str], str]) -> None:
    """The trainer's own configuration for this stage, without the offload where it has none with it."""
    exact = configurations.get((plan.parallelism, plan.offload))
    close = configurations.get((plan.parallelism, "none"))
    draft.miss("offload", exact is None and plan.offload != "none")
    draft.miss("parallelism", close is None and plan.parallelism.startswith("zero"))
    if exact or close:
        draft.put(deepspeed=exact or close)


def fsdp_words(draft: Draft, plan: Plan) -> str:
    """What ``--fsdp`` of Transformers takes."""
    draft.miss("offload", plan.offload == "optimizer")
    return "full_shard auto_wrap offload" if plan.offload == "all" else "full_shard auto_wrap"


def weights_held(draft: Draft, plan: Plan) -> str:
    """The type to load the base in: without autocast it is also the type that is computed in."""
    if plan.method == "qlora" or not plan.is_mixed:
        draft.miss("weights_dtype", plan.method != "qlora" and plan.weights != plan.number)
        return plan.number
    return plan.weights


def torchrun(plan: Plan) -> str:
    """What stands before LLaMA-Factory's command."""
    if plan.nodes > 1:
        place = "NODE_RANK=0 MASTER_ADDR=ADDRESS MASTER_PORT=29500"
        return f"FORCE_TORCHRUN=1 NNODES={plan.nodes} {place} NPROC_PER_NODE={plan.gpus_a_node} "
    if plan.gpus > 1 or plan.parallelism != "none":
        return f"FORCE_TORCHRUN=1 NPROC_PER_NODE={plan.gpus} "
    return "CUDA_VISIBLE_DEVICES=0 "
