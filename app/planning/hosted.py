"""Hosted fine-tuning by the token beside the instances of a search: what the same data costs where others train."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqlmodel import Session

from app.accounts.access import Actor
from app.catalog.hosted.packaged import Hosted
from app.catalog.hosted.prices import list_hosted
from app.catalog.hosted.token_pricing import LARGEST_TOKENS, price_tokens
from app.estimator import Architecture, Workload
from app.money import round_to_minor
from app.planning.candidates import methods_for
from app.planning.inputs import SearchInput
from app.planning.jobs import ReadModel
from app.planning.search import Rates, budget_in, lower_words, unplaced_job


@dataclass(frozen=True, slots=True)
class HostedOption:
    """A price for the job's tokens. There are no hours: the provider decides how long it takes."""

    hosted: Hosted
    tokens: int
    amount: Decimal  # exact, in the price's currency
    comparable: Decimal | None  # the same in the search's currency; None where no rate leads there
    within_budget: bool | None  # None without a budget or without a rate


def find_hosted(session: Session, actor: Actor, wanted: SearchInput, model: ReadModel) -> list[HostedOption] | None:
    """The prices that fit the job, the cheapest first; None where the job does not count tokens.

    Raises InvalidInput as the search does.
    """
    tokens = _billed_tokens(wanted, model)
    if tokens is None:
        return None
    rates = Rates(session, actor, wanted.currency or actor.team.currency)
    prices = _fitting(list_hosted(session, actor.team_id), wanted, model)
    return sorted((_option(hosted, tokens, wanted, rates.to(hosted.currency)) for hosted in prices), key=_rank)


def _billed_tokens(wanted: SearchInput, model: ReadModel) -> int | None:
    """Those of all epochs, without padding; None beyond what anybody bills."""
    if wanted.workload is None or not model[1].counts_tokens:
        return None
    workload = unplaced_job(wanted, model).workload
    tokens = None if workload is None else _tokens(workload)
    return tokens if tokens is not None and tokens <= LARGEST_TOKENS else None


def _tokens(workload: Workload) -> int | None:
    """The tokens in all, or samples × mean length × epochs, to a whole token."""
    if workload.train_tokens is not None:
        return workload.train_tokens
    if workload.samples is None or workload.mean_tokens is None:
        return None
    # The shortest decimals that name these floats.
    tokens = workload.samples * Decimal(repr(workload.mean_tokens)) * Decimal(repr(workload.epochs))
    return int(tokens.to_integral_value(ROUND_HALF_UP))


def _fitting(prices: list[Hosted], wanted: SearchInput, model: ReadModel) -> Iterator[Hosted]:
    model_id, architecture = model
    # To those who train for others a base in four bits is a matter of their own.
    methods = {"lora" if method == "qlora" else method for method in methods_for(wanted)}
    providers = lower_words(wanted.providers)
    for hosted in prices:
        if providers and hosted.provider.lower() not in providers:
            continue
        if hosted.method is not None and hosted.method not in methods:
            continue
        is_named = hosted.model is not None and hosted.model == model_id
        if (is_named or _is_language_model(architecture)) and hosted.takes_model(model_id, architecture.parameters):
            yield hosted


def _is_language_model(architecture: Architecture) -> bool:
    """Whether it writes text and nothing else goes in: what a class of models means."""
    crosses = any(block.cross_tokens for block in architecture.blocks)
    return architecture.head.kind == "causal" and not architecture.by_sample and not crosses


def _option(hosted: Hosted, tokens: int, wanted: SearchInput, rate: Decimal | None) -> HostedOption:
    amount = price_tokens(hosted.price_per_million_tokens, tokens, hosted.minimum_charge)
    budget = budget_in(wanted.budget, rate, hosted.currency)
    return HostedOption(
        hosted=hosted,
        tokens=tokens,
        amount=amount,
        comparable=None if rate is None else amount * rate,
        within_budget=None if budget is None else round_to_minor(amount, hosted.currency) <= budget,
    )


def _rank(option: HostedOption) -> tuple[Any, ...]:
    is_unknown = option.comparable is None
    return (is_unknown, option.comparable or Decimal(0), option.hosted.provider, option.hosted.service["en"])
