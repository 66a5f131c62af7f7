"""`hesc network`: small networks whose model is encrypted too, as files between three parties.

Client `keygen`; model owner `encrypt-model`; client `encrypt`; server `eval`; client `decrypt`.
Every command checks its output files before it works, and leaves none after an error.
"""

from __future__ import annotations

import json
import struct
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from hesc._native import HescError, WireError
from hesc._support.inputs import as_many
from hesc._support.new_files import check_new, for_owner, new_file, new_files, read_whole
from hesc.cli.pairing import QueryName
from hesc.cli.tables import read_rows
from hesc.cli.terminal import (
    PassphraseFile,
    check_outputs,
    printable,
    read_passphrase,
    reading,
    say,
    standard_output,
)
from hesc.params.streams import Params
from hesc.streams.arrays import Answer, EncryptedArray
from hesc.streams.encryptor import Encryptor
from hesc.streams.networks import Preprocessing, SquareNetwork
from hesc.streams.networks.batches import BatchWriter, read_batches
from hesc.streams.networks.messages import Message
from hesc.streams.networks.monomial import QUERY_DIMENSION, MonomialModel
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TextIO

    from hesc.streams.encoding import Estimates

_HELP: Final = """Small networks whose model is encrypted too, as files.

Example: hesc network keygen --public keys --secret ~/secret.key
"""
_COUNT: Final = struct.Struct("<I")
_DIGEST: Final = sha256().digest_size
app = typer.Typer(no_args_is_help=True, help=_HELP)

PARAMS_FILE, PUBLIC_FILE = "params.hesc", "public.hesc"
STREAM_LENGTH = 64
# Samples encrypted at a time, enough for all threads, and their bits, for bounded memory.
BATCH, BATCH_BITS = 64, 1 << 17
# The longest files of each kind.
PARAMS_BYTES, KEY_BYTES, MODEL_BYTES = 1 << 16, 1 << 28, 1 << 30

Public = Annotated[Path, typer.Option(help="Folder with the parameters and the public key.")]
Length = Annotated[int, typer.Option(min=1, help="Bits of a stream; the same on both sides.")]
Assurance = Annotated[
    str, typer.Option(help="Least security accepted: guidelines2024, hestd2018, insecure.")
]


def _read_params(public: Path, assurance: str) -> Params:
    data = read_whole(public / PARAMS_FILE, PARAMS_BYTES, "a parameter set")
    return Params.from_bytes(data, assurance=assurance)


def _read_public(params: Params, public: Path) -> PublicKeys:
    data = read_whole(public / PUBLIC_FILE, KEY_BYTES, "a public key")
    return PublicKeys.from_bytes(params, data)


@app.command("keygen")
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

    Example: hesc network keygen --public keys --secret ~/secret.key
    """
    from hesc.secret import keygen as generate

    folder = public.resolve()
    if folder == secret.resolve().parent or folder in secret.resolve().parents:
        raise HescError(
            f"the secret key must not lie in {public}, which is to be given away; choose another "
            f"place for --secret"
        )
    chosen = Params.preset(params)
    check_new({"--secret": secret})
    if public.exists() and not public.is_dir():
        raise FileExistsError(f"--public {public} is no folder; choose another name")
    words = read_passphrase(passphrase_file)
    if words is None and passphrase:
        words = typer.prompt("passphrase", hide_input=True, confirmation_prompt=True)
    with _new_folder(public):
        names = secret, public / PARAMS_FILE, public / PUBLIC_FILE
        for name in names[1:]:
            check_new({"--public": name})
        key, public_key = generate(chosen)
        with new_files(*names) as (secret_part, params_part, public_part):
            key.write(secret_part, passphrase=words)
            params_part.write_bytes(chosen.to_bytes())
            public_part.write_bytes(public_key.to_bytes())
    lines = (f"public: {public}", f"secret: {secret} (mode 0600)")
    Console().print(Text("\n".join(map(printable, lines))), soft_wrap=True)


@contextmanager
def _new_folder(folder: Path) -> Iterator[None]:
    """A folder that goes again, with those above it that are new, if an error follows."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for path in new:
            # Not what somebody else has put something into meanwhile.
            with suppress(OSError):
                path.rmdir()
        raise


@app.command("encrypt-model")
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

    Example: hesc network encrypt-model net.json --public keys --out m.hesc --preprocessing p.json
    """
    check_new({"--out": out, "--preprocessing": preprocessing})
    params = _read_params(public, assurance)
    key = _read_public(params, public)
    loaded = SquareNetwork.load(network)
    model = MonomialModel.encrypt(loaded, key, stream_length=stream_length)
    with new_files(out, preprocessing) as (model_part, preprocessing_part):
        model_part.write_bytes(model.to_bytes())
        loaded.preprocessing.save(preprocessing_part)


@app.command("encrypt")
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
    """Encrypts samples under the public key, as many as there are.

    Example: hesc network encrypt flowers.csv --preprocessing p.json --public keys --out query.hesc
    """
    check_new({"--out": out})
    params = _read_params(public, assurance)
    key = _read_public(params, public)
    prepared = Preprocessing.load(preprocessing)
    rows = min(BATCH, max(1, BATCH_BITS // (stream_length * len(prepared.exponents[0]))))
    if features.is_file():
        # A wrong row is found before hours of work.
        with features.open("rb") as file:
            for batch in read_rows(file, BATCH):
                prepared.normalise(batch)
    count, name = 0, QueryName()
    with (
        reading(features, "encrypting") as file,
        new_file(out) as part,
        part.open("xb") as query,
    ):
        writer = BatchWriter(query, Message.QUERY)
        for batch in read_rows(file, rows):
            # Batches meet the model and never each other: each takes the one dimension anew.
            encryptor = Encryptor(key, stream_length, first_dimension=QUERY_DIMENSION)
            data = encryptor.encrypt(prepared.monomials(batch)).to_bytes()
            asked = _Asked(len(batch), data).to_bytes()
            _added(name, _digest_of(asked))
            writer.write(asked)
            count += len(batch)
        writer.finish()
        say(f"samples encrypted: {count}: {out} (query {name})")


@app.command("eval")
def evaluate(
    model: Annotated[Path, typer.Argument(help="The encrypted model.")],
    query: Annotated[Path, typer.Argument(help="Encrypted samples.")],
    public: Public,
    out: Annotated[Path, typer.Option(help="New file for the answer.")],
    assurance: Assurance = "guidelines2024",
) -> None:
    """Evaluates the model on the samples: the server's part, without any key.

    Example: hesc network eval model.hesc query.hesc --public keys --out answer.hesc
    """
    check_new({"--out": out})
    params = _read_params(public, assurance)
    data = read_whole(model, MODEL_BYTES, "an encrypted model")
    served = MonomialModel.from_bytes(params, data)
    queries, name = 0, QueryName()
    with (
        reading(query, "evaluating") as file,
        new_file(out) as part,
        part.open("xb") as answer,
    ):
        writer = BatchWriter(answer, Message.ANSWER)
        for batch in read_batches(file, Message.QUERY):
            asked = EncryptedArray.from_bytes(params, _Asked.from_bytes(batch).data)
            found = _Answered(_added(name, _digest_of(batch)), served.answer(asked).to_bytes())
            writer.write(found.to_bytes())
            queries += 1
        writer.finish()
        say(f"queries answered: {queries}: {out} (query {name})")


@app.command("decrypt")
def decrypt(
    answer: Annotated[Path, typer.Argument(help="The server's answer.")],
    secret: Annotated[Path, typer.Option(help="The secret key.")],
    preprocessing: Annotated[Path, typer.Option(help="From the model's owner: class names.")],
    public: Public,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write figures to this new file, - for stdout.")
    ] = None,
    assurance: Assurance = "guidelines2024",
    passphrase_file: PassphraseFile = None,
    query: Annotated[
        Path | None,
        typer.Option(help="The query: an answer to another is refused, or of fewer samples."),
    ] = None,
) -> None:
    """Decrypts an answer: the class of each sample, with outputs and their standard errors.

    Example: hesc network decrypt answer.hesc --secret s.key --preprocessing p.json --public keys
    """
    from hesc.secret import Decryptor, load_secret_key, wants_passphrase

    check_outputs({}, json_file)
    params = _read_params(public, assurance)
    names = Preprocessing.load(preprocessing).classes
    words = read_passphrase(passphrase_file)
    if words is None and wants_passphrase(secret):
        words = typer.prompt("passphrase", hide_input=True)
    decryptor = Decryptor(load_secret_key(params, secret, passphrase=words))

    name = QueryName()

    def batches(answers: Iterable[_Answered]) -> Iterator[Estimates]:
        for each in answers:
            name.add(each.digest)
            found = Answer.from_bytes(params, each.data)
            if len(found.shape) != 2 or found.shape[1] != len(names):
                raise HescError(f"an answer of shape {found.shape} is none of {len(names)} classes")
            as_many(found.shape[0], each.samples)
            yield decryptor.decrypt(found, return_std=True)

    with ExitStack() as stack:
        file = stack.enter_context(reading(answer, "decrypting"))
        answers: Iterator[_Answered] = map(_Answered.from_bytes, read_batches(file, Message.ANSWER))
        if query is not None:
            sent = stack.enter_context(query.open("rb"))
            answers = _answers_to(read_batches(sent, Message.QUERY), answers)
        if json_file is None:
            _print_tables(names, batches(answers))
        elif json_file == "-":
            with standard_output() as document:
                _write_document(document, names, batches(answers))
        else:
            part = stack.enter_context(new_file(json_file))
            with open(part, "x", encoding="utf-8", opener=for_owner) as document:
                _write_document(document, names, batches(answers))
        say(f"decrypted (query {name})")


def _write_document(document: TextIO, names: Sequence[str], batches: Iterable[Estimates]) -> None:
    """`{"samples": [...]}` in JSON, a line for each sample, as they come."""
    before = '{"samples": [\n'
    for values, errors in batches:
        for row, spread in zip(values, errors, strict=True):
            sample = {
                "class": names[row.argmax()],
                "outputs": row.tolist(),
                "standard_errors": spread.tolist(),
            }
            document.write(before + json.dumps(sample))
            before = ",\n"
    document.write("\n]}\n")


def _print_tables(names: Sequence[str], batches: Iterable[Estimates]) -> None:
    """Outputs with their standard errors on the terminal, a table for each batch."""
    console, number = Console(), 0
    for values, errors in batches:
        table = Table("sample", "class", *map(escape, names))
        for row, spread in zip(values, errors, strict=True):
            cells = [f"{v:.2f} ± {e:.2f}" for v, e in zip(row, spread, strict=True)]
            table.add_row(str(number), Text(names[row.argmax()]), *cells)
            number += 1
        console.print(table)


class _Asked(NamedTuple):
    """A batch of a query."""

    samples: int
    """How many, as whoever encrypted them says."""
    data: bytes
    """What is encrypted."""

    def to_bytes(self) -> bytes:
        """The batch as it lies in a file: the number of samples, then what is encrypted."""
        return _COUNT.pack(self.samples) + self.data

    @classmethod
    def from_bytes(cls, batch: bytes) -> _Asked:
        """What `to_bytes` wrote.

        Raises:
            WireError: no sample, or nothing encrypted.

        """
        if len(batch) <= _COUNT.size or not (samples := _COUNT.unpack_from(batch)[0]):
            raise WireError("the query is of no sample, or of an earlier version; encrypt again")
        return cls(samples, batch[_COUNT.size :])


class _Answered(NamedTuple):
    """A batch of an answer."""

    digest: bytes
    """The digest of the query's batch."""
    data: bytes
    """What decrypts."""
    samples: int | None = None
    """How many the query's batch has; None where the query is not there."""

    def to_bytes(self) -> bytes:
        """The batch as it lies in a file: the digest, then what decrypts."""
        return self.digest + self.data

    @classmethod
    def from_bytes(cls, batch: bytes) -> _Answered:
        """What `to_bytes` wrote.

        Raises:
            WireError: no room for both.

        """
        if len(batch) <= _DIGEST:
            raise WireError("the answer is of a version that did not name its query; ask again")
        return cls(batch[:_DIGEST], batch[_DIGEST:])


def _digest_of(batch: bytes) -> bytes:
    """What an answer names a query's batch by."""
    return sha256(batch).digest()


def _answers_to(query: Iterable[bytes], answers: Iterable[_Answered]) -> Iterator[_Answered]:
    """The same answers, while they are those to the batches of this query, in their order.

    With the number of samples that each has to be of.

    Raises:
        WireError: an answer to another query, or to a part of this one; with the names of both.

    """
    asked, answered = QueryName(), QueryName()
    same = True
    for batch, found in zip_longest(query, answers):
        digest = None if batch is None else _added(asked, _digest_of(batch))
        same = same and found is not None and found.digest == digest
        if found is not None:
            answered.add(found.digest)
        # What follows a difference is read for the name alone.
        if same and found is not None and batch is not None:
            yield found._replace(samples=_Asked.from_bytes(batch).samples)
    if not same:
        answered.check(asked.whole)


def _added(name: QueryName, digest: bytes) -> bytes:
    """One more batch of a name, by its digest, which comes back."""
    name.add(digest)
    return digest
