"""How values stand in JSON answers."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from app.money import Money, format_amount, format_unit_price
from app.time import format_instant
from app.versions import Precondition, etag


class Answer(BaseModel):
    """Base of every answer's model."""

    model_config = ConfigDict(arbitrary_types_allowed=True, from_attributes=True)


class MoneyAnswer(Answer):
    """An amount rounded half up to the currency's minor unit."""

    amount: str = Field(examples=["256.00"])
    currency: str = Field(examples=["CNY"])

    @classmethod
    def of(cls, amount: Decimal, currency: str) -> "MoneyAnswer":
        """The amount as shown."""
        return cls(amount=format_amount(amount, currency), currency=currency)

    @classmethod
    def of_money(cls, money: Money) -> "MoneyAnswer":
        """The amount as shown."""
        return cls.of(money.amount, money.currency)

    @classmethod
    def of_price(cls, price: Decimal, currency: str) -> "MoneyAnswer":
        """A unit price: up to six decimals."""
        return cls(amount=format_unit_price(price, currency), currency=currency)


InstantAnswer = Annotated[datetime, PlainSerializer(format_instant, return_type=str)]


T = TypeVar("T")


class ListAnswer(Answer, Generic[T]):
    """Some items of a list and the cursor of the next ones."""

    items: list[T]
    next_cursor: str | None = None


def with_etag(response: Response, version: int) -> None:
    """Sets the ETag of a single resource."""
    response.headers["ETag"] = etag(version)


def _precondition(if_match: Annotated[str | None, Header()] = None) -> Precondition:
    return Precondition(if_match)


PreconditionHeader = Annotated[Precondition, Depends(_precondition)]


def created(response: Response, request: Request, route: str, **path: Any) -> None:
    """Sets the Location of a resource that was just made."""
    response.headers["Location"] = request.app.url_path_for(route, **path)
