"""Many small messages in one ciphertext, taken apart and put together under encryption.

The slots of a ring of odd index hold elements of a field with `2^d` elements, or of another Galois
ring, by `d` coordinates each: a ciphertext takes up `phi(m)` bits, and `unpack` makes of it `d`
with a bit in each slot (`carpov2016packing`). Sums and products act slot by slot, on elements. What
can encrypt and decrypt under the secret key is in `hesc.packing.secret`.

>>> import numpy as np
>>> import hesc
>>> from hesc import packing
>>> from hesc.packing.secret import decrypt_slots, encrypt_slots
>>> params = hesc.Params.preset("bgv_4369")
>>> secret, keys = hesc.keygen(params, unpacking=True)
>>> bits = np.unpackbits(np.frombuffer(b"512 bytes at a time", dtype=np.uint8))
>>> upload = encrypt_slots(secret, bits)
>>> packed = packing.EncryptedSlots.from_bytes(params, upload)
>>> columns = packed.with_keys(keys).unpack([0, 1])
>>> both = columns[0] * columns[1]
>>> answer = packing.pack([both]).to_bytes()
>>> found = decrypt_slots(secret, packing.EncryptedSlots.from_bytes(params, answer))[:, 0]
>>> bool(np.all(found[:9] == bits[:144:16] * bits[1:144:16]))
True
"""

from hesc.packing.messages import NORMAL, NUMBERS, POWERS
from hesc.packing.moves import Spread, gather
from hesc.packing.slots import EncryptedSlots, encrypt, pack, sum_of_products
from hesc.vectors.steps import spreading_elements

__all__ = [
    "NORMAL",
    "NUMBERS",
    "POWERS",
    "EncryptedSlots",
    "Spread",
    "encrypt",
    "gather",
    "pack",
    "spreading_elements",
    "sum_of_products",
]
