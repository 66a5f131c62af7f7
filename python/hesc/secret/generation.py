"""New keys, from the operating system's randomness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from hesc._native import ParameterError
from hesc._support.inputs import of_kind, one_name, whole
from hesc._support.memory import make_room
from hesc.packing.moves import spreading_elements
from hesc.params.parameter_set import explained
from hesc.params.streams import Params
from hesc.params.vectors import LeveledParams
from hesc.secret.keys import SecretKey
from hesc.secret.leveled import LeveledSecretKey
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Sequence


def keygen(
    params: Params,
    *,
    bootstrapping: bool = False,
    mode: Literal["encrypt", "simulate"] = "encrypt",
) -> tuple[SecretKey, PublicKeys]:
    """A new key pair from the operating system's randomness.

    Args:
        params: the parameter set.
        bootstrapping: scheme "tfhe": make what servers run gate circuits with, 42 MB at a ring
            degree of 2048. Cost: 0.4 s of one core, on all cores.
        mode: "simulate" gives keys that encrypt nothing: the same program then runs on bits in the
            clear with the layout of these parameters, many times faster, and answers have the
            errors that encrypted ones have. What the scheme itself cannot do is not simulated:
            masks (multiplexed and allocated sums) on sets without slots, products beyond its
            number, noise that runs out. Encryption refuses these, always before an answer. Fusion
            as digits needs counts: `Params.insecure_plain` simulates that.

    """
    of_kind(bootstrapping, "bootstrapping", bool, "it is True or False")
    if not isinstance(params, Params):
        raise TypeError(
            f"keygen takes a parameter set, not {params!r}: hesc.Params.preset(name) or "
            f"hesc.Params.recommended(scheme); a leveled set goes to hesc.leveled_keygen"
        )
    if one_name(mode, "mode", ("encrypt", "simulate")) == "simulate":
        params = params.simulated()
    secret, public = params.native.generate_keys()
    key, keys = SecretKey(params, secret), PublicKeys(params, {"public": public})
    return key, key.with_bootstrapping(keys) if bootstrapping else keys


@explained
def leveled_keygen(
    params: LeveledParams,
    *,
    products: bool = True,
    rotations: Sequence[int] = (),
    conjugate: bool = False,
    slot_rotations: Sequence[tuple[int, int]] = (),
    unpacking: bool | Literal["extract"] = False,
    spreading: bool = False,
) -> tuple[LeveledSecretKey, PublicKeys]:
    """New keys of a scheme with multiplication, from the operating system's randomness.

    Args:
        params: the parameter set.
        products: make the relinearisation key.
        rotations: steps to make keys for; each is as large as the relinearisation key.
        conjugate: make the key for complex conjugates (CKKS) or for swapping rows.
        slot_rotations: odd rings: pairs of a dimension and steps along it.
        unpacking: odd rings: make the keys of all Frobenius maps; "extract" makes the few that
            `EncryptedSlots.extract` needs.
        spreading: odd rings: make the keys for one message to a ciphertext (`packing.Spread`).

    """
    of_kind(
        params,
        "what leveled_keygen takes",
        LeveledParams,
        "give it a set that hesc.LeveledParams.recommended or preset makes (keygen is for "
        "hesc.Params)",
    )
    flags = {"products": products, "conjugate": conjugate, "spreading": spreading}
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise ParameterError(f"{name} is True or False; got {flag!r}")
    steps = [whole(step, "rotations", -(2**31), 2**31 - 1) for step in rotations]
    along = list(slot_rotations)
    if any(not isinstance(pair, tuple | list) or len(pair) != 2 for pair in along):
        raise ParameterError("slot_rotations are pairs of a dimension and steps along it")
    elements = [
        params.native.dimension_element(
            whole(dimension, "a dimension", 0), whole(step, "steps", -(2**31), 2**31 - 1)
        )
        for dimension, step in along
    ]
    if conjugate and params.ring_index % 2:
        raise ParameterError("rings of odd index have no rows to swap; leave out conjugate")
    if not isinstance(unpacking, bool) and unpacking != "extract":
        raise ParameterError(f'unpacking is True, False or "extract"; got {unpacking!r}')
    if unpacking == "extract":
        elements += params.native.extraction_elements()
    elif unpacking:
        elements += params.native.unpacking_elements()
    if spreading:
        elements += spreading_elements(params)
    wanted = sorted(set(elements) - {1})
    some = bool(steps or wanted or unpacking or spreading) or conjugate
    # Steps around a row are one.
    apart = {step % max(1, params.slot_count // 2) for step in steps} - {0}
    _room_for_keys(params, len(apart) + len(wanted) + products + conjugate)
    secret, public = params.native.generate_keys()
    keys: dict[str, object] = {"public": public}
    if products:
        keys["relinearisation"] = secret.relin_key()
    if some:
        keys["rotations"] = secret.galois_keys(steps, conjugate, wanted)
    return LeveledSecretKey(params, secret), PublicKeys(params, keys)


def _room_for_keys(params: LeveledParams, count: int) -> None:
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
