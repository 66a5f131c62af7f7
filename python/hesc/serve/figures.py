"""What a service counts of itself, in the text format of Prometheus."""

from __future__ import annotations

from collections import defaultdict
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

_HELP: Final = {
    "hesc_requests_total": ("counter", "Requests by route and status."),
    "hesc_answers_total": ("counter", "Answers given, computed or kept from before, by model."),
    "hesc_numbers_total": ("counter", "Numbers given by models with hidden weights, by model."),
    "hesc_seconds_total": ("counter", "Seconds of computation, by model."),
    "hesc_received_bytes_total": ("counter", "Bytes of bodies received."),
    "hesc_sent_bytes_total": ("counter", "Bytes of bodies sent."),
    "hesc_jobs_total": ("counter", "Jobs put in the queue, by model."),
    "hesc_jobs_computed_now": ("gauge", "Jobs that are computed at the moment."),
    "hesc_requests_under_way": ("gauge", "Requests with a body that are under way."),
    "hesc_key_bytes": ("gauge", "Bytes of public keys that are kept."),
    "hesc_ready": ("gauge", "1 where the service answers and counts."),
}
_Labels: TypeAlias = tuple[tuple[str, str], ...]
_Count: TypeAlias = tuple[str, _Labels]
"""A count by its name and its labels."""
CONTENT: Final = "text/plain; version=0.0.4; charset=utf-8"
"""What the text is called on the wire."""


class Figures:
    """Counts since the start. They name models and statuses, and nobody who asks."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: defaultdict[_Count, float] = defaultdict(float)

    def add(self, name: str, amount: float = 1, labels: _Labels = ()) -> None:
        """Adds to a count."""
        with self._lock:
            self._counts[name, labels] += amount

    def text(self, now: Mapping[str, float]) -> str:
        """All counts, and what is so at the moment."""
        with self._lock:
            counts = dict(self._counts)
        counts |= {(name, ()): value for name, value in now.items()}
        lines = []
        for name, (kind, help_text) in _HELP.items():
            lines += [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"]
            for (found, labels), value in sorted(counts.items()):
                if found == name:
                    said = ",".join(f'{label}="{text}"' for label, text in labels)
                    named = f"{name}{{{said}}}" if said else name
                    lines.append(f"{named} {value:.12g}")
        return "\n".join(lines) + "\n"
