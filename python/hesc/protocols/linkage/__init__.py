"""Private record linkage: two parties find who occurs in both, and learn nothing else.

A and B share a `hesc.codes.HashKey` and make codes of their records. A third party holds the secret
key of the encryption and neither codes nor hash key: the `Matcher`, in
`hesc.protocols.linkage.client`. A encrypts its codes for B (`Sender`), B compares and hides them
(`Comparer`), the matcher decrypts distances of records whose order it does not know, and both learn
the matches. docs/linkage.md is the tutorial, SECURITY.md says what each sees.

    plan = LinkagePlan(sent=300, compared=500)
    matcher = Matcher(plan)
    sender = Sender(plan, matcher.public_keys(), own_codes)
    comparer = Comparer(plan, matcher.public_keys(), own_codes)
    for piece in comparer.pieces(sender.messages()):
        matcher.read(piece)
    answer = matcher.answer(threshold)
    sender.matched(answer), comparer.matched(answer)
"""

from hesc.protocols.linkage.matching import Quality, Threshold, choose_threshold, quality
from hesc.protocols.linkage.party import Sender
from hesc.protocols.linkage.plan import LinkagePlan
from hesc.protocols.linkage.server import Comparer

__all__ = [
    "Comparer",
    "LinkagePlan",
    "Quality",
    "Sender",
    "Threshold",
    "choose_threshold",
    "quality",
]
