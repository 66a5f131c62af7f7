"""Encrypted integers: numpy's operators on numbers of 1 to 256 bits, exact.

A number's bits lie in ciphertexts of their own, as many numbers beside each other as there are
slots, or along the slots of one, which is for few numbers. A plan chooses parameters, layout and
circuits before anything is encrypted:

>>> from hesc import integers, keygen
>>> plan = integers.plan(lambda a, b: integers.minimum(a + b, 200), "uint8", "uint8", count=100)
>>> plan.engine  # the circuit goes by the times of the machine that plans
'binary'
>>> secret, public = keygen(plan.params, **plan.keys)
>>> a = integers.encrypt(public, [1, 250, 17], "uint8", layout=plan.upload)
>>> b = integers.encrypt(public, [2, 10, 190], "uint8", layout=plan.upload)
>>> from hesc.integers.secret import decrypt_integers
>>> decrypt_integers(secret, plan(a, b)).tolist()
[3, 4, 200]

Nothing in this package can decrypt but `hesc.integers.secret`.
"""

from __future__ import annotations

from hesc.integers.bootstrapped import BootstrappedIntegers, IntegerAnswer
from hesc.integers.candidates import ENGINES
from hesc.integers.encrypted_integers import EncryptedIntegers
from hesc.integers.encryption import encrypt, read
from hesc.integers.expressions import Integers, dot, maximum, median, minimum, sort, total, where
from hesc.integers.fixed_point import FixedPoint
from hesc.integers.floating_point import FloatingPoint
from hesc.integers.integer_plans import IntegerPlan, evaluate, plan
from hesc.integers.kinds import IntegerKind
from hesc.integers.layouts import LAYOUTS, PackedIntegers, SlotwiseArray
from hesc.integers.moments import Moments, sums
from hesc.integers.slotwise import Slotwise, SlotwiseIntegers, SlotwiseTruths

__all__ = [
    "ENGINES",
    "LAYOUTS",
    "BootstrappedIntegers",
    "EncryptedIntegers",
    "FixedPoint",
    "FloatingPoint",
    "IntegerAnswer",
    "IntegerKind",
    "IntegerPlan",
    "Integers",
    "Moments",
    "PackedIntegers",
    "Slotwise",
    "SlotwiseArray",
    "SlotwiseIntegers",
    "SlotwiseTruths",
    "dot",
    "encrypt",
    "evaluate",
    "maximum",
    "median",
    "minimum",
    "plan",
    "read",
    "sort",
    "sums",
    "total",
    "where",
]
