"""`hesc encrypt-model`: a server's folder from the model's owner and one client's key."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from hesc._native import ParameterError
from hesc._support.new_files import read_whole
from hesc.cli.files import KEYS_BYTES, check_apart, opened_client
from hesc.cli.terminal import JsonFile, PassphraseFile, check_outputs, tell
from hesc.ml.deployment import OwnerFolder
from hesc.protocols.folders import SERVER


def encrypt_model(
    owner: Annotated[Path, typer.Argument(help="The folder owner/ of a deployment.")],
    out: Annotated[Path, typer.Option(help="New folder for the server.")],
    keys: Annotated[
        Path | None, typer.Option(help="The client's public keys, from the client itself.")
    ] = None,
    secret: Annotated[
        Path | None, typer.Option(help="The client's secret key, where the model is its own.")
    ] = None,
    json_file: JsonFile = None,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Encrypts a model for a server that must not know it: the part of the model's owner.

    Examples: hesc encrypt-model credit/owner --keys client.keys --out server;
    hesc encrypt-model credit/owner --secret secret.key --out server
    """
    check_outputs({"--out": out}, json_file)
    folder = OwnerFolder.open(owner)
    check_apart({"--out": out}, owner, json_file)
    if (keys is None) == (secret is None):
        raise ParameterError(
            "give --keys, the client's public keys, or where the model is the client's own "
            "--secret, its secret key"
        )
    if keys is not None:
        given = read_whole(keys, KEYS_BYTES, "a file of public keys")
        folder.encrypt_model(out, keys=given)
    elif secret is not None:
        client = opened_client(folder.plan, secret, passphrase_file)
        folder.encrypt_model(out, client=client)
    size = (out / SERVER).stat().st_size
    line = f"model encrypted, {size} bytes: {out} (for the server, which hesc eval serves)"
    tell(json_file, {"bytes": size}, line)
