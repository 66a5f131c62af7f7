"""How public objects go to other processes: by their wire forms, which are checked on arrival.

Secrets and what counts draws refuse instead, each saying what to do.
"""

from __future__ import annotations

from typing import Any


class ByWireForm:
    """Pickled and copied as `to_bytes` and `from_bytes` of its parameters have it."""

    def __reduce__(self) -> tuple[Any, ...]:
        whole: Any = self
        return type(whole).from_bytes, (whole.params, whole.to_bytes())
