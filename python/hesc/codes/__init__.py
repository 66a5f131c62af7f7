"""Binary codes, whose Hamming distances say how alike things are, and these distances encrypted.

`SignProjection` makes codes of vectors, `RecordCoder` keyed codes of records. One party encrypts
its codes, another adds them to clear ones, who has the secret key reads distances
(`hesc.codes.secret.encrypt_codes`, `EncryptedCodes.distances`, `decrypt_distances`):

>>> import numpy as np, hesc
>>> from hesc.codes import EncryptedCodes, EncryptedDistances, SignProjection, nearest
>>> from hesc.codes.secret import decrypt_distances, encrypt_codes
>>> params = hesc.Params.preset("bfv_1024_distances")
>>> secret, public = hesc.keygen(params)
>>> gallery, query = np.eye(8), np.eye(8)[[5]] + 0.1
>>> coder = SignProjection(8, bits=256, random_state=1)
>>> asked = encrypt_codes(secret, coder.encode(query))
>>> answer = EncryptedCodes.from_bytes(params, asked).distances(coder.encode(gallery)).to_bytes()
>>> distances = decrypt_distances(secret, EncryptedDistances.from_bytes(params, answer))
>>> distances.shape, nearest(distances[:, 0], 1).tolist()
((8, 1), [5])

Where whoever compares must see neither side, `hesc.codes.secret.encrypt_gallery`
and `encrypt_probes` encrypt both, and an `EncryptedGallery` compares them.
"""

from hesc._native import GalleryPlan
from hesc.codes.encrypted_codes import EncryptedCodes, EncryptedDistances
from hesc.codes.galleries import EncryptedGallery
from hesc.codes.records import Field, HashKey, RecordCoder
from hesc.codes.rows import hamming, nearest, packed, unpacked
from hesc.codes.vectors import SignProjection

__all__ = [
    "EncryptedCodes",
    "EncryptedDistances",
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
