"""The offers of the catalogue × sensible recipes, ranked, with what no other option beats in both cost and time."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from sqlmodel import Session

from app.accounts.access import Actor
from app.catalog.gpus import find_gpu
from app.catalog.models import Offer
from app.catalog.rates import find_comparing_rate
from app.catalog.service import list_offers
from app.catalog.terms import discount_on
from app.estimator import Estimate, Job, RecipeError, billed_hours, cost_of, estimate, expected_hours
from app.evidence.service import SpotHistories, spot_histories
from app.money import round_to_minor
from app.planning.candidates import Ladder, methods_for, recipes_for
from app.planning.inputs import EstimateInput, SearchInput
from app.planning.jobs import ReadModel, invalid, prepare, read_model, spot_of
from app.planning.offer_terms import price_of_offer, spot_of_offer

# What a search says beside the job itself.
_OF_A_SEARCH = ("currency", "providers", "regions", "billing", "limit", "budget", "spot")


@dataclass(frozen=True, slots=True)
class Trial:
    """A recipe on a number of cards: the request, the job, and its estimate, without a price yet."""

    body: EstimateInput
    job: Job
    answer: Estimate

    @property
    def fits(self) -> bool:
        """Whether the job fits the cards."""
        return self.answer.footprint.fits is True


@dataclass(frozen=True, slots=True)
class Option:
    """One recipe on one offer."""

    place: "Place"
    trial: Trial
    within: bool  # budget and deadline, by the hours without interruptions
    safely_within: bool  # with the expected interruptions too
    hours: float | None
    amount: Decimal | None  # as it is shown, in the offer's currency
    comparable: Decimal | None  # the same in the search's currency

    @property
    def offer(self) -> Offer:
        """The instance."""
        return self.place.offer

    @property
    def fits(self) -> bool:
        """Whether the job fits the offer's cards."""
        return self.trial.fits

    @property
    def is_tight(self) -> bool:
        """Whether it fits with little room: not at the upper end of the estimate's interval."""
        return self.trial.answer.footprint.is_tight

    def body(self) -> EstimateInput:
        """The estimate's request that reproduces this option."""
        return self.trial.body.model_copy(update=self.place.values)


@dataclass(frozen=True, slots=True)
class Found:
    """Options in their order, which of them are on the frontier, and how many were looked at."""

    options: list[Option]
    frontier: frozenset[int]  # by id() of the option
    considered: int
    model: ReadModel

    def on_frontier(self, option: Option) -> bool:
        """Whether no fitting option of its currency is both cheaper and faster."""
        return id(option) in self.frontier


def search(session: Session, actor: Actor, wanted: SearchInput) -> Found:
    """Raises InvalidInput naming the field that no option could satisfy (an unknown model, a target it lacks)."""
    model = read_model(wanted.model)
    rates = Rates(session, actor, wanted.currency or actor.team.currency)
    histories = spot_histories(session, actor.team_id)
    groups: dict[tuple[str, float, int], list[Offer]] = defaultdict(list)
    for offer, instances in _offers(session, actor, wanted):
        groups[offer.gpu, float(offer.gpu_count), instances].append(offer)
    options: list[Option] = []
    for (gpu_id, count, instances), offers in groups.items():
        trials = list(_trials(wanted, model, gpu_id, count, instances))
        for offer in offers:
            place = Place(wanted, offer, instances, actor.today, rates.to(offer.currency), histories)
            options += [place.option(trial) for trial in trials]
    if not groups:
        unplaced_job(wanted, model)
    frontier = _frontier(options)
    options.sort(key=_rank)
    return Found(_first(options, frontier, wanted.limit), frontier, len(options), model)


def _first(options: list[Option], frontier: frozenset[int], limit: int) -> list[Option]:
    """At most ``limit``: the frontier takes the places of the last of the others."""
    if len(options) <= limit:
        return options
    on_it = [one for one in options if id(one) in frontier][:limit]
    others = [one for one in options if id(one) not in frontier][: limit - len(on_it)]
    return sorted(on_it + others, key=_rank)


def _offers(session: Session, actor: Actor, wanted: SearchInput) -> Iterator[tuple[Offer, int]]:
    """The offers that the search allows, each with the instances that make up the GPUs asked for."""
    providers, regions = lower_words(wanted.providers), lower_words(wanted.regions)
    for offer in list_offers(session, actor.team_id):
        if offer.price_per_hour is None or find_gpu(offer.gpu) is None:
            continue
        if providers and offer.provider.lower() not in providers:
            continue
        if regions and offer.region.lower() not in regions:
            continue
        if wanted.billing and offer.billing not in wanted.billing:
            continue
        instances = 1.0 if wanted.gpu_count is None else wanted.gpu_count / float(offer.gpu_count)
        if instances == 1 or (instances > 1 and instances.is_integer() and offer.gpu_count >= 1):
            yield offer, int(instances)


def lower_words(words: Iterable[str] | None) -> frozenset[str]:
    """Names to compare with, in any case; empty where none are given."""
    return frozenset(word.lower() for word in words or ())


def _trials(
    wanted: SearchInput, model: ReadModel, gpu_id: str, count: float, instances: int
) -> Iterator[Trial]:
    """The recipes worth showing for these cards."""
    gpu = find_gpu(gpu_id)
    assert gpu is not None  # noqa: S101 - offers of unknown cards were left out
    cards = count * instances
    stated = _stated(wanted) | {"gpu": gpu_id, "gpu_count": int(cards) if cards >= 1 else cards}
    if instances > 1:
        stated["gpus_per_node"] = int(count)
    body = _body(stated)
    for ladders in recipes_for(wanted, gpu, cards):
        for ladder in ladders:
            tried = list(_climbed(ladder, body, model))
            yield from tried
            if len(tried) == len(ladder) and tried[-1].fits:
                break


def _climbed(ladder: Ladder, body: EstimateInput, model: ReadModel) -> Iterator[Trial]:
    """The rungs that fit; the first one also where it does not."""
    for rung, fields in enumerate(ladder):
        trial = _trial(body.model_copy(update=fields), model)
        if trial.fits or rung == 0:
            yield trial
        if not trial.fits:
            return


def _trial(body: EstimateInput, model: ReadModel) -> Trial:
    try:
        job = prepare(body, model).job
        return Trial(body, job, estimate(job))
    except RecipeError as error:
        raise invalid(error) from error


def _stated(wanted: SearchInput) -> dict[str, Any]:
    """What the search fixes of the job."""
    return {
        name: value
        for name in wanted.model_fields_set
        if name not in _OF_A_SEARCH and (value := getattr(wanted, name)) is not None
    }


def _body(values: dict[str, Any]) -> EstimateInput:
    """Of values that were read already; what is left out is filled in by each trial."""
    fields: dict[str, Any] = {name: values.get(name) for name in EstimateInput.model_fields}
    return EstimateInput.model_construct(**fields)


def unplaced_job(wanted: SearchInput, model: ReadModel) -> Job:
    """The job without an instance, by the first of its methods. Raises InvalidInput for a recipe that cannot run."""
    return prepare(_body(_stated(wanted) | {"method": methods_for(wanted)[0]}), model).job


def budget_in(budget: Decimal | None, rate: Decimal | None, currency: str) -> Decimal | None:
    """The search's budget in another currency, as it is shown; ``rate``: of one unit there in the search's currency."""
    return None if budget is None or rate is None else round_to_minor(budget / rate, currency)


class Place:
    """An offer as a search sees it: what its instances cost together, and how often they are taken away."""

    def __init__(
        self,
        wanted: SearchInput,
        offer: Offer,
        instances: int,
        today: date,
        rate: Decimal | None,
        histories: SpotHistories,
    ) -> None:
        self.wanted, self.offer, self.instances, self.rate = wanted, offer, instances, rate
        price = price_of_offer(offer, today, instances)
        assert price is not None  # noqa: S101 - offers without a price were left out
        self.per_hour = price.per_hour
        self.discount = discount_on(offer, today)
        self.terms = wanted
        self.values: dict[str, Any] = {"price": price}
        if wanted.data_region is not None and offer.region:
            self.values["region"] = offer.region
        self.is_spot = offer.billing == "spot"
        if (spot := spot_of_offer(wanted.spot, offer, instances, histories)) is not None:
            self.values["spot"] = spot
            self.terms = wanted.model_copy(update={"spot": spot})
        self.budget = budget_in(wanted.budget, rate, offer.currency)
        if self.budget is not None:
            self.values["budget"] = self.budget

    def option(self, trial: Trial) -> Option:
        """The recipe at this offer's price."""
        hours, amount, expected = trial.answer.time.hours, None, None
        if hours is not None:
            spot = spot_of(self.terms, "spot", trial.job) if self.is_spot else None
            expected = expected_hours(hours, spot)
            amount = round_to_minor(cost_of(expected, self.per_hour), self.offer.currency)
            hours = billed_hours(hours, spot)
        within = (
            trial.fits and self._is_affordable(amount) and self._is_in_time(hours)
        )
        return Option(
            place=self,
            trial=trial,
            within=within,
            safely_within=within and self._is_in_time(expected),
            hours=hours,
            amount=amount,
            comparable=None if self.rate is None or amount is None else amount * self.rate,
        )

    def _is_in_time(self, hours: float | None) -> bool:
        deadline = self.wanted.deadline_hours
        return deadline is None or (hours is not None and hours <= deadline)

    def _is_affordable(self, amount: Decimal | None) -> bool:
        # A budget in a currency that no rate leads to cannot be said to suffice.
        if self.wanted.budget is None:
            return True
        return amount is not None and self.budget is not None and amount <= self.budget


def _rank(option: Option) -> tuple[Any, ...]:
    """Inside budget and deadline first, then what fits, then the rest; cheaper, faster, smaller first."""
    unknown = Decimal("Infinity")
    return (
        not option.safely_within,
        not option.within,
        not option.fits,
        unknown if option.comparable is None else option.comparable,
        float("inf") if option.hours is None else option.hours,
        option.trial.answer.footprint.required_bytes or 0,
        option.offer.id or 0,
    )


def _frontier(options: Iterable[Option]) -> frozenset[int]:
    """Fitting options that no other of their currency beats in both cost and hours."""
    by_currency: dict[str, list[Option]] = defaultdict(list)
    for option in options:
        if option.fits and option.amount is not None and option.hours is not None:
            by_currency[option.offer.currency].append(option)
    found: set[int] = set()
    for group in by_currency.values():
        # In order of cost: one stays while nothing strictly cheaper is strictly faster.
        group.sort(key=lambda one: (one.amount, one.hours))
        fastest_cheaper = fastest = float("inf")
        amount: Decimal | None = None
        for one in group:
            if one.amount != amount:
                fastest_cheaper, amount = fastest, one.amount
            hours = one.hours or 0.0
            if hours <= fastest_cheaper:
                found.add(id(one))
            fastest = min(fastest, hours)
    return frozenset(found)


class Rates:
    """What one unit of a currency is in the search's; looked up once each."""

    def __init__(self, session: Session, actor: Actor, currency: str) -> None:
        self.session, self.actor, self.currency = session, actor, currency
        self.known: dict[str, Decimal | None] = {currency: Decimal(1)}

    def to(self, currency: str) -> Decimal | None:
        """None where no rate leads there."""
        if currency not in self.known:
            team_id, today = self.actor.team_id, self.actor.today
            found = find_comparing_rate(self.session, team_id, currency, self.currency, today)
            self.known[currency] = None if found is None else found.rate
        return self.known[currency]
