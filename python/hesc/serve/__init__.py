"""A service over HTTP for deployments whose server has its model in the clear.

`app` makes an ASGI application of folders `server/`; `hesc serve` runs one. docs/serving.md is the
tutorial. Nothing that is imported here can decrypt.
"""

from __future__ import annotations

from hesc.serve.application import app

__all__ = ["app"]
