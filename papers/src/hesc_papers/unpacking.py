"""Messages in the slots of odd rings, unpacked, timed and checked: what `carpov2016packing` does.

Shared by figures 3 and 4 and by table 2.
"""

from __future__ import annotations

import math
import statistics
import time
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from hesc._native import HescError, NoiseBudgetError
from hesc.packing import NORMAL, EncryptedSlots, Spread
from hesc.packing import pack as pack_columns
from hesc.packing.secret import decrypt_slots, encrypt_slots
from hesc.params import Params, VectorParams
from hesc.secret import keygen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

# The primes from 5000 to 10 000 modulo which the order of 2 is below 200, by that order, but for
# 5153. The paper counts twelve (section 4.2, where "inferior to 10^5" must mean 10^4) and names ten
# of them; 5153 is the smallest, which its 80 bits of security leave out first.
INDICES: Final = (8191, 5419, 9719, 6361, 8101, 6529, 6553, 5581, 8681, 6679, 7487, 5347)
QUICK_INDICES: Final = (5419,)
# A turn of a call that takes less is repeated.
LEAST_SECONDS: Final = 0.2


class Chain(NamedTuple):
    """Primes of a modulus: of ciphertexts, of keys, and how many of the first are large."""

    coeff_bits: tuple[int, ...]
    special_bits: int
    large: int

    def params(
        self, index: int, plain_modulus: int, assurance: str = "guidelines2024"
    ) -> VectorParams:
        """The parameter set of these primes."""
        found: VectorParams = Params.cyclotomic(
            index,
            self.coeff_bits,
            [self.special_bits],
            plain_modulus=plain_modulus,
            large=self.large,
            assurance=assurance,
        )
        return found


# By index and plaintext modulus. Found by a search over the sizes of up to five primes that fill
# what 128 bits of security allow: of the chains that leave the most products after unpacking, the
# one with the fewest primes, then with the most room behind the last product. Primes have at most
# 50 bits, which the kernels are fastest for. With 51 bits and AVX-512, tfhe-ntt 0.7.1 transforms
# falsely modulo some.
CHAINS: Final = {
    (5347, 2): Chain((36, 36, 30), 36, 2),
    (5419, 2): Chain((37, 35, 31), 37, 1),
    (5581, 2): Chain((39, 36, 30), 39, 1),
    (6361, 2): Chain((44, 44, 31), 45, 1),
    (6529, 2): Chain((48, 39, 33), 48, 1),
    (6553, 2): Chain((48, 38, 34), 49, 1),
    (6679, 2): Chain((49, 38, 36), 49, 1),
    (7487, 2): Chain((46, 34, 33, 32), 48, 1),
    (8101, 2): Chain((49, 40, 36, 34), 50, 1),
    (8191, 2): Chain((50, 45, 33, 33), 50, 1),
    (8681, 2): Chain((46, 35, 34, 33, 32), 46, 1),
    (9719, 2): Chain((50, 47, 40, 35, 31), 50, 1),
    (5347, 1024): Chain((49, 40), 49, 1),
    (5419, 1024): Chain((50, 40), 50, 1),
    (5581, 1024): Chain((50, 44), 50, 1),
    (6361, 1024): Chain((44, 43, 31), 46, 1),
    (6529, 1024): Chain((46, 43, 31), 48, 1),
    (6553, 1024): Chain((48, 40, 32), 49, 1),
    (6679, 1024): Chain((46, 45, 32), 49, 1),
    (7487, 1024): Chain((42, 42, 34, 33), 42, 1),
    (8101, 1024): Chain((49, 44, 35, 31), 50, 1),
    (8191, 1024): Chain((47, 45, 38, 34), 47, 1),
    (8681, 1024): Chain((50, 46, 45, 35), 50, 1),
    (9719, 1024): Chain((48, 47, 42, 35, 31), 50, 1),
}


# Chains of messages modulo 2 that leave seven products after unpacking, as the paper's do, at the
# security that the paper asks for by its library's count. The guidelines of 2024 count less than
# 128 bits: sets are named insecure. Of some that leave seven products the first that was found.
SEVEN_LEFT: Final = {
    6529: Chain((44, 40, 39, 34, 31), 44, 1),
    6553: Chain((44, 40, 38, 34, 32), 44, 1),
    6679: Chain((44, 40, 39, 33, 32), 44, 1),
    7487: Chain((44, 40, 39, 33, 32), 44, 1),
    8101: Chain((44, 40, 39, 34, 31), 44, 1),
    8191: Chain((44, 40, 37, 34, 33), 44, 1),
}


def params_of(index: int, plain_modulus: int) -> VectorParams:
    """The parameter set for messages below this modulus."""
    return CHAINS[index, plain_modulus].params(index, plain_modulus)


def insecure_params_of(index: int) -> VectorParams:
    """A set for messages modulo 2 that leaves seven products, where `params_of` does not."""
    return SEVEN_LEFT[index].params(index, 2, "insecure")


def security_by_papers_count(params: VectorParams) -> float:
    """Bits of security as HElib counted them: Gentry, Halevi and Smart 2012, appendix C."""
    modulus = sum(math.log2(q) for q in (*params.coeff_moduli, *params.special_moduli))
    return 7.2 * params.ring_degree / modulus - 110


class Growth(NamedTuple):
    """Bits of room that an operation takes."""

    measured: float
    """With the secret key."""
    estimated: float
    """From public data: what operations are refused by."""


def timed(call: Callable[[], T], repetitions: int) -> tuple[float, T]:
    """The median of the processor seconds that a call takes, and what it returned last.

    On one thread: those are what it takes on a machine without other work.
    """
    times = []
    while True:
        started = time.process_time()
        result = call()
        times.append(time.process_time() - started)
        if len(times) >= repetitions and (sum(times) > LEAST_SECONDS or repetitions == 1):
            return statistics.median(times), result


class Packed:
    """Keys of a parameter set and as many messages as it packs into a ciphertext."""

    def __init__(self, params: VectorParams, *, spreading: bool = False) -> None:
        self.params = params
        self.secret, self.keys = keygen(params, unpacking=True, spreading=spreading)
        self.slots = params.slot_count
        self.degree = params.ring_degree // self.slots
        rng = np.random.default_rng(0)
        self.modulus = params.plain_modulus or 0
        self.messages = rng.integers(0, self.modulus, (self.slots, self.degree))

    def upload(self, level: int | None = None, content: str = NORMAL) -> bytes:
        """All messages, as they are sent."""
        return encrypt_slots(self.secret, self.messages, level=level, content=content)

    def received(self, level: int | None = None, content: str = NORMAL) -> EncryptedSlots:
        """All messages, as the server has them."""
        data = self.upload(level, content)
        return EncryptedSlots.from_bytes(self.keys.params, data).with_keys(self.keys)

    def decrypted(self, slots: EncryptedSlots) -> Any:
        """What slots hold, from 0 to below the modulus: numbers are decrypted around zero."""
        return decrypt_slots(self.secret, slots) % self.modulus

    def check(self, column: EncryptedSlots, expected: Any) -> None:
        """Decrypts; raises where slots hold anything else."""
        if not np.array_equal(self.decrypted(column), expected):
            raise HescError(f"{self.params.name}: an unpacked ciphertext holds wrong messages")

    def check_columns(self, columns: Sequence[EncryptedSlots]) -> None:
        """Decrypts all outputs of `unpack`."""
        if len(columns) != self.degree:
            raise HescError(f"{self.params.name}: {len(columns)} outputs of {self.degree}")
        for output, column in enumerate(columns):
            self.check(column, self.messages[:, output])

    def growth(self, before: EncryptedSlots, after: Sequence[EncryptedSlots]) -> Growth:
        """The noise growth of the worst of several results, at the level of their operand."""
        if any(slots.level != before.level for slots in after):
            raise HescError("a change of level takes room that is no noise of the operation")
        left = min(self.secret.noise_budget(slots) for slots in after)
        estimated = min(slots.noise_budget for slots in after)
        return Growth(
            self.secret.noise_budget(before) - left,
            before.noise_budget - estimated,
        )

    def products_left(self, columns: Sequence[EncryptedSlots]) -> int:
        """Products in a row, each of two results of the one before, until one is refused.

        From two outputs of `unpack`. Values stay mixed, since a one is added to each product: those
        modulo 2 would soon be zero. All are decrypted and compared.
        """
        x, y = columns[:2]
        a, b = self.messages[:, 0], self.messages[:, 1]
        for products in count():
            try:
                x, y = x * y + 1, x * (y + 1) + 1
            except NoiseBudgetError:
                return products
            a, b = (a * b + 1) % self.modulus, (a * (b + 1) + 1) % self.modulus
            self.check(x, a)
            self.check(y, b)
        raise AssertionError("noise has no end")

    def products_from(self, level: int) -> int:
        """Products in a row after unpacking at a level; -1 where it cannot be unpacked."""
        try:
            return self.products_left(self.received(level).unpack([0, 1]))
        except NoiseBudgetError:
            return -1

    def level_for(self, products: int) -> tuple[int, int]:
        """The lowest level from which so many products are left after unpacking, and how many.

        The highest level and what it leaves where that is less.
        """
        level = len(self.params.levels)
        left = self.products_from(level)
        while level > 1 and left >= products:
            lower = self.products_from(level - 1)
            if lower < products:
                break
            level, left = level - 1, lower
        return level, left

    def spread(
        self, columns: Sequence[EncryptedSlots], seconds: float, most: int | None = None
    ) -> tuple[float, int, list[EncryptedSlots]]:
        """One message to a ciphertext: processor seconds, measured outputs, some ciphertexts.

        Outputs are moved one after the other; when these seconds are over, the rest is taken to be
        as fast, and so is what an output has beyond so many messages. What the last of the measured
        ones became is returned.
        """
        spent, done = 0.0, 0
        asked = self.slots if most is None else min(most, self.slots)
        last: list[EncryptedSlots] = []
        while done < len(columns) and spent <= seconds:
            last, moved = [], iter(Spread(columns[done]))
            while len(last) < asked:
                started = time.process_time()
                found = next(moved, None)
                spent += time.process_time() - started
                if found is None:
                    break
                slot, ciphertext = found
                if self.decrypted(ciphertext)[0] != self.messages[slot, done]:
                    raise HescError(f"{self.params.name}: a message was moved to a wrong place")
                last.append(ciphertext)
            if len(last) != asked or (asked == self.slots and next(moved, None) is not None):
                raise HescError(f"{self.params.name}: {len(last)} messages of {self.slots} moved")
            done += 1
        return spent / done * len(columns) * self.slots / asked, done, last

    def down(self, columns: Sequence[EncryptedSlots]) -> int:
        """Bytes of all outputs packed at the lowest level, as answers travel back."""
        packed = pack_columns([column.mod_switch_to(1) for column in columns])
        self.check(packed, self.messages)
        return len(packed.to_bytes())


def bits_a_message(size: int, packed: Packed) -> float:
    """Bits sent for each bit of the messages."""
    return size * 8 / (packed.messages.size * math.log2(packed.modulus))
