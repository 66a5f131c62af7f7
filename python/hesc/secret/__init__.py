"""Everything that holds a secret key or can decrypt. No module that a server needs imports this."""

from hesc.secret.files import wants_passphrase
from hesc.secret.generation import keygen
from hesc.secret.keys import SecretKey, checked_secret
from hesc.secret.numbers import Decryptor, SecretEncryptor
from hesc.secret.results import SharedNumbers

__all__ = [
    "Decryptor",
    "SecretEncryptor",
    "SecretKey",
    "SharedNumbers",
    "checked_secret",
    "keygen",
    "wants_passphrase",
]
