"""Layouts of drawings: numbers in, positions and path strings out; templates draw them. Pure, standard library only."""

from app.web.charts.bars import BudgetBar, StackedBar, build_budget_bar, build_stacked_bar
from app.web.charts.scatter_chart import Alternative, ScatterChart, build_scatter_chart
from app.web.charts.sparkline import Sparkline, build_sparkline
from app.web.charts.spend_chart import PlotSize, SpendChart, build_spend_chart

__all__ = [
    "Alternative",
    "BudgetBar",
    "PlotSize",
    "ScatterChart",
    "Sparkline",
    "SpendChart",
    "StackedBar",
    "build_budget_bar",
    "build_scatter_chart",
    "build_sparkline",
    "build_spend_chart",
    "build_stacked_bar",
]
