"""Who owns what, who may learn what, and what ways of computing would let them learn.

Roles come before parameters: a way that shows somebody more than a task allows is refused,
however fast it is.
"""

from __future__ import annotations

from typing import Final, NamedTuple

SETTINGS: Final = {
    "client_server": "the server knows its model, the client has the samples and the key",
    "outsourced": "samples and key are the client's; the model comes encrypted by its owner, and "
    "the server knows neither",
    "one_side_clear": "the model is nobody's secret; the samples and the key are the client's",
    "many_parties": "each factor has an owner, who encrypts under the client's public key",
}
"""Who owns data, model and key."""
DISCLOSURES: Final = ("class", "scores", "products", "distances")
"""What the key owner may learn of results: a class alone; scores, results themselves; single
products that results are sums of. Distances are results of their own."""
_RANK: Final = {"class": 0, "scores": 1, "distances": 1, "products": 2}


class Sees(NamedTuple):
    """What a way of computing shows to whom, beyond sizes and what both sides agreed upon."""

    learns: str
    """What the key owner decrypts, one of `DISCLOSURES`."""
    model_at_client: bool = False
    """Whether the client is given the model."""
    model_at_server: bool = False
    """Whether the server has the model in the clear."""
    data_at_server: bool = False
    """Whether the server has the samples in the clear."""
    noise_tells: str = ""
    """What the noise of answers tells who decrypts them: "", "the model", "the factors"."""
    besides: str = ""
    """What else the key owner decrypts of some results."""
    one_encryptor: bool = False
    """Whether it is private only where the key owner encrypts everything."""

    def __str__(self) -> str:
        told = [f"client: {self.learns}" + ", the model" * self.model_at_client]
        if self.besides:
            told[0] += f", {self.besides}"
        if self.noise_tells:
            told[0] += f", and {self.noise_tells} by studying noise"
        server = ["the samples"] * self.data_at_server + ["its model"] * self.model_at_server
        return "; ".join([*told, "server: " + (", ".join(server) or "nothing")])


def objection(
    sees: Sees, *, setting: str, disclose: str, own_model: bool, hide_model: bool = False
) -> str:
    """Why a way is refused in a setting; empty where it is not.

    Args:
        sees: what it shows.
        setting: one of `SETTINGS`.
        disclose: the most that the key owner may learn of results.
        own_model: whether the model belongs to the key owner himself.
        hide_model: whether the key owner must not find the model in an answer's noise.

    """
    kept = "the client would keep what is to be outsourced"
    given = "the client would be given the model, which is its owner's"
    hidden = {"outsourced", "many_parties"}
    others = setting == "many_parties" and not own_model
    noise = f"the client could find {sees.noise_tells} in the noise of answers"
    reasons = (
        (sees.data_at_server, "the server would see the samples"),
        (sees.model_at_client and setting != "one_side_clear", kept if own_model else given),
        (sees.model_at_server and setting in hidden, "the server would see what others encrypt"),
        (bool(sees.noise_tells) and others, f"{noise}, which are others'"),
        (
            bool(sees.noise_tells) and hide_model,
            f"{noise}; of what is here ring products alone hide it, whose client sees scores: "
            f"hesc.ml, plan(hidden=True)",
        ),
        (
            sees.learns == "products" and hide_model,
            "the client would see each weight times a feature that it knows, hence the weight: "
            "hesc.ml, plan(hidden=True), hides it",
        ),
        (
            sees.one_encryptor and not own_model,
            "it is private only where the key owner encrypts everything that is multiplied",
        ),
        (
            _RANK[sees.learns] > _RANK[disclose],
            f"the client would see {sees.learns}, and is to see {disclose} alone",
        ),
    )
    return next((reason for holds, reason in reasons if holds), "")
