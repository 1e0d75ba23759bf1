"""What a request or a form says of a project."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from app.fields import CurrencyField, Day, Input, LongText, Name, PriceField

BudgetPeriodField = Literal["total", "monthly", "weekly"]
CountsField = Literal["billed", "list"]
Threshold = Annotated[int, Field(ge=1, le=1000)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]


class BudgetInput(Input):
    """A budget."""

    amount: PriceField
    period: BudgetPeriodField
    starts_on: Day
    ends_on: Day | None = None
    counts: CountsField = "billed"
    block_when_spent: bool = False


class ProjectInput(Input):
    """A new project."""

    name: Name
    goal: LongText = ""
    currency: CurrencyField
    target: PriceField | None = None
    alert_thresholds: Annotated[list[Threshold], Field(max_length=20)] = [50, 80, 100]
    budget: BudgetInput


class BudgetPatch(Input):
    """What changes of a budget; the rest stays as it is in force."""

    amount: PriceField | None = None
    period: BudgetPeriodField | None = None
    starts_on: Day | None = None
    ends_on: Day | None = None
    counts: CountsField | None = None
    block_when_spent: bool | None = None


class ProjectPatch(Input):
    """What changes of a project; ``reason`` says why its budget does."""

    name: Name | None = None
    goal: LongText | None = None
    currency: CurrencyField | None = None
    target: PriceField | None = None
    alert_thresholds: Annotated[list[Threshold], Field(max_length=20)] | None = None
    budget: BudgetPatch | None = None
    reason: Reason = ""
