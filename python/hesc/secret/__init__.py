"""Everything that holds a secret key or can decrypt. No module that a server needs imports this."""

from hesc.secret.generation import keygen
from hesc.secret.passphrases import wants_passphrase
from hesc.secret.results import SharedNumbers
from hesc.secret.secret_key import SecretKey
from hesc.secret.stochastic_numbers import Decryptor, SecretEncryptor

__all__ = [
    "Decryptor",
    "SecretEncryptor",
    "SecretKey",
    "SharedNumbers",
    "keygen",
    "wants_passphrase",
]
