"""Which parameters a keystream of some length fits, and the circuit that computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Never

import numpy as np

from hesc import _native
from hesc._native import CircuitError, NoiseBudgetError, ParameterError, ShapeError
from hesc._support.inputs import of_kind, whole
from hesc._support.progress import Bar
from hesc.integers.encrypted_integers import EncryptedIntegers
from hesc.integers.kinds import IntegerKind, kind_of
from hesc.integers.transciphering.stream_cipher_messages import Shape, StreamCipherMessage
from hesc.params.parameter_set import Params
from hesc.params.vectors import VectorParams
from hesc.vectors.evaluation import relin_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import DTypeLike

PRESETS: Final = ("bgv_21845_circuits", "bgv_21845_deep", "bgv_65535")
"""Parameters that are tried, from the fastest."""

_KEY: Final = IntegerKind(128)


class Decipherer(_native.SlotPlan):
    """What turns messages into encrypted integers; `plan` makes one."""

    kind: IntegerKind
    params: VectorParams
    shape: Shape
    """How messages are cut into streams: `CipherKey.encrypt` takes it."""

    def __new__(
        cls,
        circuit: _native.Circuit,
        kind: IntegerKind,
        params: VectorParams,
        blocks: int,
        spare: int,
    ) -> Self:
        """The circuit that deciphers so many numbers of a stream, for the slots of a set."""
        public = _KEY.width + blocks * kind.width
        made = super().__new__(cls, circuit, params, spare, public=public, under_secret_key=True)
        made.kind, made.params = kind, params
        made.shape = Shape(params.slot_count, blocks)
        return made

    def __reduce__(self) -> Never:
        raise TypeError(
            "a Decipherer is not pickled or copied; make it again from what it was made from"
        )

    def __repr__(self) -> str:
        return (
            f"<hesc.integers.transciphering.Decipherer: {self.params.name}, {self.shape.slots} "
            f"streams of {self.shape.blocks} {self.kind}, depth {self.depth}, "
            f"{self.seconds:.3g} s a run>"
        )

    def decipher(
        self,
        key: EncryptedIntegers,
        message: StreamCipherMessage,
        *,
        progress: bool | Callable[[int, int], object] = True,
    ) -> EncryptedIntegers:
        """The numbers of a message, encrypted; nothing is decrypted on the way.

        Args:
            key: the cipher's key, as `hesc.integers.read` has read it.
            message: what `CipherKey.encrypt` made for `shape`.
            progress: whether to show a bar, or what to call with the products done and all.

        A message under another key than the encrypted one gives numbers without meaning: the cipher
        cannot tell. Cost: `seconds` for each of `message.runs`, shared among cores.

        Raises:
            ParameterError, ShapeError: another set's key, a message of another shape or type.
            CircuitError: a key that is no fresh encryption under the secret key, where the noise of
                others leaves no room; `spare` holds for fresh ones.

        """
        of_kind(key, "key", EncryptedIntegers, "hesc.integers.read(plan.params, bytes) makes it")
        of_kind(message, "message", StreamCipherMessage, "StreamCipherMessage.from_bytes reads one")
        if key.kind != _KEY or len(key) != self.params.slot_count:
            raise ParameterError(
                f"a cipher's key is {self.params.slot_count} numbers of {_KEY}, all the same; got "
                f"{len(key)} of {key.kind}: CipherKey.encrypt_to_bytes makes it"
            )
        if message.shape != self.shape or message.kind != self.kind:
            raise ShapeError(
                f"the message has {message.kind} in {message.shape}; the plan is for {self.kind} "
                f"in {self.shape}: encrypt with shape=plan.shape"
            )
        relin = relin_of([key])
        inputs, width = key.blocks[0], self.kind.width
        self.check(relin, inputs)
        blocks: list[list[_native.Ciphertext]] = []
        with Bar("products", progress) as bar:
            for run in range(message.runs):

                def report(done: int, total: int, before: int = run) -> None:
                    bar.show(before * total + done, message.runs * total)

                rows = message.public_rows(run).view(np.uint8)
                bits = self.evaluate(relin, inputs, report, rows)
                blocks.extend(bits[at : at + width] for at in range(0, len(bits), width))
        # Streams of the last run may have more blocks than there are numbers.
        needed = -(-len(message) // self.params.slot_count)
        return EncryptedIntegers(key.params, self.kind, len(message), blocks[:needed], key.keys)


def plan(
    dtype: DTypeLike | IntegerKind,
    *,
    bits: int = 125,
    spare: int = 0,
    params: VectorParams | None = None,
) -> Decipherer:
    """Chooses parameters for numbers that travel under the cipher.

    Args:
        dtype: of the numbers: "uint8", numpy.int16, "bool" ...
        bits: of keystream for each stream, at most: 40 take 12 products in sequence, 120 take 13,
            and each further one gives about 94 more.
        spare: further products in sequence that the numbers are to have room for.
        params: a set of one's own; `PRESETS` by default, of which the first that fits is taken.

    Cost: seconds.

    Raises:
        CircuitError: too deep for every set, with what each has room for.

    """
    kind = kind_of(dtype)
    blocks = whole(bits, "bits", 1, 1 << 12) // kind.width
    if not blocks:
        raise ParameterError(f"a stream of {bits} bits holds no {kind}: take bits={kind.width}")
    circuit = _native.decipherer(blocks * kind.width)
    spare = whole(spare, "spare", 0, 255)
    reasons: list[str] = []
    for chosen in map(Params.preset, PRESETS) if params is None else (params,):
        of_kind(chosen, "params", VectorParams, "Params.preset(name) makes it")
        if chosen.plain_modulus != 2:
            raise ParameterError("streams of bits take plaintext modulus 2: a preset of PRESETS")
        try:
            return Decipherer(circuit, kind, chosen, blocks, spare)
        except (CircuitError, NoiseBudgetError) as error:
            reasons.append(f"{chosen.name}: {str(error).split(':', maxsplit=1)[0]}")
    more = f", with {spare} more for the numbers" if spare else ""
    raise CircuitError(
        f"no set has room for {blocks * kind.width} bits of keystream{more}: {'; '.join(reasons)}. "
        "Ask for fewer bits or less spare"
    )
