"""Features depend one way, and the plumbing on none of them; the contracts stand in pyproject.toml."""

from importlinter.cli import lint_imports


def test_no_module_imports_against_the_direction_of_the_design() -> None:
    assert lint_imports(no_cache=True) == 0
