"""What does what flows ask for, by httpx: one driver that waits, and one that does not.

Redirections are not followed, so that a token goes to no other address than the one given.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from hesc._native import HescError, ParameterError
from hesc._support.extras import install_line
from hesc._support.inputs import real
from hesc._support.new_files import path_of
from hesc.ml.remote.exchanges import Asked, Failed, Flow, Got, Together, Waited

if TYPE_CHECKING:
    from os import PathLike

_CONNECT_SECONDS: Final = 10.0
_SLOWEST: Final = 1 << 14
"""Bytes in a second that an answer keeps up, after a time that is given to all."""
_SHORTEST: Final = 0.001
_LONGEST: Final = 1e6
_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,505}")


class Address:
    """Where a service is, and what lets a client in. Not printed with the token.

    Args:
        url: of the service, `https://host`, or `https://host/path` where it is mounted.
        token: what the service knows the client by.
        certificates: a file of certificates that are trusted instead of the system's.
        timeout: seconds without a byte after which a request has failed, up to a million.
        insecure_http: take `http://` to other machines too, where whoever is between reads the
            token.

    Raises:
        ParameterError: what is no such address or token; `http://` to another machine.
        HescError: httpx is not installed.

    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        certificates: str | PathLike[str] | None = None,
        timeout: float = 60.0,
        insecure_http: bool = False,
    ) -> None:
        self.url, plain = _checked(url)
        if plain and insecure_http is not True:
            raise ParameterError(
                f"{self.url} is not encrypted, and whoever is between reads the token: give "
                f"https://, or insecure_http=True (--insecure-http) where a proxy or a tunnel "
                f"encrypts"
            )
        if not isinstance(token, str) or _TOKEN.fullmatch(token) is None:
            raise ParameterError(
                "token= is the text that the service's owner gave: letters without spaces, up to "
                "505 of them"
            )
        self._token = token
        self._certificates = None if certificates is None else path_of(certificates, "certificates")
        self.timeout = real(timeout, "timeout", _SHORTEST, _LONGEST)

    def options(self) -> dict[str, Any]:
        """Options of httpx's clients."""
        httpx = _httpx()
        verify: Any = True
        if self._certificates is not None:
            try:
                verify = ssl.create_default_context(cafile=self._certificates)
            except ssl.SSLError:
                raise ParameterError(
                    f"{self._certificates} has no certificate: give a file of some in PEM"
                ) from None
            except OSError as error:
                # Its own does not say which file.
                raise OSError(error.errno, error.strerror, str(self._certificates)) from None
        return {
            "base_url": self.url,
            "headers": {
                "authorization": f"Bearer {self._token}",
                # Nothing here shrinks by it, and what unpacks grows without bound.
                "accept-encoding": "identity",
            },
            "verify": verify,
            "timeout": httpx.Timeout(self.timeout, connect=min(_CONNECT_SECONDS, self.timeout)),
            "follow_redirects": False,
            # A proxy of the environment would be given the token over http.
            "trust_env": False,
        }

    def __repr__(self) -> str:
        return self.url


def _checked(url: object) -> tuple[str, bool]:
    """An address without its last slash, and whether it leaves the machine unencrypted."""
    try:
        plain = isinstance(url, str) and url.isascii() and url.isprintable() and " " not in url
        parts = urlsplit(str(url)) if plain else None
        host = None if parts is None else parts.hostname
    except ValueError:
        parts = host = None
    if parts is None or parts.scheme not in ("https", "http") or not host:
        raise ParameterError("url= is the address of a service, as https://example.org")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ParameterError("url= has a host and a path, and the token is given as token=")
    return parts.geturl().rstrip("/"), parts.scheme == "http" and not _is_here(host)


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise HescError(
            f"a service is asked by httpx, which is not installed: {install_line('client')}"
        ) from None
    return httpx


def _failed(error: Exception) -> Failed:
    """What is said of a request that came to nothing. No word of a peer is in it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = cause.verify_message or "not trusted"
            return Failed(
                f"its certificate is refused ({reason}); certificates= (--certificates) takes a "
                f"file of others",
                again=False,
            )
        cause = cause.__cause__ or cause.__context__
    kind = type(error).__name__
    known = {
        "ConnectError": "nobody takes connections there",
        "ConnectTimeout": "no connection came about in time",
        "ReadTimeout": "no byte came in time",
    }
    return Failed(known.get(kind, f"the connection broke ({kind})"), again=True)


class _Body:
    """A body that comes in pieces: no longer than is wanted, and no slower than is usual."""

    def __init__(self, longest: int, seconds: float) -> None:
        self._longest, self._seconds = longest, seconds
        self._start, self._held = time.monotonic(), 0
        self._pieces: list[bytes] = []

    def refused(self, piece: bytes) -> Failed | None:
        """Takes a piece; or says why no more is taken."""
        self._held += len(piece)
        self._pieces.append(piece)
        if self._held > self._longest:
            return Failed("its answer is longer than any of this plan", again=False)
        if time.monotonic() - self._start > self._seconds + self._held / _SLOWEST:
            return Failed("its answer came too slowly", again=True)
        return None

    def got(self, status: int, headers: Any) -> Got:
        """All of it."""
        named = {name.lower(): value for name, value in headers.items()}
        return Got(status, named, b"".join(self._pieces))


def _request(asked: Asked) -> dict[str, Any]:
    """A request, as httpx takes it."""
    how: dict[str, Any] = {"method": asked.method, "url": asked.path, "headers": asked.headers}
    if asked.content:
        how["content"] = asked.content
    return how


class Driver:
    """Does what flows ask for, and waits for it.

    Args:
        address: of the service.
        at_once: requests at once, at most.
        transport: of httpx; by default the network.

    """

    def __init__(self, address: Address, at_once: int, transport: Any = None) -> None:
        self._httpx = _httpx()
        self._client = self._httpx.Client(**address.options(), transport=transport)
        self._seconds = address.timeout
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="hesc client")

    def close(self) -> None:
        """Ends connections and threads."""
        self._pool.shutdown()
        self._client.close()

    def run(self, flow: Flow[Any]) -> Any:
        """What comes of a flow.

        Raises:
            What the flow raises.

        """
        outcome: Any = None
        while True:
            try:
                wanted = flow.send(outcome)
            except StopIteration as end:
                return end.value
            outcome = self._done(wanted)

    def _done(self, wanted: Asked | Waited | Together) -> Any:
        if isinstance(wanted, Waited):
            time.sleep(wanted.seconds)
            return None
        if isinstance(wanted, Together):
            # All are waited for, also where one fails: none is cut off in the middle.
            jobs = [self._pool.submit(self.run, flow) for flow in wanted.flows]
            return [_outcome(job.result) for job in jobs]
        return self._asked(wanted)

    def _asked(self, asked: Asked) -> Got | Failed:
        try:
            with self._client.stream(**_request(asked)) as response:
                body = _Body(asked.longest, self._seconds)
                for piece in response.iter_raw():
                    if refused := body.refused(piece):
                        return refused
                return body.got(response.status_code, response.headers)
        except self._httpx.HTTPError as error:
            return _failed(error)


class AsyncDriver:
    """Does what flows ask for, on an event loop; what they compute runs in threads.

    Args:
        address: of the service.
        transport: of httpx, such as `httpx.ASGITransport(app)`; by default the network.

    """

    def __init__(self, address: Address, transport: Any = None) -> None:
        self._httpx = _httpx()
        self._client = self._httpx.AsyncClient(**address.options(), transport=transport)
        self._seconds = address.timeout

    async def close(self) -> None:
        """Ends connections."""
        await self._client.aclose()

    async def run(self, flow: Flow[Any]) -> Any:
        """What comes of a flow.

        Raises:
            What the flow raises.

        """
        outcome: Any = None
        while True:
            ended, value = await asyncio.to_thread(_advanced, flow, outcome)
            if ended:
                return value
            outcome = await self._done(value)

    async def _done(self, wanted: Asked | Waited | Together) -> Any:
        if isinstance(wanted, Waited):
            await asyncio.sleep(wanted.seconds)
            return None
        if isinstance(wanted, Together):
            return await asyncio.gather(
                *(self.run(flow) for flow in wanted.flows), return_exceptions=True
            )
        return await self._asked(wanted)

    async def _asked(self, asked: Asked) -> Got | Failed:
        try:
            async with self._client.stream(**_request(asked)) as response:
                body = _Body(asked.longest, self._seconds)
                async for piece in response.aiter_raw():
                    if refused := body.refused(piece):
                        return refused
                return body.got(response.status_code, response.headers)
        except self._httpx.HTTPError as error:
            return _failed(error)


def _advanced(flow: Flow[Any], outcome: Any) -> tuple[bool, Any]:
    """Whether a flow has ended, and what it gives. `StopIteration` leaves no thread's future."""
    try:
        return False, flow.send(outcome)
    except StopIteration as end:
        return True, end.value


def _outcome(result: Any) -> Any:
    try:
        return result()
    except Exception as error:
        return error
