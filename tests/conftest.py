"""What all tests share: no example of hypothesis fails for the time that it takes.

By default one that takes 200 milliseconds does, and so do data that are slow to make: on a busy
machine either happens by chance, and is no error of the code.
"""

from __future__ import annotations

import sys

import pytest
from hypothesis import HealthCheck, settings

_OWN = "hesc"
settings.register_profile(
    _OWN,
    settings.get_profile(settings.get_current_profile_name()),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(_OWN)


@pytest.fixture(autouse=True)
def nothing_given_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models of one test that are those of another begin anew, as in a process of their own."""
    # Loading it is not for every test.
    ledger = sys.modules.get("hesc.protocols.ledger")
    if ledger is not None:
        monkeypatch.setattr(ledger, "_HERE", {})
