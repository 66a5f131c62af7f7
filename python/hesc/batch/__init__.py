"""Batches of samples over processes and machines: callables over tables of Arrow.

    rows = ray.data.read_parquet("rows.parquet")
    queries = rows.map_batches(
        Encrypt,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=2),
        fn_constructor_kwargs={"client": "credit/client", "secret": "secret.key"},
    )

`Encrypt` and `Decrypt` are the client's, `Answer` is the server's. Each worker makes its own of
paths; nothing that holds a key or a model is pickled. They are plain callables on a `pyarrow.Table`
too. `hesc.batch.engine` runs them over files, by processes of one machine or on a cluster, and goes
on where it was ended; `hesc batch` is its command. docs/scale.md is the tutorial.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from hesc.batch.server_side import AnswerQueries as Answer

if TYPE_CHECKING:
    from hesc.batch.secret import DecryptAnswers as Decrypt
    from hesc.batch.secret import EncryptRows as Encrypt

__all__ = ["Answer", "Decrypt", "Encrypt"]

_LATER: Final = {"Decrypt": "DecryptAnswers", "Encrypt": "EncryptRows"}


def __getattr__(name: str) -> object:
    """What holds a secret key is loaded when it is asked for: a server loads nothing of it."""
    if name not in _LATER:
        raise AttributeError(f"module 'hesc.batch' has no attribute {name!r}")
    return getattr(import_module("hesc.batch.secret"), _LATER[name])
