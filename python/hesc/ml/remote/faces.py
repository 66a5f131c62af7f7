"""Clients of a service's model: one that waits, and one on an event loop."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any, Never

from hesc._native import ParameterError
from hesc.ml.remote.client_folder import KeptClient
from hesc.ml.remote.drivers import Address, AsyncDriver, Driver
from hesc.ml.remote.flows import Flows, together
from hesc.protocols.search.nearest import Best, SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import Self

    from numpy.typing import NDArray

    from hesc.models.tables.forms import Samples

    Progress = bool | Callable[[int, int], object]


def _print(plan: str) -> None:
    print(plan, file=sys.stderr)


class _Face:
    """What both clients have: the address, the flows, and nothing that is copied."""

    def __init__(
        self,
        url: str,
        *,
        token: str,
        model: str | None = None,
        folder: str | PathLike[str] | None = None,
        passphrase: str | None = None,
        jobs: bool | None = None,
        at_once: int = 4,
        patience: float = 120.0,
        timeout: float = 60.0,
        certificates: str | PathLike[str] | None = None,
        insecure_http: bool = False,
        show: Callable[[str], object] | None = _print,
        transport: Any = None,
    ) -> None:
        self._transport, self._closed = transport, False
        self._address = Address(
            url,
            token,
            certificates=certificates,
            timeout=timeout,
            insecure_http=insecure_http,
        )
        self._flows = Flows(
            KeptClient(folder, passphrase),
            model=model,
            patience=patience,
            at_once=at_once,
            jobs=jobs,
            show=show,
        )

    def _check_open(self) -> None:
        if self._closed:
            raise ParameterError("this client was closed: make another of the same folder")

    def __repr__(self) -> str:
        kept = self._flows.kept.plan
        plan = "no plan fetched yet" if kept is None else repr(kept)
        return f"<hesc.{type(self).__name__}: {self._address!r}, {plan}>"

    def __reduce__(self) -> Never:
        raise TypeError(
            f"a hesc.{type(self).__name__} holds a secret key and a token: not pickled or copied; "
            f"give folder=, and make another of the same folder"
        )


class Client(_Face):
    """A model of a service, asked with encrypted samples: as scikit-learn's, but for the address.

    The plan is fetched once, shown, and pinned: another plan under the same address is refused.
    Keys are made here. The secret one never leaves; with `folder=` it is kept, sealed by the
    passphrase. Requests that a busy or broken service did not answer are sent again as the same
    bytes, which it counts once.

    Args:
        url: of the service, `https://host`.
        token: what its owner gave.
        model: the plan's digest, as its owner tells it; without it that of the token's only model,
            which is then the service's word.
        folder: where plan and keys are kept, made by the first call; without it they end with this
            object, and a model that counts answers counts anew the rows that are asked again.
        passphrase: seals the secret key in the folder.
        jobs: whether queries are put in a queue and their answers fetched when they are there;
            by default those that a plan predicts to take seconds.
        at_once: queries under way at once, 1 to 64.
        patience: seconds that a busy or silent service is waited for.
        timeout: seconds without a byte after which a request has failed.
        certificates: a file of certificates that are trusted instead of the system's.
        insecure_http: take `http://` to other machines, where whoever is between reads the token.
        show: called with the plan in words when it was fetched, before any query; by default it is
            printed on standard error. None shows nothing.
        transport: of httpx, where requests go another way than over the network.

    Raises:
        ParameterError: what is no such address, token or digest.
        HescError: httpx is not installed (the extra `client`).
        WireError, OSError: a folder that is damaged or may not be read.

    >>> from hesc import Client
    >>> with Client("https://models.example.org", token="...", folder="credit") as client:
    ...     client.predict(rows)  # doctest: +SKIP
    array([0, 1, 1])

    """

    @cached_property
    def _driver(self) -> Driver:
        self._check_open()
        return Driver(self._address, self._flows.at_once, self._transport)

    @property
    def plan(self) -> Any:
        """The plan, fetched where it is not here yet: print it to read who learns what.

        Raises:
            ServiceError: the service does not give it.
            WireError: another plan than its digest names.

        """
        return self._driver.run(self._flows.ready())

    def predict(self, samples: Samples, *, clip: bool = False, progress: Progress = True) -> Any:
        """Classes or numbers of samples, as the model in the clear gives them but for the error.

        Args:
            samples: a row of features for each, or a DataFrame with the plan's names.
            clip: bring values beyond what the plan declares within it.
            progress: show a bar, or what is called with the number done and all.

        Raises:
            ServiceError: the service refuses, with `problem` such as "budget" or "no-token".
            OutOfRangeError, ShapeError: values beyond the plan's ranges, rows of another length.
            WireError: an answer that is damaged, or to another query.
            DecryptionError: an answer that no declared samples give. Tell nobody who made it.

        """
        return together(self._results(samples, clip, progress), "predictions")

    def decision_function(
        self, samples: Samples, *, clip: bool = False, progress: Progress = True
    ) -> NDArray[Any]:
        """Scores of samples, as scikit-learn has them. Arguments and errors are those of `predict`.

        Raises:
            ParameterError: a model that tells classes alone.

        """
        scores: NDArray[Any] = together(self._results(samples, clip, progress), "scores")
        return scores

    def predict_proba(
        self, samples: Samples, *, clip: bool = False, progress: Progress = True
    ) -> NDArray[Any]:
        """Probabilities of all classes. Arguments and errors are those of `predict`.

        Raises:
            ParameterError: a model whose scores give none.

        """
        scores = self.decision_function(samples, clip=clip, progress=progress)
        found: NDArray[Any] = self.plan.probabilities(scores)
        return found

    def search(
        self, queries: Samples, count: int = 10, *, clip: bool = False, progress: Progress = True
    ) -> Best:
        """The nearest records to each query. Arguments and errors are those of `predict`.

        Args:
            queries: a vector for each.
            count: records for each, at most.
            clip: shorten queries that are longer than declared.
            progress: as of `predict`.

        Raises:
            ParameterError: a model that is no search.

        """
        return _best(self._results(queries, clip, progress), count)

    def _results(self, samples: Samples, clip: bool, progress: Progress) -> list[Any]:
        flow = self._flows.results(samples, clip=clip, progress=progress)
        found: list[Any] = self._driver.run(flow)
        return found

    @property
    def local(self) -> Any:
        """The client of the plan, which encrypts and decrypts here. Errors are those of `plan`."""
        self._driver.run(self._flows.ready())
        return self._flows.kept.client

    def answers(self, queries: list[bytes]) -> list[bytes]:
        """Answers to queries that `local` encrypted, as they come; the same again cost nothing.

        Raises:
            ServiceError: the service refuses one of them; `answered` has answers to those before.

        """
        self._driver.run(self._flows.ready())
        found: list[bytes] = self._driver.run(self._flows.answers(queries))
        return found

    def budgets(self) -> dict[str, Any]:
        """What was given of each budget so far, and what may be in all, as the service says."""
        found: dict[str, Any] = self._driver.run(self._flows.budgets())
        return found

    def close(self) -> None:
        """Ends connections. The folder stays."""
        self._closed = True
        if driver := vars(self).pop("_driver", None):
            driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_Face):
    """A model of a service, asked from an event loop. Arguments and errors are those of `Client`.

    What encrypts and decrypts runs in threads, so that the loop goes on. A transport is one of
    httpx for event loops, such as `httpx.ASGITransport(app)`.
    """

    @cached_property
    def _driver(self) -> AsyncDriver:
        self._check_open()
        return AsyncDriver(self._address, self._transport)

    async def plan(self) -> Any:
        """The plan, fetched where it is not here yet. Errors are those of `Client.plan`."""
        return await self._driver.run(self._flows.ready())

    async def predict(
        self, samples: Samples, *, clip: bool = False, progress: Progress = True
    ) -> Any:
        """Classes or numbers of samples. Arguments and errors are those of `Client.predict`."""
        return together(await self._results(samples, clip, progress), "predictions")

    async def decision_function(
        self, samples: Samples, *, clip: bool = False, progress: Progress = True
    ) -> NDArray[Any]:
        """Scores of samples. Arguments and errors are those of `Client.decision_function`."""
        scores: NDArray[Any] = together(await self._results(samples, clip, progress), "scores")
        return scores

    async def predict_proba(
        self, samples: Samples, *, clip: bool = False, progress: Progress = True
    ) -> NDArray[Any]:
        """Probabilities of all classes. See `Client.predict_proba`."""
        scores = await self.decision_function(samples, clip=clip, progress=progress)
        found: NDArray[Any] = (await self.plan()).probabilities(scores)
        return found

    async def search(
        self, queries: Samples, count: int = 10, *, clip: bool = False, progress: Progress = True
    ) -> Best:
        """The nearest records to each query. Arguments and errors are those of `Client.search`."""
        return _best(await self._results(queries, clip, progress), count)

    async def _results(self, samples: Samples, clip: bool, progress: Progress) -> list[Any]:
        flow = self._flows.results(samples, clip=clip, progress=progress)
        found: list[Any] = await self._driver.run(flow)
        return found

    async def budgets(self) -> dict[str, Any]:
        """What was given of each budget so far, and what may be in all, as the service says."""
        found: dict[str, Any] = await self._driver.run(self._flows.budgets())
        return found

    async def close(self) -> None:
        """Ends connections. The folder stays."""
        self._closed = True
        if driver := vars(self).pop("_driver", None):
            await driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _best(results: list[Any], count: int) -> Best:
    if not all(isinstance(each, SearchResult) for each in results):
        raise ParameterError("this model is no search: predict asks it")
    found = [each.best_or_all(count) for each in results]
    return Best(together(found, "indices"), together(found, "scores"))
