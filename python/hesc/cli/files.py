"""File commands: a client and a server that only exchange files.

Client `keygen`; model owner `encrypt-model`; client `encrypt`; server `eval`; client `decrypt`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from hesc._native import HescError
from hesc.arrays import Answer, EncryptedArray
from hesc.encryptor import Encryptor, PublicKey
from hesc.networks import Preprocessing, SquareNetwork
from hesc.networks.monomial import QUERY_DIMENSION, MonomialModel
from hesc.params import Params

PARAMS_FILE, PUBLIC_FILE = "params.hesc", "public.hesc"
STREAM_LENGTH = 64
# Samples encrypted at a time: enough for all threads.
BATCH = 64

Public = Annotated[Path, typer.Option(help="Folder with the parameters and the public key.")]
Length = Annotated[int, typer.Option(min=1, help="Bits of a stream; the same on both sides.")]
Assurance = Annotated[
    str, typer.Option(help="Least security accepted: guidelines2024, hestd2018, insecure.")
]

PassphraseFile = Annotated[
    Path | None, typer.Option(help="File whose first line is the passphrase, instead of asking.")
]


def _read_passphrase(path: Path | None) -> str | None:
    if path is None:
        return None
    lines = path.read_text().splitlines()
    if not lines or not lines[0]:
        raise HescError(f"the first line of {path} is empty; write the passphrase there")
    return lines[0]


def _read_params(public: Path, assurance: str) -> Params:
    return Params.from_bytes((public / PARAMS_FILE).read_bytes(), assurance=assurance)


def _write_new(path: Path, data: bytes) -> None:
    """Refuses to overwrite."""
    with path.open("xb") as file:
        file.write(data)


def keygen(
    public: Annotated[Path, typer.Option(help="New folder for parameters and public key.")],
    secret: Annotated[Path, typer.Option(help="New file for the secret key, outside of it.")],
    params: Annotated[str, typer.Option(help="A preset's name.")] = "bfv_1024_fusion",
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase of the secret key.")
    ] = False,
    passphrase_file: PassphraseFile = None,
) -> None:
    """Makes a key pair. The secret key's file has mode 0600; nothing is overwritten.

    Example: hesc keygen --public keys --secret ~/secret.key
    """
    from hesc.secret import keygen as generate

    folder = public.resolve()
    if folder == secret.resolve().parent or folder in secret.resolve().parents:
        raise HescError(
            f"the secret key must not lie in {public}, which is to be given away; choose another "
            f"place for --secret"
        )
    if secret.exists():
        raise FileExistsError(f"{secret} exists and is not overwritten")
    chosen = Params.preset(params)
    words = _read_passphrase(passphrase_file)
    if words is None and passphrase:
        words = typer.prompt("passphrase", hide_input=True, confirmation_prompt=True)
    key, public_key = generate(chosen)
    public.mkdir(parents=True, exist_ok=True)
    _write_new(public / PARAMS_FILE, chosen.to_bytes())
    _write_new(public / PUBLIC_FILE, public_key.to_bytes())
    key.save(secret, passphrase=words)
    Console().print(f"public: {public}\nsecret: {secret} (mode 0600)", highlight=False)


def encrypt_model(
    network: Annotated[Path, typer.Argument(help="The network, a JSON file.")],
    public: Public,
    out: Annotated[Path, typer.Option(help="New file for the encrypted model.")],
    preprocessing: Annotated[
        Path, typer.Option(help="New file for what clients need to prepare features.")
    ],
    stream_length: Length = STREAM_LENGTH,
    assurance: Assurance = "guidelines2024",
) -> None:
    """Encrypts a network under a client's public key.

    Example: hesc encrypt-model network.json --public keys --out model.hesc --preprocessing p.json
    """
    params = _read_params(public, assurance)
    key = PublicKey.from_bytes(params, (public / PUBLIC_FILE).read_bytes())
    loaded = SquareNetwork.load(network)
    model = MonomialModel.encrypt(loaded, key, stream_length=stream_length)
    if preprocessing.exists():
        raise FileExistsError(f"{preprocessing} exists and is not overwritten")
    _write_new(out, model.coefficients.to_bytes())
    loaded.preprocessing.save(preprocessing)


def encrypt(
    features: Annotated[
        Path, typer.Argument(help="Samples, a CSV file without header, a row for each.")
    ],
    preprocessing: Annotated[Path, typer.Option(help="From the model's owner.")],
    public: Public,
    out: Annotated[Path, typer.Option(help="New file for the encrypted samples.")],
    stream_length: Length = STREAM_LENGTH,
    assurance: Assurance = "guidelines2024",
) -> None:
    """Encrypts samples under the public key.

    Example: hesc encrypt flowers.csv --preprocessing p.json --public keys --out query.hesc
    """
    params = _read_params(public, assurance)
    key = PublicKey.from_bytes(params, (public / PUBLIC_FILE).read_bytes())
    try:
        rows = np.loadtxt(features, delimiter=",", ndmin=2)
    except ValueError as error:
        raise HescError(f"{features} is no table of numbers: {error}") from error
    monomials = Preprocessing.load(preprocessing).monomials(rows)
    encryptor = Encryptor(key, stream_length, first_dimension=QUERY_DIMENSION)
    # A ciphertext for each bit takes its time.
    batches = track(
        encryptor.encrypt_batches(monomials, BATCH),
        description="encrypting",
        total=-(-len(monomials) // BATCH),
        console=Console(stderr=True),
        transient=True,
    )
    _write_new(out, EncryptedArray.concatenate(list(batches)).to_bytes())


def evaluate(
    model: Annotated[Path, typer.Argument(help="The encrypted model.")],
    query: Annotated[Path, typer.Argument(help="Encrypted samples.")],
    public: Public,
    out: Annotated[Path, typer.Option(help="New file for the answer.")],
    assurance: Assurance = "guidelines2024",
) -> None:
    """Evaluates the model on the samples: the server's part, without any key.

    Example: hesc eval model.hesc query.hesc --public keys --out answer.hesc
    """
    params = _read_params(public, assurance)
    coefficients = EncryptedArray.from_bytes(params, model.read_bytes())
    samples = EncryptedArray.from_bytes(params, query.read_bytes())
    _write_new(out, MonomialModel(coefficients).answer(samples).to_bytes())


def decrypt(
    answer: Annotated[Path, typer.Argument(help="The server's answer.")],
    secret: Annotated[Path, typer.Option(help="The secret key.")],
    preprocessing: Annotated[Path, typer.Option(help="From the model's owner: class names.")],
    public: Public,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write figures to this file, - for stdout.")
    ] = None,
    assurance: Assurance = "guidelines2024",
    passphrase_file: PassphraseFile = None,
) -> None:
    """Decrypts an answer: the class of each sample, with outputs and their standard errors.

    Example: hesc decrypt answer.hesc --secret ~/secret.key --preprocessing p.json --public keys
    """
    from hesc.secret import Decryptor, load_secret_key, wants_passphrase

    params = _read_params(public, assurance)
    words = _read_passphrase(passphrase_file)
    if words is None and wants_passphrase(secret):
        words = typer.prompt("passphrase", hide_input=True)
    key = load_secret_key(params, secret, passphrase=words)
    names = Preprocessing.load(preprocessing).classes
    values, errors = Decryptor(key).decrypt(
        Answer.from_bytes(params, answer.read_bytes()), return_std=True
    )
    if values.ndim != 2 or values.shape[1] != len(names):
        raise HescError(f"the answer has shape {values.shape}, the model {len(names)} classes")
    classes = [names[index] for index in values.argmax(axis=1)]
    if json_file is not None:
        document = json.dumps(
            {
                "classes": classes,
                "outputs": values.tolist(),
                "standard_errors": errors.tolist(),
            }
        )
        if json_file == "-":
            sys.stdout.write(document + "\n")
            return
        Path(json_file).write_text(document + "\n")
    table = Table("sample", "class", *names)
    for number, (name, row, spread) in enumerate(zip(classes, values, errors, strict=True)):
        cells = [f"{v:.2f} ± {e:.2f}" for v, e in zip(row, spread, strict=True)]
        table.add_row(str(number), name, *cells)
    Console().print(table)
