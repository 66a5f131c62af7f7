"""New keys, from the operating system's randomness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import one_name, whole
from hesc._support.memory import make_room
from hesc.params.parameter_set import Params, explained
from hesc.params.stream_params import StreamParams
from hesc.params.vectors import VectorParams
from hesc.secret.secret_key import SecretKey
from hesc.vectors.keys import PublicKeys
from hesc.vectors.steps import spreading_elements

if TYPE_CHECKING:
    from collections.abc import Sequence


@explained
def keygen(
    params: Params,
    *,
    products: bool | None = None,
    rotations: Sequence[int] = (),
    conjugate: bool = False,
    slot_rotations: Sequence[tuple[int, int]] = (),
    unpacking: bool | Literal["extract", "bytes"] = False,
    spreading: bool = False,
    bootstrapping: bool = False,
    mode: Literal["encrypt", "simulate"] = "encrypt",
) -> tuple[SecretKey, PublicKeys]:
    """New keys of any set, from the operating system's randomness.

    Sets for vectors have keys for products, rotations, unpacking and spreading; sets of "tfhe" the
    one to bootstrap with; all sets for streams can be simulated. An option that a set has no use
    for is refused by name.

    Args:
        params: the parameter set.
        products: vectors: make the relinearisation key, as is done by default.
        rotations: vectors: steps to make keys for; each is as large as the relinearisation key.
        conjugate: vectors: make the key for complex conjugates (CKKS) or for swapping rows.
        slot_rotations: odd rings: pairs of a dimension and steps along it.
        unpacking: odd rings: make the keys of all Frobenius maps; "extract" makes the few that
            `EncryptedSlots.extract` needs, "bytes" the seven that AES does.
        spreading: odd rings: make the keys for one message to a ciphertext (`packing.Spread`).
        bootstrapping: scheme "tfhe": make what servers run gate circuits with, 42 MB at a ring
            degree of 2048. Cost: 0.4 s of one core, on all cores.
        mode: streams: "simulate" gives keys that encrypt nothing: the same program then runs on
            bits in the clear with the layout of these parameters, many times faster, and answers
            have the errors that encrypted ones have. What the scheme itself cannot do is not
            simulated: masks (multiplexed and allocated sums) on sets without slots, products beyond
            its number, noise that runs out. Encryption refuses these, always before an answer.
            Fusion as digits needs counts: `Params.insecure_plain` simulates that.

    Raises:
        ParameterError: what is no parameter set; an option that the set has no use for, or of
            another type.

    """
    flags = {
        "conjugate": conjugate,
        "spreading": spreading,
        "bootstrapping": bootstrapping,
        "products": products is not None and products,
    }
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise ParameterError(f"{name} is True or False; got {flag!r}")
    simulated = one_name(mode, "mode", ("encrypt", "simulate")) == "simulate"
    own = {"bootstrapping": bootstrapping, 'mode="simulate"': simulated}
    others = {
        "products": products is not None,
        "rotations": bool(rotations),
        "conjugate": conjugate,
        "slot_rotations": bool(slot_rotations),
        "unpacking": unpacking is not False,
        "spreading": spreading,
    }
    if isinstance(params, VectorParams):
        _refuse(params, "vectors", own)
        asked = _Rotations(rotations, conjugate, slot_rotations, unpacking, spreading)
        return _of_vectors(params, products is not False, asked)
    if not isinstance(params, StreamParams):
        raise ParameterError(
            f"keygen takes a parameter set, not {params!r}: hesc.Params.preset(name) or "
            f"hesc.Params.recommended(scheme)"
        )
    _refuse(params, "streams", others)
    if bootstrapping and params.scheme != "tfhe":
        _refuse(params, params.scheme, {"bootstrapping": True})
    if simulated:
        params = params.simulated()
    native, public = _native.StreamSecretKey.generate(params)
    secret, keys = SecretKey(params, native), PublicKeys(params, {"public": public})
    return secret, secret.with_bootstrapping(keys) if bootstrapping else keys


# Frobenius maps of a field of 2^8 elements, but for the identity.
_MAPS_OF_BYTES: Final = 7


def _refuse(params: StreamParams | VectorParams, what: str, options: dict[str, bool]) -> None:
    """Refuses options that were given to a set that has no use for them."""
    given = [name for name, is_given in options.items() if is_given]
    if given:
        raise ParameterError(
            f"{params.name} is a set for {what}, which has no use for {', '.join(given)}: leave it "
            "out, or take another set"
        )


class _Rotations(NamedTuple):
    """What moves values in slots."""

    steps: Sequence[int]
    conjugate: bool
    along: Sequence[tuple[int, int]]
    unpacking: bool | Literal["extract", "bytes"]
    spreading: bool


def _of_vectors(
    params: VectorParams, products: bool, asked: _Rotations
) -> tuple[SecretKey, PublicKeys]:
    steps = [whole(step, "rotations", -(2**31), 2**31 - 1) for step in asked.steps]
    along = list(asked.along)
    if any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in along):
        raise ParameterError("slot_rotations are pairs of a dimension and steps along it")
    elements = [
        params.dimension_element(
            whole(dimension, "a dimension", 0), whole(step, "steps", -(2**31), 2**31 - 1)
        )
        for dimension, step in along
    ]
    if asked.conjugate and params.ring_index % 2:
        raise ParameterError("rings of odd index have no rows to swap; leave out conjugate")
    if not isinstance(asked.unpacking, bool) and asked.unpacking not in {"extract", "bytes"}:
        raise ParameterError(
            f'unpacking is True, False, "extract" or "bytes"; got {asked.unpacking!r}'
        )
    if asked.unpacking == "extract":
        elements += params.extraction_elements()
    elif asked.unpacking:
        # In the order of their powers.
        maps = params.unpacking_elements()
        elements += maps[:_MAPS_OF_BYTES] if asked.unpacking == "bytes" else maps
    if asked.spreading:
        elements += spreading_elements(params)
    wanted = sorted(set(elements) - {1})
    some = bool(steps or wanted or asked.unpacking or asked.spreading) or asked.conjugate
    # Steps around a row are one.
    apart = {step % max(1, params.slot_count // 2) for step in steps} - {0}
    _room_for_keys(params, len(apart) + len(wanted) + products + asked.conjugate)
    secret, public = _native.VectorSecretKey.generate(params)
    keys: dict[str, object] = {"public": public}
    if products:
        keys["relinearisation"] = secret.relin_key()
    if some:
        keys["rotations"] = secret.galois_keys(steps, asked.conjugate, wanted)
    return SecretKey(params, secret), PublicKeys(params, keys)


def _room_for_keys(params: VectorParams, count: int) -> None:
    """Refuses evaluation keys that there is no memory for: two elements for each digit of a part.

    Raises:
        MemoryError: naming what there is and what they take.

    """
    special = len(params.special_moduli)
    if special:
        moduli = len(params.coeff_moduli)
        digits = -(-moduli // special)
        needed = count * 2 * digits * (moduli + special) * 8 * params.ring_degree
        make_room(needed, f"{count:,} evaluation keys")
