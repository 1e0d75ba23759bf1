"""The words that all formats of the report share."""

from app.i18n import Message

STATES = {
    "running": Message("running"),
    "finished": Message("finished"),
    "interrupted": Message("interrupted"),
    "failed": Message("failed"),
    "lost_contact": Message("lost contact"),
}
BILLINGS = {
    "on_demand": Message("on demand"),
    "spot": Message("spot"),
    "monthly": Message("monthly"),
}
CATEGORIES = {
    "usage": Message("usage"),
    "credit": Message("credit"),
    "adjustment": Message("adjustment"),
    "tax": Message("tax"),
    "purchase": Message("purchase"),
}
SERVICES = {
    "compute": Message("compute"),
    "storage": Message("storage"),
    "network": Message("network"),
    "other": Message("other"),
}
BUDGET_STATES = {
    "unused": Message("not used yet"),
    "within": Message("within budget"),
    "near": Message("nearly spent"),
    "used_up": Message("used up"),
    "over": Message("over budget"),
}
