"""Who may ask: tokens by their hashes, what each may do, and budgets, from a file in TOML.

The file is read again when it changes. Whoever reads it learns no token: tokens are random, and
their SHA-256 is what is kept.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc._native import ParameterError
from hesc._support.new_files import read_whole
from hesc.serve.responses import RefusedError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from os import PathLike

_LOG: Final = logging.getLogger("hesc.serve")
_BYTES: Final = 1 << 20
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
HASH: Final = re.compile(r"[0-9a-f]{64}")
"""A SHA-256 as it is written here."""
_BEARER: Final = b"bearer "
_TOKEN: Final = 512
EVERY: Final = "*"
"""What stands for every model in a scope."""
_MOST: Final = 1 << 62
_SLOWEST: Final = 0.001
_FASTEST: Final = 1e6


_FIELDS: Final = {
    "sha256",
    "models",
    "concurrent",
    "answers",
    "numbers",
    "per_second",
    "key_bytes",
    "job_bytes",
    "metrics",
}


@dataclass(frozen=True)
class Holder:
    """Whoever has one of some tokens, and what that allows."""

    name: str
    """What logs, figures and budgets call it by."""
    hashes: tuple[str, ...]
    """Hashes of the tokens; two while one takes the place of another, none when all are revoked."""
    models: frozenset[str]
    """Digests of plans, or `EVERY`."""
    concurrent: int = 4
    """Requests under way at once, at most."""
    answers: int | None = None
    """Answers in all, at most, over all models and runs."""
    numbers: int | None = None
    """Numbers that each model with hidden weights gives it in all, at most."""
    per_second: float | None = None
    """Requests in a second, at most, and as many more at once."""
    key_bytes: int = 1 << 30
    """Bytes of public keys that are kept, at most."""
    job_bytes: int = 1 << 28
    """Bytes of jobs, of their queries and answers, at most."""
    metrics: bool = False
    """Whether figures of the service are shown to it."""

    def may(self, digest: str) -> bool:
        """Whether a model is in its scope."""
        return EVERY in self.models or digest in self.models


class Book(NamedTuple):
    """What the file says."""

    holders: tuple[Holder, ...]
    budgets: Mapping[str, int]
    """Answers of models in all, at most, by digest."""


class TokenFile:
    """The file, as it is now.

    Args:
        path: where it lies. A pipe is read once.
        served: digests of the models that it may name; another one is warned of.

    Raises:
        ParameterError: it says something else than such a file does; it says where.
        OSError: there is none, or it may not be read.

    """

    def __init__(self, path: str | PathLike[str], served: Collection[str]) -> None:
        self._path, self._served = Path(path), served
        self._text = str(path)
        self._lock = Lock()
        self._seen = self._state()
        self._book = self._said()
        self._whole = True

    def _read(self) -> Book:
        """What it says after a change: what is no file may keep whoever opens it waiting."""
        if not self._seen and self._path.exists():
            raise ParameterError(f"{self._path} is no regular file any more")
        return self._said()

    def _said(self) -> Book:
        found = read(self._path)
        named = set(found.budgets).union(*(holder.models for holder in found.holders))
        for digest in sorted(named.difference(self._served, {EVERY})):
            _LOG.warning("tokens name the model %s, which is not served here", digest)
        return found

    @property
    def whole(self) -> bool:
        """Whether the file can be read as it is now; else what it said before is in force."""
        self.book()
        return self._whole

    def book(self) -> Book:
        """What it says; read again where it has changed."""
        with self._lock:
            state = self._state()
            if state != self._seen:
                self._seen = state
                try:
                    self._book, self._whole = self._read(), True
                    _LOG.info("tokens were read again")
                except Exception as error:
                    # Whatever it is, and so it is said until the file is whole again.
                    self._whole = False
                    said = error if isinstance(error, ParameterError | OSError) else "damaged"
                    _LOG.warning("tokens cannot be read, the former are in force: %s", said)
            return self._book

    @property
    def seen(self) -> Book:
        """What it said when somebody looked last."""
        return self._book

    def _state(self) -> tuple[int, ...]:
        try:
            found = os.stat(self._text)  # noqa: PTH116 - half the time, for every request
        except OSError:
            return ()
        if not stat.S_ISREG(found.st_mode):
            return ()
        return found.st_mtime_ns, found.st_size, found.st_ino

    def holder(self, authorization: bytes | None) -> Holder:
        """Who has the token of a header. Hashes of all are compared, each in constant time.

        Raises:
            RefusedError: no token, or none that is in force.

        """
        given = (authorization or b"")[: len(_BEARER) + _TOKEN]
        token = given[len(_BEARER) :] if given[: len(_BEARER)].lower() == _BEARER else b""
        digest = hashlib.sha256(token.strip()).hexdigest()
        found = None
        for holder in self.book().holders:
            for each in holder.hashes:
                if hmac.compare_digest(each, digest):
                    found = holder
        if found is None or not token:
            raise RefusedError("no-token", ("www-authenticate", "Bearer"))
        return found


def read(path: Path) -> Book:
    """What a file of tokens says.

    Raises:
        ParameterError: something else than such a file does.
        OSError: there is none, or it may not be read.

    """
    data = read_whole(path, _BYTES, "a file of tokens")
    try:
        found = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path} is no TOML: {error}") from None
    except (ValueError, RecursionError):
        raise ParameterError(f"{path} is no TOML of tokens: nested too deep, or a number") from None
    _known(path, "it", found, {"tokens", "models"})
    holders = tuple(_holder(path, name, each) for name, each in _table(path, found, "tokens"))
    hashes = [each for holder in holders for each in holder.hashes]
    if len(set(hashes)) != len(hashes):
        raise ParameterError(f"{path} has one token twice; each is of one name")
    budgets = {}
    for digest, each in _table(path, found, "models"):
        where = f"models.{digest}"
        if HASH.fullmatch(digest) is None or not isinstance(each, dict):
            raise ParameterError(
                f"{path}: {where} is named by no digest of a plan; hesc serve prints them"
            )
        _known(path, where, each, {"answers"})
        budgets[digest] = _number(path, where, each, "answers", None)
    if not holders:
        # An editor that is at it leaves an empty file for a moment.
        raise ParameterError(f"{path} has no holder of tokens: give [tokens.NAME]")
    return Book(holders, {name: most for name, most in budgets.items() if most is not None})


def _holder(path: Path, name: str, given: Any) -> Holder:
    where = f"tokens.{name[:80]}"
    if _NAME.fullmatch(name) is None or not isinstance(given, dict):
        raise ParameterError(
            f"{path}: {where!r} is named by letters, digits, and _ . - , up to 64 of them"
        )
    _known(path, where, given, _FIELDS)
    hashes = given.get("sha256")
    hashes = [hashes] if isinstance(hashes, str) else hashes
    if not isinstance(hashes, list) or not all(_is(HASH, each) for each in hashes):
        raise ParameterError(
            f"{path}: {where}.sha256 is the SHA-256 of a token, 64 digits 0-9 and a-f, or a list "
            f"of some; an empty one revokes them all"
        )
    models = given.get("models")
    if not isinstance(models, list) or not all(_is(HASH, e) or e == EVERY for e in models):
        raise ParameterError(
            f'{path}: {where}.models are digests of plans in a list, or ["{EVERY}"]'
        )
    metrics = given.get("metrics", False)
    if not isinstance(metrics, bool):
        raise ParameterError(f"{path}: {where}.metrics is true or false")
    return Holder(
        name,
        tuple(hashes),
        frozenset(models),
        concurrent=_number(path, where, given, "concurrent", Holder.concurrent) or 0,
        answers=_number(path, where, given, "answers", None),
        numbers=_number(path, where, given, "numbers", None),
        per_second=_rate(path, where, given),
        key_bytes=_number(path, where, given, "key_bytes", Holder.key_bytes) or 0,
        job_bytes=_number(path, where, given, "job_bytes", Holder.job_bytes) or 0,
        metrics=metrics,
    )


def _is(form: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and form.fullmatch(value) is not None


def _table(path: Path, found: dict[str, Any], name: str) -> list[tuple[str, Any]]:
    table = found.get(name, {})
    if not isinstance(table, dict):
        raise ParameterError(f"{path}: {name} is a table, [{name}.NAME]")
    return list(table.items())


def _known(path: Path, where: str, given: dict[str, Any], fields: set[str]) -> None:
    """Refuses a word that nothing reads: a budget that is misspelt would bound nothing."""
    if odd := sorted(set(given) - fields):
        raise ParameterError(f"{path}: {where} has {odd[0][:80]!r}, and may have {sorted(fields)}")


def _rate(path: Path, where: str, given: dict[str, Any]) -> float | None:
    found = given.get("per_second")
    if found is None:
        return None
    if type(found) not in (int, float) or not _SLOWEST <= found <= _FASTEST:
        raise ParameterError(
            f"{path}: {where}.per_second is a number of requests, {_SLOWEST} to {_FASTEST:.0f}"
        )
    return float(found)


def _number(
    path: Path, where: str, given: dict[str, Any], name: str, default: int | None
) -> int | None:
    found = given.get(name, default)
    if found is not default and (type(found) is not int or not 0 <= found < _MOST):
        raise ParameterError(f"{path}: {where}.{name} is a whole number, 0 or more")
    return found
