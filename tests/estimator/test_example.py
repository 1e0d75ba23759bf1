"""The estimator is shared with scripts and notebooks: it runs where no package is installed."""

import doctest
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import app.estimator
from app.estimator import Card, Job, Price, Recipe, Spot, Workload, estimate, explain, read_architecture
from tests.estimator.configurations import LLAMA_7B, SD15

PRICE = Price(Decimal("3.20"), "CNY")
ROOT = Path(app.estimator.__file__).parents[2]


def test_the_example_runs_without_any_package() -> None:
    start = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_path(sys.argv[2])"
    script = ROOT / "docs" / "examples" / "estimate.py"
    # -I and -S: neither this folder, nor the environment, nor any installed package can be found.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", start, str(ROOT), str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("6,738,415,616 parameters")
    assert "full: does not fit" in done.stdout
    assert "lora: fits" in done.stdout


def test_the_packages_own_example_is_true() -> None:
    assert doctest.testmod(app.estimator).failed == 0


def test_every_figure_says_where_it_comes_from_and_its_formula_is_documented() -> None:
    documented = {
        line.removeprefix("## ").split(":")[0].split()[0]
        for file in (ROOT / "docs" / "formulas").glob("*.md")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("## ")
    }
    others = {"memory.loading", "memory.evaluation", "memory.saving", "memory.merging"}
    text = (ROOT / "docs" / "formulas" / "memory.md").read_text(encoding="utf-8")
    assert all(f"**{name}**" in text for name in others)
    card = Card("a10", 24_146_608_128, 600e9, 31.2e12, 125e12, 125e12)
    for config, recipe in ((LLAMA_7B, Recipe("lora")), (SD15, Recipe("lora", image_size=512))):
        for job in (
            Job(read_architecture(config), recipe),
            Job(read_architecture(config), recipe, card=card),
            Job(read_architecture(config), recipe, Workload(samples=9), card, price=PRICE),
            Job(read_architecture(config), recipe, Workload(samples=9), card, price=PRICE, spot=Spot(0.1)),
        ):
            found = explain(job, estimate(job))
            assert {one.formula for one in found} <= documented | others
            assert all(one.source and one.inputs for one in found)
