"""What lives once in a cluster of Ray: an object in an actor that is found by its name.

Whoever asks first makes it; where its process or its machine ends, whoever asks next makes it anew.
So what it holds lies on a disk, or is read from one.
"""

from __future__ import annotations

import hashlib
import pickle
import socket
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from hesc._native import HescError, ParameterError
from hesc._support.extras import install_line

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMESPACE: Final = "hesc"
_TRIES: Final = 8
_PAUSE: Final = 0.5
"""Seconds before the second try; each is twice as long as the one before."""
_REACHED: Final = 10.0
"""Seconds in which a cluster's address takes a connection."""
_JOINED: Final[list[str]] = []
"""By which address this process joined its cluster, where hesc joined it."""
_HEAD: Final = "node:__internal_head__"
"""A resource of the machine that a cluster began on, and of no other."""


def ray_here() -> Any:
    """The module ray where this process belongs to a cluster, else None. It is never imported."""
    ray: Any = sys.modules.get("ray")
    return ray if ray is not None and ray.is_initialized() else None


def joined_cluster(address: str) -> Any:
    """The module ray, with this process in a cluster.

    Args:
        address: of the cluster, `auto` for one that runs on this machine, or `local` for a new one.

    Raises:
        HescError: there is none, or ray is not installed.
        ParameterError: this process belongs to another cluster, to which rows would go.

    """
    try:
        import ray
    except ModuleNotFoundError as error:
        raise HescError(f"ray is not installed: {install_line('ray')}") from error
    if ray.is_initialized():
        joined = ray.get_runtime_context().gcs_address
        if address not in ("auto", joined, *_JOINED):
            raise ParameterError(
                f"this process belongs to the cluster of Ray at {joined} already, and what is for "
                f"{address!r} would go there: take another process, or leave it by ray.shutdown()"
            )
        return ray
    try:
        host, _, port = address.rpartition(":")
        if host and "/" not in host and port.isdecimal():
            # Ray itself tries for minutes, and says nothing meanwhile.
            socket.create_connection((host.strip("[]"), int(port)), _REACHED).close()
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (OSError, OverflowError, ValueError, RuntimeError) as error:
        line = str(error).splitlines()[0][:200]
        raise HescError(
            f"there is no cluster of Ray at {address!r}: {line}. `ray start --head` begins one"
        ) from error
    _JOINED[:] = [address]
    return ray


def hesc_error(error: Any) -> HescError:
    """What Ray says of a task, as an error of hesc: what hesc raised there, or the first words."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, HescError):
        return cause
    if isinstance(cause, OSError):
        return HescError(f"a worker: {cause}")
    words = str(error).strip().splitlines() or [type(error).__name__]
    return HescError(f"Ray: {words[-1][:300]}")


def _is_refused(error: Any) -> bool:
    """Whether an object cannot be made, and will not be in a moment either."""
    made = getattr(error, "actor_init_failed", False)
    return bool(made) and "another process" not in str(error)


class ClusterObject:
    """An object of a class that lives once in a cluster.

    Args:
        make: what makes it, of a module that workers can import.
        args: what it is made of: it is another object for other arguments.
        on_head: whether it lives on the machine that the cluster began on, where its files are;
            else anywhere, apart from others as far as may be.

    """

    def __init__(self, make: Callable[..., Any], *args: Any, on_head: bool) -> None:
        self._make, self._args, self._on_head = make, args, on_head
        made_of = pickle.dumps((make.__qualname__, args))
        self._name = f"{make.__qualname__} {hashlib.sha256(made_of).hexdigest()[:32]}"
        self._handle: Any = None

    def begin(self, method: str, *args: Any) -> Any:
        """A reference to what a method will give, for `end`."""
        if self._handle is None:
            self._handle = self._found()
        return self._handle.call.remote(method, *args)

    def end(self, reference: Any, method: str, *args: Any) -> Any:
        """What a method gives; it is called again where the object's process ends meanwhile.

        Raises:
            HescError: what the method raises, or the object cannot be made.

        """
        ray = ray_here()
        pause = _PAUSE
        for left in reversed(range(_TRIES)):
            try:
                return ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                raise hesc_error(error) from error
            except (ray.exceptions.RayActorError, ray.exceptions.ObjectLostError) as error:
                # Where it cannot be made, the one before it may not have let go of its files yet;
                # what it gave may be lost with its machine.
                if not left or _is_refused(error):
                    raise hesc_error(error) from error
            time.sleep(pause)
            pause *= 2
            self._handle = None
            reference = self.begin(method, *args)
        raise ParameterError(f"{self._name} was asked without a try")

    def call(self, method: str, *args: Any) -> Any:
        """What a method gives or raises; as `end`."""
        return self.end(self.begin(method, *args), method, *args)

    def _found(self) -> Any:
        options: dict[str, Any] = {
            "name": self._name,
            "namespace": _NAMESPACE,
            "get_if_exists": True,
            "num_cpus": 0,
            "max_concurrency": 16,
        }
        options |= (
            {"resources": {_HEAD: 0.001}} if self._on_head else {"scheduling_strategy": "SPREAD"}
        )
        return ray_here().remote(_ActorBody).options(**options).remote(self._make, *self._args)


class _ActorBody:
    """An object in an actor.

    Args:
        make: what makes it, of a module that workers can import.
        args: what it is made of.

    """

    def __init__(self, make: Callable[..., Any], *args: Any) -> None:
        self._object = make(*args)

    def call(self, method: str, *args: Any) -> Any:
        """What a method of it gives or raises."""
        return getattr(self._object, method)(*args)
