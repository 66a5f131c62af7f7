"""Private record linkage: two parties find who occurs in both, and learn nothing else.

A and B share a `hesc.codes.HashKey` and make codes of their records. A third party, the
`Matcher`, holds the secret key of the encryption and neither codes nor hash key. A encrypts its
codes for B (`Sender`), B compares and hides them (`Comparer`), the matcher decrypts distances of
records whose order it does not know, and both learn the matches. docs/linkage.md is the tutorial,
SECURITY.md says what each sees.
"""

from hesc.protocols.linkage.matching import Matcher, Quality, Threshold, choose_threshold, quality
from hesc.protocols.linkage.party import Comparer, Sender
from hesc.protocols.linkage.plan import LinkagePlan

__all__ = [
    "Comparer",
    "LinkagePlan",
    "Matcher",
    "Quality",
    "Sender",
    "Threshold",
    "choose_threshold",
    "quality",
]
