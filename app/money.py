"""Money: exact decimals with a currency; pure.

Amounts are exact to six decimals (micro-units) and are rounded half up to the currency's minor unit only where shown.
Amounts of different currencies are never added.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

MICRO = Decimal("0.000001")
ZERO = Decimal(0)
# Beyond this a sum of many amounts could leave the 64-bit integer of micro-units that stores it.
LARGEST_AMOUNT = Decimal(10) ** 11
# An estimate may come to more than anybody owns; it is rounded all the same.
_WIDE = Context(prec=400)

# Minor units that are not two digits: ISO 4217, list one.
_MINOR_DIGITS = dict.fromkeys(
    [
        "BIF",
        "CLP",
        "DJF",
        "GNF",
        "ISK",
        "JPY",
        "KMF",
        "KRW",
        "PYG",
        "RWF",
        "UGX",
        "VND",
        "VUV",
        "XAF",
        "XOF",
        "XPF",
    ],
    0,
) | dict.fromkeys(["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"], 3)

CURRENCIES = frozenset(
    """AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP
    CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR
    ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT
    MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD
    SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV
    WST XAF XCD XOF XPF YER ZAR ZMW ZWG""".split()
)

_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")


class AmountError(ValueError):
    """A text that is no amount; ``reason`` is ``not_decimal``, ``too_many_decimals`` or ``too_large``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Money:
    """An exact amount in one currency (ISO 4217 code)."""

    amount: Decimal
    currency: str

    def __add__(self, other: "Money") -> "Money":
        if other.currency != self.currency:
            raise ValueError(f"cannot add {other.currency} to {self.currency}")
        return Money(self.amount + other.amount, self.currency)


def parse_amount(text: str) -> Decimal:
    """A decimal text to an exact amount with at most six decimals. Raises AmountError."""
    if len(text) > 40 or not _DECIMAL.fullmatch(text):
        raise AmountError("not_decimal")
    amount = Decimal(text)
    if abs(amount) > LARGEST_AMOUNT:
        raise AmountError("too_large")
    if amount != round_to_micro(amount):
        raise AmountError("too_many_decimals")
    return amount


def round_to_micro(amount: Decimal) -> Decimal:
    """Half up to a micro-unit: the precision in which money is stored."""
    return amount.quantize(MICRO, ROUND_HALF_UP, _WIDE)


def minor_digits(currency: str) -> int:
    """Digits after the point that the currency is shown with (ISO 4217)."""
    return _MINOR_DIGITS.get(currency, 2)


def round_to_minor(amount: Decimal, currency: str) -> Decimal:
    """Half up to the currency's minor unit: for showing only."""
    return amount.quantize(Decimal(1).scaleb(-minor_digits(currency)), ROUND_HALF_UP, _WIDE) + ZERO


def format_amount(amount: Decimal, currency: str) -> str:
    """The plain decimal text at the currency's minor unit: ``19.20``."""
    return f"{round_to_minor(amount, currency):f}"


def format_unit_price(price: Decimal, currency: str) -> str:
    """A unit price: at least the minor unit's digits, up to six where it has them: ``3.20``, ``0.4125``."""
    exact = round_to_micro(price).normalize()
    digits = max(minor_digits(currency), -int(exact.as_tuple().exponent))
    return f"{exact:.{digits}f}"


def rounding_difference(shown_total: Decimal, rows: Iterable[Decimal], currency: str) -> Decimal:
    """What a report prints as its rounding line: the total shown minus the sum of the rows shown."""
    return round_to_minor(shown_total, currency) - sum((round_to_minor(row, currency) for row in rows), ZERO)
