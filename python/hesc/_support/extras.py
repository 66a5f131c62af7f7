"""Packages of hesc's extras, those that are missing, and a line that installs them.

hesc is on no package index yet, and a line as `pip install 'hesc[ml]'` would look for it there. The
lines below name the packages themselves, as hesc's own metadata list them, so that they are true
beside a wheel, a clone and a release.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Final

_FOR_EXTRA: Final = re.compile(r"""([\w.-]+)\s*([^;]*?)\s*;\s*extra\s*==\s*['"]([\w-]+)['"]""")
_TOOLS: Final = "dev"
"""The extra of those who work on hesc itself."""


@cache
def extras() -> dict[str, dict[str, str]]:
    """Packages of each extra, with the versions that hesc takes, as `>=1.6`."""
    found: dict[str, dict[str, str]] = {}
    for line in requires("hesc") or []:
        match = _FOR_EXTRA.fullmatch(line)
        if match and match[3] != _TOOLS:
            found.setdefault(match[3], {})[match[1]] = match[2]
    return found


def missing(extra: str) -> list[str]:
    """Packages of an extra that are not installed."""
    return [package for package in extras()[extra] if installed(package) is None]


def installed(package: str) -> str | None:
    """The version of a package, or None where there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def install_line(extra: str) -> str:
    """A command that installs what an extra takes, wherever hesc itself came from.

    >>> install_line("onnx").startswith("pip install 'onnx>=")
    True
    """
    packages = (f"'{package}{wanted}'" for package, wanted in extras()[extra].items())
    return f"pip install {' '.join(packages)}"
