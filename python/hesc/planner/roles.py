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
    one_encryptor: bool = False
    """Whether it is private only where the key owner encrypts everything."""

    def __str__(self) -> str:
        told = [f"client: {self.learns}" + ", the model" * self.model_at_client]
        server = ["the samples"] * self.data_at_server + ["its model"] * self.model_at_server
        return "; ".join([*told, "server: " + (", ".join(server) or "nothing")])


def objection(sees: Sees, *, setting: str, disclose: str, own_model: bool) -> str:
    """Why a way is refused in a setting; empty where it is not.

    Args:
        sees: what it shows.
        setting: one of `SETTINGS`.
        disclose: the most that the key owner may learn of results.
        own_model: whether the model belongs to the key owner himself.

    """
    if sees.data_at_server:
        return "the server would see the samples"
    if sees.model_at_client and setting != "one_side_clear":
        return (
            "the client would keep what is to be outsourced"
            if own_model
            else "the client would be given the model, which is its owner's"
        )
    if sees.model_at_server and setting in {"outsourced", "many_parties"}:
        return "the server would see what others encrypt"
    if sees.one_encryptor and not own_model:
        return "it is private only where the key owner encrypts everything that is multiplied"
    if _RANK[sees.learns] > _RANK[disclose]:
        return f"the client would see {sees.learns}, and is to see {disclose} alone"
    return ""
