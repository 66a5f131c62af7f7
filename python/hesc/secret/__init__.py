"""Everything that holds a secret key or can decrypt. No module that a server needs imports this."""

from hesc.secret.ciphers import CipherKey
from hesc.secret.files import wants_passphrase
from hesc.secret.generation import keygen, leveled_keygen
from hesc.secret.keys import (
    SecretKey,
    checked_secret,
    load_secret_key,
    save_secret_key,
)
from hesc.secret.leveled import LeveledSecretKey
from hesc.secret.numbers import Decryptor, SecretEncryptor
from hesc.secret.results import Products, Scores, SharedNumbers

__all__ = [
    "CipherKey",
    "Decryptor",
    "LeveledSecretKey",
    "Products",
    "Scores",
    "SecretEncryptor",
    "SecretKey",
    "SharedNumbers",
    "checked_secret",
    "keygen",
    "leveled_keygen",
    "load_secret_key",
    "save_secret_key",
    "wants_passphrase",
]
