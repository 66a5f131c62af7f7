"""Transciphering: data travel under a stream cipher, and a server makes encrypted integers of them.

The server has the cipher's key (Kreyvium: Canteaut, Carpov and others 2018) in encrypted form. The
owner of the data encrypts it once, a ciphertext for each bit; then numbers take the bits that they
have, rounded up to bytes where they are few, not kilobytes::

    plan = transciphering.plan("uint8")                           # both: parameters and shape
    secret, public = keygen(plan.params)                  # client
    key = CipherKey.generate()
    once = key.encrypt_to_bytes(secret)                           # 83 MB, to the server
    message = key.encrypt([3, 1, 4], "uint8", shape=plan.shape)   # 75 bytes
    stored = integers.read(plan.params, once).with_keys(public)   # server
    numbers = plan.decipher(stored, message)
    decrypt_integers(secret, numbers)                              # client: 3, 1, 4

Data under AES-128, which every device has, take `aes_plan` and `AesKey` instead: a larger set, and
a key of hundreds of megabytes, once.

Nothing in this package can decrypt.
"""

from __future__ import annotations

from hesc.integers.transciphering.aes import AesDecipherer, aes_plan
from hesc.integers.transciphering.deciphering import PRESETS, Decipherer, plan
from hesc.integers.transciphering.stream_cipher_messages import Shape, StreamCipherMessage

__all__ = [
    "PRESETS",
    "AesDecipherer",
    "Decipherer",
    "Shape",
    "StreamCipherMessage",
    "aes_plan",
    "plan",
]
