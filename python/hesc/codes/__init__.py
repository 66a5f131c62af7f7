"""Binary codes, whose Hamming distances say how alike things are, and these distances encrypted.

`SignProjection` makes codes of vectors, `RecordCoder` keyed codes of records:

>>> import numpy as np
>>> from hesc.codes import SignProjection, hamming, nearest
>>> coder = SignProjection(8, bits=256, random_state=1)
>>> gallery, probe = coder.encode(np.eye(8)), coder.encode(np.eye(8)[[5]] + 0.1)
>>> nearest(hamming(probe, gallery)[0], 1).tolist()
[5]

Whose codes are secret says how they are compared under encryption. An encrypted probe with clear
codes is a search (`hesc.search`, `SearchPlan.of_codes`), records of two parties are a linkage
(`hesc.protocols.linkage`).
Where whoever compares must see neither side, `hesc.codes.secret.encrypt_gallery`
and `encrypt_probes` encrypt both, and an `EncryptedGallery` compares them.
"""

from hesc._native import GalleryPlan
from hesc.codes.galleries import EncryptedGallery
from hesc.codes.records import Field, HashKey, RecordCoder
from hesc.codes.rows import hamming, nearest, packed, unpacked
from hesc.codes.vector_codes import SignProjection

__all__ = [
    "EncryptedGallery",
    "Field",
    "GalleryPlan",
    "HashKey",
    "RecordCoder",
    "SignProjection",
    "hamming",
    "nearest",
    "packed",
    "unpacked",
]
