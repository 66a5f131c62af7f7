"""What `make audit` makes of answers, and of none."""

from __future__ import annotations

import json

import pytest
from scripts import audit


def _answer(*packages: dict[str, object]) -> str:
    return json.dumps({"dependencies": [{"name": "a", "version": "1"} | p for p in packages]})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (_answer({"vulns": []}), "checked, nothing known"),
        (_answer({"vulns": []}, {"skip_reason": "not on PyPI"}), "NOT CHECKED: 1: a"),
        (_answer({"skip_reason": "x"}, {"vulns": [{"id": "PYSEC-1"}]}), "VULNERABLE: a 1: PYSEC-1"),
        (_answer(), "NOT CHECKED"),
        ("", "NOT CHECKED"),
        ("[]", "NOT CHECKED"),
    ],
)
def test_what_was_not_checked_is_said(text: str, says: str) -> None:
    assert says in str(audit.read_packages(text))


@pytest.mark.parametrize(
    ("vulnerable", "unchecked", "code"), [([], [], 0), ([], ["b"], 2), (["b"], ["c"], 1)]
)
def test_silence_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, vulnerable: list[str], unchecked: list[str], code: int
) -> None:
    found = audit.Audit("crates", vulnerable, unchecked)
    monkeypatch.setattr(audit, "packages", lambda: audit.Audit("packages", [], []))
    monkeypatch.setattr(audit, "crates", lambda: found)
    assert audit.main() == code
